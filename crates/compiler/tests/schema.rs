//! The published schema against the compiler: what compiles meets it, and it refuses what it can of the rest.
#![expect(clippy::disallowed_methods, reason = "a test reads its files")]

use std::fs;
use std::path::{Path, PathBuf};

use daybook_compiler::{Files, Pins, compile};
use serde_json::{Value, json};

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&daybook_compiler::schema()).expect("a schema")
}

/// The settings of every source of a folder, with the name of its file.
fn settings(folder: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository(folder)).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = if path.extension().is_some_and(|ending| ending == "md") {
            fs::read_to_string(&path).expect("text")
        } else {
            continue;
        };
        let Some((yaml, _)) = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")) else { continue };
        if let Ok(value) = serde_yaml::from_str(yaml) {
            found.push((path.file_name().expect("a name").to_string_lossy().into_owned(), value));
        }
    }
    found
}

#[test]
fn the_schema_is_published_as_it_is_made() {
    let path = repository("docs/schema/workflow.schema.json");
    let text = format!("{:#}\n", daybook_compiler::schema());
    if std::env::var_os("DAYBOOK_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, &text).expect("the schema is written");
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == text, "run this test with DAYBOOK_BLESS=1");
    jsonschema::meta::validate(&daybook_compiler::schema()).expect("a schema of its draft");
}

#[test]
fn every_good_source_meets_it() {
    let validator = validator();
    let mut seen = 0;
    for folder in ["testdata/ok", "testdata/ok-source", "workflows"] {
        for (name, value) in settings(folder) {
            let wrong: Vec<String> =
                validator.iter_errors(&value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
            assert!(wrong.is_empty(), "{folder}/{name}: {wrong:?}");
            seen += 1;
        }
    }
    assert!(seen >= 4, "{seen}");
}

#[test]
fn it_refuses_the_faults_that_one_key_shows() {
    let validator = validator();
    let refused: Vec<String> = settings("testdata/err")
        .into_iter()
        .filter(|(_, value)| !validator.is_valid(value))
        .map(|(name, _)| name)
        .collect();
    for name in [
        "agent-writes.md",
        "dangerous-event.md",
        "expression-in-run.md",
        "foreign-output.md",
        "foreign-tool.md",
        "imports.md",
        "no-engine.md",
        "no-trigger.md",
        "target-repo.md",
        "typing-error.md",
        "unknown-engine.md",
        "words-and-numbers.md",
    ] {
        assert!(refused.iter().any(|other| other == name), "{name} meets the schema");
    }
}

struct Beside;

impl Files for Beside {
    fn read(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(repository("testdata/ok").join(name)).map_err(|error| error.to_string())
    }
}

/// Every value with one node replaced.
fn mutants(value: &Value, put: &dyn Fn(Value) -> Value, found: &mut Vec<Value>) {
    for other in [json!(null), json!(true), json!(7), json!("x"), json!([]), json!({}), json!(["x"]), json!({ "x": 1 })]
    {
        if other != *value {
            found.push(put(other));
        }
    }
    match value {
        Value::Object(members) => {
            for (key, inner) in members {
                let put = |other: Value| {
                    let mut members = members.clone();
                    members.insert(key.clone(), other);
                    put(members.into())
                };
                mutants(inner, &put, found);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                let put = |other: Value| {
                    let mut items = items.clone();
                    items[at] = other;
                    put(items.into())
                };
                mutants(inner, &put, found);
            }
        }
        _ => {}
    }
}

/// An editor must not underline what compiles; and most of what does not compile it does underline.
#[test]
fn it_is_never_stricter_than_the_compiler_and_not_much_laxer() {
    let validator = validator();
    let pins = fs::read(repository("testdata/ok/.github/daybook.pins.json")).expect("pins");
    let pins = Pins::parse(&pins).expect("pins");
    let (mut refused, mut missed, mut accepted) = (0_u32, 0_u32, 0_u32);
    let mut stricter = Vec::new();
    for (name, value) in settings("testdata/ok") {
        let mut found = Vec::new();
        mutants(&value, &|other| other, &mut found);
        for mutant in found {
            let source = format!("---\n{mutant}\n---\n");
            match (compile(&source, &name, &Beside, &pins), validator.is_valid(&mutant)) {
                (Ok(_), true) => accepted += 1,
                (Ok(_), false) => {
                    stricter.extend(
                        validator.iter_errors(&mutant).map(|fault| format!("{}: {fault}", fault.instance_path())),
                    );
                }
                (Err(_), true) => missed += 1,
                (Err(_), false) => refused += 1,
            }
        }
    }
    stricter.sort();
    stricter.dedup();
    assert!(stricter.is_empty(), "these compile, and editors underline them: {stricter:#?}");
    assert!(refused + missed > 500 && accepted > 100, "{refused} {missed} {accepted}");
    assert!(missed * 4 < refused, "{missed} of {} faults are not seen", refused + missed);
    println!("{refused} faults seen, {missed} not, {accepted} changes allowed by both");
}
