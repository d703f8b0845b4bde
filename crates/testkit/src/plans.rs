//! Compaction plans that somebody else wrote.

use daybook_core::{Digest, json};
use serde_json::{Value, json};

/// A plan with the id that belongs to what it says now (FORMATS §6), computed without the crate that is tested.
#[must_use]
pub fn sealed(mut plan: Value) -> Value {
    let name = |identity: &Value| json!({"segment": identity["segment"], "sha256": identity["sha256"]});
    let sources = plan["sources"].as_array().map(|sources| sources.iter().map(name).collect::<Vec<_>>());
    let transition = json!({
        "version": plan["version"],
        "ledger": plan["ledger"],
        "branch": plan["branch"],
        "sources": sources,
        "replacement": name(&plan["replacement"]),
    });
    if let Ok(text) = json::parse(transition.to_string().as_bytes()) {
        plan["plan_id"] = Digest::of(text.to_canonical().as_bytes()).to_string().into();
    }
    plan
}
