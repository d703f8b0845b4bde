//! The golden sources hold every key at least once, at a value other than its default.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::assemble::{Source, source};
use crate::files::Files;
use crate::keys::{self, Key, Kind};
use crate::settings::Settings;
use crate::{frontmatter, yaml};

const SOURCES: &[(&str, &str)] = &[
    ("everything.md", include_str!("../../../testdata/ok/everything.md")),
    ("smallest.md", include_str!("../../../testdata/ok/smallest.md")),
    ("built.md", include_str!("../../../testdata/ok-source/built.md")),
];

struct Beside;

impl Files for Beside {
    fn read(&self, name: &str) -> Result<String, String> {
        match name {
            "schemas/note.json" => Ok(include_str!("../../../testdata/ok/schemas/note.json").to_owned()),
            "scripts/select.mjs" => Ok(include_str!("../../../testdata/ok/scripts/select.mjs").to_owned()),
            _ => Err("not here".to_owned()),
        }
    }
}

fn sources() -> Vec<Source> {
    SOURCES.iter().map(|(name, text)| source(text, name, &Beside, None).expect(name)).collect()
}

fn trees() -> Vec<Value> {
    let tree = |text| yaml::read(frontmatter::split(text).expect("frontmatter").yaml).expect("yaml").to_json();
    SOURCES.iter().map(|(_, text)| tree(*text)).collect()
}

/// Every path of keys in a tree; `*` stands for a name that the author chose and for each entry of a list.
fn paths(value: &Value, around: &str, found: &mut BTreeSet<String>) {
    let chosen = ["tools.ledger", "safe-outputs.jobs", "safe-outputs.jobs.*.inputs"].contains(&around);
    let inside = |key: &str| match (around, chosen) {
        ("", _) => key.to_owned(),
        (_, true) => format!("{around}.*"),
        _ => format!("{around}.{key}"),
    };
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                found.insert(inside(key));
                paths(value, &inside(key), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| paths(item, around, found)),
        _ => {}
    }
}

fn wanted(table: &[Key], around: &str, all: &mut Vec<String>) {
    for key in table {
        let path = if around.is_empty() { key.name.to_owned() } else { format!("{around}.{}", key.name) };
        match key.kind {
            Kind::FalseOr(inner) | Kind::Map(inner) => wanted(inner, &path, all),
            Kind::Named(_, inner) => wanted(inner, &format!("{path}.*"), all),
            Kind::Memories => wanted(keys::MEMORY, &path, all),
            Kind::Engine => wanted(keys::ENGINE, &path, all),
            // Steps are the same everywhere.
            Kind::Steps if path == "steps" => wanted(keys::STEP, &path, all),
            _ => {}
        }
        all.push(path);
    }
}

#[test]
fn every_key_stands_in_a_golden_source() {
    let mut all = Vec::new();
    wanted(keys::TOP, "", &mut all);
    assert!(all.len() > 80, "{all:?}");
    let mut found = BTreeSet::new();
    trees().iter().for_each(|tree| paths(tree, "", &mut found));
    let missing: Vec<_> = all.iter().filter(|path| !found.contains(*path)).collect();
    assert!(missing.is_empty(), "no golden source has {missing:?}");
}

/// What a source that says nothing of a member has there, for each list of the configuration.
fn defaults() -> Value {
    let config = json!({"version": 1, "workflow": "w", "ledgers": [{"name": "l"}]});
    let config = daybook_core::config::Config::parse(config.to_string().as_bytes()).expect("defaults");
    serde_json::from_slice(&config.to_bytes().expect("text")).expect("JSON")
}

#[test]
fn every_member_of_the_configuration_has_another_value_than_its_default_somewhere() {
    let configs: Vec<Value> =
        sources().iter().map(|source| serde_json::from_slice(&source.compiled.config_bytes).expect("JSON")).collect();
    let defaults = defaults();
    let differs = |list: &str, member: &str| {
        let entries = configs.iter().flat_map(|config| config[list].as_array().into_iter().flatten());
        entries.into_iter().any(|entry| entry[member] != defaults[list][0][member])
    };
    for list in ["memories", "ledgers"] {
        for member in defaults[list][0].as_object().expect("members").keys() {
            // There is one profile so far.
            assert!(member == "profile" || differs(list, member), "{list}.{member} is its default everywhere");
        }
    }
    assert!(differs("memories", "validation") && differs("ledgers", "schema"));
    for path in [
        "/safe-outputs/ledger-mutation/max",
        "/safe-outputs/ledger-request-compaction/max",
        "/detection/findings",
        "/detection/suspicious",
    ] {
        assert!(configs.iter().any(|config| config.pointer(path) != defaults.pointer(path)), "{path}");
    }
    for member in ["schedule", "min-segments", "max-segments", "script"] {
        let set = |config: &Value| {
            let ledgers = config["ledgers"].as_array().into_iter().flatten();
            ledgers.into_iter().any(|ledger| {
                ledger["compaction"].is_object()
                    && ledger["compaction"][member] != defaults["ledgers"][0]["compaction"][member]
            })
        };
        assert!(configs.iter().any(set), "compaction.{member} is its default everywhere");
    }
}

#[test]
fn every_setting_has_another_value_than_its_default_somewhere() {
    let (usual, sources) = (Settings::default(), sources());
    let differs = |what: fn(&Settings, &Settings) -> bool| sources.iter().any(|source| what(&source.settings, &usual));
    assert!(differs(|one, usual| one.title != usual.title));
    assert!(differs(|one, usual| one.run_name != usual.run_name));
    assert!(differs(|one, usual| one.condition != usual.condition));
    assert!(differs(|one, usual| one.roles != usual.roles));
    assert!(differs(|one, usual| one.permissions != usual.permissions));
    assert!(differs(|one, usual| one.env != usual.env));
    assert!(differs(|one, usual| one.environment != usual.environment));
    assert!(differs(|one, usual| one.concurrency != usual.concurrency));
    assert!(differs(|one, usual| one.runs_on != usual.runs_on));
    assert!(differs(|one, usual| one.trusted_runs_on != usual.trusted_runs_on));
    assert!(differs(|one, usual| one.timeout_minutes != usual.timeout_minutes));
    assert!(differs(|one, usual| one.steps != usual.steps));
    assert!(differs(|one, usual| one.mcp_servers != usual.mcp_servers));
    assert!(differs(|one, usual| one.detection != usual.detection));
    assert!(differs(|one, usual| one.persist_on != usual.persist_on));
    assert!(differs(|one, usual| one.requests_compaction != usual.requests_compaction));
}
