//! Audit events: one line of the transaction log for each durable append (§5.2, FORMATS §5).

use serde::Deserialize;

use crate::config::{Config, LedgerConfig};
use crate::digest::Digest;
use crate::ids::RecordId;
use crate::json::Text;
use crate::line::{MAX_PARENTS, MAX_TYPE_UNITS};
use crate::name::is_name;
use crate::record::Record;
use crate::timestamp;

/// Longest line that is read as an event, in bytes: room for 64 parents and the longest type, with some to spare.
pub const MAX_LINE_BYTES: usize = 16 * 1024;
/// The `type` of an event line.
pub const EVENT_TYPE: &str = "ledger_mutation";

/// Evidence that a server appended a record: identifiers and hashes, never content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutationEvent {
    ledger: Option<String>,
    id: RecordId,
    parents: Vec<Digest>,
    payload_sha: Digest,
    sha: Digest,
    record_timestamp: String,
    kind: String,
    timestamp: String,
}

/// A line is not an event; says only which member is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum EventFault {
    /// Not JSON, too long, or not the shape of an event.
    #[error("not an audit event")]
    Shape,
    /// A member whose value has not the required syntax.
    #[error("{0} has not the required syntax")]
    Member(&'static str),
}

// Members beyond these are dropped, as §5.2 asks; `serde_json` refuses repeated ones.
#[derive(Deserialize)]
struct WireEvent {
    ledger: Option<String>,
    operation: String,
    record: WireRecord,
    timestamp: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct WireRecord {
    id: String,
    parents: Vec<String>,
    payload_sha: String,
    sha: String,
    timestamp: String,
    #[serde(rename = "type")]
    kind: String,
}

impl MutationEvent {
    /// The event for an append of `record` that became durable at `timestamp`, a canonical instant.
    // DB-5.2-09, DB-5.2-10
    #[must_use]
    pub fn for_record(ledger: Option<&str>, record: &Record, timestamp: &str) -> Self {
        Self {
            ledger: ledger.map(str::to_owned),
            id: record.id(),
            parents: record.parents().to_vec(),
            payload_sha: record.payload_sha(),
            sha: record.sha(),
            record_timestamp: record.timestamp().to_owned(),
            kind: record.kind().to_owned(),
            timestamp: timestamp.to_owned(),
        }
    }

    /// Reads a line (without its newline). Unknown members are dropped.
    ///
    /// # Errors
    /// Which part of the line is wrong; never its text.
    // DB-5.2-17, DB-5.2-18
    pub fn parse(line: &[u8]) -> Result<Self, EventFault> {
        if line.len() > MAX_LINE_BYTES {
            return Err(EventFault::Shape);
        }
        let wire: WireEvent = serde_json::from_slice(line).map_err(|_| EventFault::Shape)?;
        let member = |holds: bool, name| if holds { Ok(()) } else { Err(EventFault::Member(name)) };
        member(wire.kind == EVENT_TYPE, "type")?;
        member(wire.operation == "append", "operation")?;
        member(wire.ledger.as_deref().is_none_or(is_name), "ledger")?;
        member(timestamp::is_canonical(wire.timestamp.as_bytes()), "timestamp")?;
        member(timestamp::is_canonical(wire.record.timestamp.as_bytes()), "record.timestamp")?;
        let kind = Text::new(&wire.record.kind);
        member((1..=MAX_TYPE_UNITS).contains(&kind.utf16_len()), "record.type")?;
        let digest = |text: &str, name| text.parse().map_err(|_| EventFault::Member(name));
        let parents = wire
            .record
            .parents
            .iter()
            .map(|parent| digest(parent, "record.parents"))
            .collect::<Result<Vec<Digest>, _>>()?;
        member(parents.len() <= MAX_PARENTS && parents.is_sorted_by(|left, right| left < right), "record.parents")?;
        Ok(Self {
            ledger: wire.ledger,
            id: RecordId::from_text(wire.record.id.as_bytes()).ok_or(EventFault::Member("record.id"))?,
            parents,
            payload_sha: digest(&wire.record.payload_sha, "record.payload_sha")?,
            sha: digest(&wire.record.sha, "record.sha")?,
            record_timestamp: wire.record.timestamp,
            kind: wire.record.kind,
            timestamp: wire.timestamp,
        })
    }

    /// The canonical line, without newline.
    #[must_use]
    pub fn to_line(&self) -> String {
        let ledger = self.ledger.as_ref().map(|ledger| format!(r#""ledger":"{ledger}","#)).unwrap_or_default();
        let parents: Vec<String> = self.parents.iter().map(|parent| format!(r#""{parent}""#)).collect();
        format!(
            r#"{{{ledger}"operation":"append","record":{{"id":"{}","parents":[{}],"payload_sha":"{}","sha":"{}","timestamp":"{}","type":"{}"}},"timestamp":"{}","type":"{EVENT_TYPE}"}}"#,
            self.id,
            parents.join(","),
            self.payload_sha,
            self.sha,
            self.record_timestamp,
            Text::new(&self.kind).spelling(),
            self.timestamp,
        )
    }

    /// Whether the event says of its record what the record says of itself.
    #[must_use]
    pub fn agrees_with(&self, record: &Record) -> bool {
        self.sha == record.sha()
            && self.id == record.id()
            && self.parents == record.parents()
            && self.payload_sha == record.payload_sha()
            && self.record_timestamp == record.timestamp()
            && self.kind == record.kind()
    }

    /// Whether both say the same of one record, whenever each was written.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        self.sha == other.sha
            && self.id == other.id
            && self.parents == other.parents
            && self.payload_sha == other.payload_sha
            && self.record_timestamp == other.record_timestamp
            && self.kind == other.kind
    }

    /// The ledger it names; without one it belongs to the only ledger.
    #[must_use]
    pub fn ledger(&self) -> Option<&str> {
        self.ledger.as_deref()
    }

    /// The ledger of a workflow that it is about: the one it names, or the only one (FORMATS §5).
    #[must_use]
    pub fn ledger_of<'a>(&self, config: &'a Config) -> Option<&'a LedgerConfig> {
        match (&self.ledger, config.ledgers()) {
            (Some(name), _) => config.ledger(name),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }

    /// The digest of the record it is about.
    #[must_use]
    pub const fn record_sha(&self) -> Digest {
        self.sha
    }

    /// The id of the record it is about.
    #[must_use]
    pub const fn record_id(&self) -> RecordId {
        self.id
    }

    /// The type of the record it is about.
    #[must_use]
    pub fn record_kind(&self) -> &str {
        &self.kind
    }

    /// The instant of the record it is about.
    #[must_use]
    pub fn record_timestamp(&self) -> &str {
        &self.record_timestamp
    }

    /// The digest of the record's payload.
    #[must_use]
    pub const fn payload_sha(&self) -> Digest {
        self.payload_sha
    }

    /// The parents of the record, ascending.
    #[must_use]
    pub fn parents(&self) -> &[Digest] {
        &self.parents
    }
}
