//! Payload schemas: JSON Schema 2020-12, compiled once, without remote references (§2, FORMATS §3 `invalid-schema`).

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::json;

/// Largest schema in bytes of its canonical text.
pub const MAX_BYTES: usize = 64 * 1024;

/// Most memory that one compiled pattern may take, in bytes.
const PATTERN_BYTES: usize = 1024 * 1024;

/// The schema that every new payload of a ledger must meet.
#[derive(Debug)]
pub struct PayloadSchema(Validator);

/// A schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaFault {
    /// Too large, nested too deep, or not canonical JSON.
    #[error("the schema must be JSON of at most {MAX_BYTES} bytes and {} levels", json::MAX_DEPTH)]
    Bounds,
    /// Not a JSON Schema, or with references that lie outside it, or with patterns that need backtracking.
    #[error("the schema cannot be used: {0}")]
    Invalid(String),
}

impl PayloadSchema {
    /// Compiles a schema. Patterns are matched in time linear in the text, so that no payload can stall a check;
    /// those that would need backtracking are refused.
    ///
    /// # Errors
    /// [`SchemaFault`]; its text speaks of the schema alone, which is its author's.
    ///
    /// ```
    /// use daybook_core::schema::PayloadSchema;
    /// use serde_json::json;
    /// let schema = PayloadSchema::compile(&json!({"type": "object", "required": ["toString"]}))?;
    /// assert!(!schema.accepts(&json!({})));
    /// assert!(schema.accepts(&json!({"toString": 1})));
    /// # Ok::<(), daybook_core::schema::SchemaFault>(())
    /// ```
    pub fn compile(schema: &Value) -> Result<Self, SchemaFault> {
        let canonical = json::Value::try_from(schema).map_err(|_| SchemaFault::Bounds)?.to_canonical();
        if canonical.len() > MAX_BYTES {
            return Err(SchemaFault::Bounds);
        }
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .with_pattern_options(patterns)
            .build(schema)
            .map(Self)
            .map_err(|error| SchemaFault::Invalid(error.to_string()))
    }

    /// Whether a payload meets the schema.
    #[must_use]
    pub fn accepts(&self, payload: &Value) -> bool {
        self.0.is_valid(payload)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refuses_remote_references_backtracking_and_what_is_too_large() {
        for schema in [
            json!({"$ref": "https://schemas.example/record.json"}),
            json!({"$ref": "file:///etc/passwd"}),
            json!({"type": "strange"}),
            json!({"pattern": "(a+)+\\1$"}),
            json!({"pattern": "(?=a)b"}),
        ] {
            assert!(matches!(PayloadSchema::compile(&schema), Err(SchemaFault::Invalid(_))), "{schema}");
        }
        assert_eq!(PayloadSchema::compile(&json!({"title": "x".repeat(MAX_BYTES)})).unwrap_err(), SchemaFault::Bounds);
        let mut deep = json!({});
        for _ in 0..40 {
            deep = json!({"not": deep});
        }
        assert_eq!(PayloadSchema::compile(&deep).unwrap_err(), SchemaFault::Bounds);
    }

    #[test]
    fn a_local_reference_and_an_unknown_keyword_are_standard() {
        let schema =
            json!({"$defs": {"n": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/n"}}, "x-note": 1});
        let schema = PayloadSchema::compile(&schema).unwrap();
        assert!(schema.accepts(&json!({"n": 1})) && !schema.accepts(&json!({"n": "1"})));
    }

    #[test]
    fn a_hostile_text_cannot_stall_a_pattern() {
        let schema = PayloadSchema::compile(&json!({"pattern": "^(a+)+$"})).unwrap();
        assert!(!schema.accepts(&json!(format!("{}b", "a".repeat(30_000)))));
    }
}
