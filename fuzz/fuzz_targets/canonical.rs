//! Canonical text is a fixed point, says the same, and is what the one-pass check accepts.
#![no_main]

use daybook_core::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(canonical) = json::canonical(text) else { return };
    assert_eq!(json::canonical(canonical.as_bytes()).as_deref(), Ok(canonical.as_str()));
    let meaning = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
    if let (Some(before), Some(after)) = (meaning(text), meaning(canonical.as_bytes())) {
        let tree = json::Value::try_from(&after).map(|tree| tree.to_canonical());
        assert_eq!(tree.as_deref(), Ok(canonical.as_str()));
        assert_eq!(json::Value::try_from(&before), json::Value::try_from(&after));
    }
});
