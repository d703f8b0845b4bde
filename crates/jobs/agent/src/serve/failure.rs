//! What a tool call answers when it fails: a code and a fixed sentence (§5.2, §8).

use daybook_core::WriteFault;
use daybook_core::json::JsonFault;
use daybook_core::query::QueryFault;
use daybook_store::{AppendError, StoreError};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A failed call. Numbers and configuration keys may appear in its sentence; paths, payloads and system errors cannot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    code: &'static str,
    message: String,
    hint: Option<&'static str>,
}

impl Failure {
    // DB-5.2-03, DB-9-14
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    fn with_hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    pub(super) fn clock() -> Self {
        Self::new("clock", "the clock of this machine gives no usable time")
    }

    pub(super) fn json(fault: JsonFault) -> Self {
        Self::new(fault.code(), format!("refused as it stands: {fault}"))
    }

    pub(super) fn query(fault: QueryFault) -> Self {
        Self::new(fault.code(), fault.to_string())
    }

    /// The tool result that tells it.
    pub(super) fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.to_json().to_string())])
    }

    pub(super) fn to_json(&self) -> Value {
        match self.hint {
            Some(hint) => json!({"error": {"code": self.code, "message": self.message, "hint": hint}}),
            None => json!({"error": {"code": self.code, "message": self.message}}),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(error.code(), error.to_string()).with_hint("nothing was stored; tell the workflow's maintainer")
    }
}

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        match error {
            AppendError::Record(WriteFault::Schema) => {
                failure.with_hint("nothing was stored; ledger_status shows the schema that payloads must meet")
            }
            AppendError::Record(_) => failure.with_hint("nothing was stored; change the record and append it again"),
            AppendError::Patch { .. } => failure.with_hint("nothing was stored; this run has no budget left for it"),
            AppendError::Batch { .. } => failure.with_hint("nothing was stored; append fewer records at a time"),
            AppendError::ShardBound { .. } => failure.with_hint("nothing was stored; the ledger waits for compaction"),
            AppendError::Store(error) => error.into(),
        }
    }
}
