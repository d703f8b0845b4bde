//! The part of the configuration that weighs findings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ConfigFault;
use super::wire::fault;
use crate::detection::{Detection, FindingCode, Verdict};

const PASS: &str = "pass";
const REFUSE: &str = "refuse";

#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Wire {
    #[serde(default)]
    findings: BTreeMap<String, String>,
    suspicious: Option<String>,
}

pub(super) fn check(wire: Wire) -> Result<Detection, ConfigFault> {
    let mut findings = BTreeMap::new();
    for (name, verdict) in wire.findings {
        let code = FindingCode::from_name(&name).ok_or_else(|| {
            let names: Vec<_> = FindingCode::all().map(FindingCode::name).collect();
            fault("detection.findings[]", &name, &names.join(", "))
        })?;
        let verdict = Verdict::from_name(&verdict)
            .ok_or_else(|| fault(&format!("detection.findings.{name}"), &verdict, "clean, suspicious or threat"))?;
        findings.insert(code, verdict);
    }
    let refuses_suspicious = match wire.suspicious.as_deref() {
        None | Some(PASS) => false,
        Some(REFUSE) => true,
        Some(other) => return Err(fault("detection.suspicious", other, "pass or refuse")),
    };
    Ok(Detection { findings, refuses_suspicious })
}

pub(super) fn print(detection: &Detection) -> Value {
    let findings: Value =
        detection.findings.iter().map(|(code, verdict)| (code.name().to_owned(), json!(verdict.name()))).collect();
    json!({
        "findings": findings,
        "suspicious": if detection.refuses_suspicious { REFUSE } else { PASS },
    })
}
