//! Everything that a record must meet before a writer stores it in a particular ledger.

use serde_json::Value;

use crate::config::LedgerConfig;
use crate::limits::Limits;
use crate::record::{Record, WriteFault};
use crate::schema::{PayloadSchema, SchemaFault};

/// The write rules of one ledger: its limits and the schema of its payloads.
#[derive(Debug)]
pub struct WriteRules {
    limits: Limits,
    schema: Option<PayloadSchema>,
}

impl WriteRules {
    /// The rules that a ledger's configuration states.
    ///
    /// # Errors
    /// [`SchemaFault`] where its schema cannot be used.
    pub fn of(ledger: &LedgerConfig) -> Result<Self, SchemaFault> {
        let schema = ledger.schema.as_ref().map(PayloadSchema::compile).transpose()?;
        Ok(Self { limits: ledger.limits, schema })
    }

    /// The limits among the rules.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether a payload meets the ledger's schema.
    ///
    /// # Errors
    /// [`WriteFault::Schema`].
    pub fn check_payload(&self, payload: &Value) -> Result<(), WriteFault> {
        match &self.schema {
            Some(schema) if !schema.accepts(payload) => Err(WriteFault::Schema),
            _ => Ok(()),
        }
    }

    /// Whether a writer may store the record in this ledger.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self, record: &Record) -> Result<(), WriteFault> {
        record.check_write_rules(&self.limits)?;
        let payload = record.payload().map_err(|_| WriteFault::LoneSurrogate)?;
        self.check_payload(&payload)
    }
}
