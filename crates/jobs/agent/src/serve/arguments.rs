//! Arguments of a tool call: every one known, every one of its type, nothing else (§5.2).

use daybook_core::{Digest, RecordId};
use serde_json::{Map, Value};

use super::failure::Failure;

/// The arguments of one call, taken out one by one.
#[derive(Debug)]
pub(super) struct Arguments {
    members: Map<String, Value>,
    known: &'static [&'static str],
}

impl Arguments {
    /// Takes the arguments of a call to a tool that knows these names.
    // DB-5.2-02
    pub(super) fn new(members: Option<Map<String, Value>>, known: &'static [&'static str]) -> Result<Self, Failure> {
        let members = members.unwrap_or_default();
        if members.keys().any(|name| !known.contains(&name.as_str())) {
            let known = known.join(", ");
            return Err(Failure::new("unknown-argument", format!("an argument is not known; allowed are: {known}")));
        }
        Ok(Self { members, known })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// The arguments that nobody has taken out.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.members
    }

    /// Any JSON value; `null` is a value.
    pub(super) fn value(&mut self, name: &'static str) -> Result<Value, Failure> {
        debug_assert!(self.known.contains(&name));
        self.members.remove(name).ok_or_else(|| Failure::new("missing-argument", format!("{name} is required")))
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<String, Failure> {
        match self.value(name)? {
            Value::String(text) => Ok(text),
            _ => Err(invalid(name, "a string")),
        }
    }

    pub(super) fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, Failure> {
        if self.members.contains_key(name) { self.text(name).map(Some) } else { Ok(None) }
    }

    pub(super) fn optional_digest(&mut self, name: &'static str) -> Result<Option<Digest>, Failure> {
        let text = self.optional_text(name)?;
        text.map(|text| text.parse().map_err(|_| invalid(name, "sha256: and 64 hexadecimal digits"))).transpose()
    }

    pub(super) fn optional_id(&mut self, name: &'static str) -> Result<Option<RecordId>, Failure> {
        let text = self.optional_text(name)?;
        text.map(|text| {
            RecordId::from_text(text.as_bytes()).ok_or_else(|| invalid(name, "ldg- and a UUID of version 4"))
        })
        .transpose()
    }
}

fn invalid(name: &str, expected: &str) -> Failure {
    Failure::new("invalid-argument", format!("{name} must be {expected}"))
}
