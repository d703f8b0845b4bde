//! Each job's part of the configuration (DESIGN §3).

use daybook_core::config::{Config, ConfigFault, MAX_CONFIG_BYTES};
use daybook_workflow::Text;
use serde_json::{Map, Value};

use crate::problem::{Place, Problem};

/// For whom a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Agent,
    Detect,
    SafeOutputs { requests_compaction: bool },
    Persist,
    Plan(&'a str),
    Apply(&'a str),
}

/// The text for `DAYBOOK_CONFIG`.
pub(crate) fn slice(config: &Config, part: Part<'_>) -> Result<Text, Problem> {
    let bytes = config.to_bytes().map_err(|fault| problem(&fault))?;
    let mut value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let memories = part_of(&mut value, "memories");
    let ledgers = part_of(&mut value, "ledgers");
    let only = match part {
        Part::Plan(name) | Part::Apply(name) => Some(name),
        _ => None,
    };
    let kept: Vec<Value> =
        ledgers.into_iter().filter(|ledger| only.is_none_or(|name| ledger["name"] == *name)).collect();
    let is_used = |memory: &Value| only.is_none() || kept.iter().any(|ledger| ledger["memory"] == memory["id"]);
    let mut memories: Vec<Value> = memories.into_iter().filter(is_used).collect();
    let mut ledgers = kept.clone();
    for members in memories.iter_mut().filter_map(Value::as_object_mut) {
        if part != Part::Persist {
            members.remove("validation");
        }
        if part != Part::Agent {
            members.remove("description");
        }
    }
    for members in ledgers.iter_mut().filter_map(Value::as_object_mut) {
        // DB-4.2-02
        if !matches!(part, Part::Plan(_))
            && let Some(compaction) = members.get_mut("compaction").and_then(Value::as_object_mut)
        {
            compaction.remove("script");
        }
        if !matches!(part, Part::Agent | Part::Detect | Part::Persist) {
            members.remove("schema");
        }
    }
    if let Some(members) = value.as_object_mut() {
        members.insert("memories".to_owned(), memories.into());
        members.insert("ledgers".to_owned(), ledgers.into());
    }
    if !matches!(part, Part::Detect | Part::SafeOutputs { .. } | Part::Persist) {
        value.as_object_mut().map(|members| members.remove("detection"));
    }
    if part != Part::Detect
        && let Some(findings) = value.pointer_mut("/detection/findings")
    {
        *findings = Value::Object(Map::new());
    }
    if let (Part::SafeOutputs { requests_compaction: false }, Some(request)) =
        (part, value.pointer_mut("/safe-outputs/ledger-request-compaction/max"))
    {
        *request = 0.into();
    }
    let checked = Config::parse(value.to_string().as_bytes()).and_then(|config| config.to_bytes());
    let text = Text::json(&String::from_utf8_lossy(&checked.map_err(|fault| problem(&fault))?));
    if text.len() > MAX_CONFIG_BYTES {
        let message = format!(
            "the configuration of a job has {} bytes once $ before {{ is escaped; allowed are {MAX_CONFIG_BYTES}",
            text.len()
        );
        return Err(Problem::new("config-too-large", Place::START, message));
    }
    Ok(text)
}

fn part_of(value: &mut Value, list: &str) -> Vec<Value> {
    match value.get_mut(list).map(Value::take) {
        Some(Value::Array(values)) => values,
        _ => Vec::new(),
    }
}

fn problem(fault: &ConfigFault) -> Problem {
    Problem::new("config-too-large", Place::START, fault.to_string())
}

/// How one ledger is configured, for comparing two workflows that use it.
pub(crate) fn ledger_settings(config: &Config, name: &str) -> Map<String, Value> {
    let value: Value = config.to_bytes().ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let list = |list: &str| value[list].as_array().cloned().unwrap_or_default();
    let ledger = list("ledgers").into_iter().find(|ledger| ledger["name"] == *name).unwrap_or_default();
    let memory = list("memories").into_iter().find(|memory| memory["id"] == ledger["memory"]).unwrap_or_default();
    let mut settings = ledger.as_object().cloned().unwrap_or_default();
    // Who may write is a workflow's own business; what maintenance sees must be the same everywhere.
    settings.remove("read-only");
    settings.remove("memory");
    settings.insert("branch".to_owned(), memory["branch"].clone());
    settings
}
