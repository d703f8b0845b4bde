//! Findings as SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use daybook_core::detection::{Detection, FindingCode as Code, Verdict};

use crate::finding::{Finding, Findings};

/// The document.
pub(crate) fn document(findings: &Findings, detection: &Detection) -> Value {
    let rules: Vec<Value> = Code::all()
        .map(|code| {
            json!({
                "id": code.name(),
                "shortDescription": {"text": code.sentence()},
                "defaultConfiguration": {"level": level(detection.verdict_of(code))},
            })
        })
        .collect();
    let results: Vec<Value> = findings.listed().iter().map(|finding| result(finding, detection)).collect();
    json!({
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "daybook-detect", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
        }],
    })
}

fn result(finding: &Finding, detection: &Detection) -> Value {
    let place = &finding.place;
    let artifact = match &place.memory {
        Some(memory) => format!("{memory}.tar"),
        None => "safe-outputs.jsonl".to_owned(),
    };
    let mut location = json!({"physicalLocation": {"artifactLocation": {"uri": artifact}}});
    if let Some(line) = place.line.filter(|_| place.memory.is_none()) {
        location["physicalLocation"]["region"] = json!({"startLine": line});
    }
    if let Some(record) = place.record {
        location["logicalLocations"] = json!([{"name": record, "kind": "record"}]);
    }
    json!({
        "ruleId": finding.code.name(),
        "level": level(detection.verdict_of(finding.code)),
        "message": {"text": finding.code.sentence()},
        "locations": [location],
    })
}

fn level(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Threat => "error",
        Verdict::Suspicious => "warning",
        Verdict::Clean => "note",
    }
}
