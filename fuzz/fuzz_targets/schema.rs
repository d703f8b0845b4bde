//! Any schema and any payload: an answer, no panic.
#![no_main]

use daybook_core::schema::PayloadSchema;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // A newline parts the schema from the payload.
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let parse = |part: Option<&[u8]>| serde_json::from_slice::<serde_json::Value>(part.unwrap_or_default());
    let (Ok(schema), Ok(payload)) = (parse(parts.next()), parse(parts.next())) else { return };
    if let Ok(schema) = PayloadSchema::compile(&schema) {
        assert_eq!(schema.accepts(&payload), schema.accepts(&payload));
    }
});
