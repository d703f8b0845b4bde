//! Diagnostics as SARIF 2.1.0, for code scanning.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::report::place_of;

/// The document of a report's diagnostics.
pub(crate) fn document(diagnostics: &[Value]) -> Value {
    let text = |diagnostic: &Value, member: &str| diagnostic[member].as_str().unwrap_or_default().to_owned();
    let codes: BTreeSet<String> = diagnostics.iter().map(|diagnostic| text(diagnostic, "code")).collect();
    let rules: Vec<Value> = codes.into_iter().map(|code| json!({ "id": code })).collect();
    let results = diagnostics.iter().map(|diagnostic| {
        let hint = diagnostic["hint"].as_str().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let mut result = json!({
            "ruleId": text(diagnostic, "code"),
            "level": text(diagnostic, "severity"),
            "message": { "text": format!("{}{hint}", text(diagnostic, "message")) },
        });
        if let Some(location) = location(diagnostic) {
            result["locations"] = json!([location]);
        }
        result
    });
    let results: Vec<Value> = results.collect();
    json!({
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "daybook", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn location(diagnostic: &Value) -> Option<Value> {
    if let Some(place) = place_of(diagnostic) {
        let region = json!({ "startLine": place.line, "startColumn": place.column });
        return Some(json!({
            "physicalLocation": { "artifactLocation": { "uri": uri(place.file) }, "region": region }
        }));
    }
    let file = diagnostic["file"].as_str()?;
    Some(json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) } } }))
}

/// A path as a relative reference of a URI.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let parts =
        path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    parts.collect()
}
