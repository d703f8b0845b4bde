//! Conformance: the reference runtime's answers to every log in `testdata/vectors/merge.json`, and the rows of
//! `SPEC.md` where ours is another on purpose.

use base64::Engine as _;
use daybook_core::config::Config;
use daybook_merge::{Log, select};
use daybook_testkit::vectors;
use serde_json::Value;

fn config() -> Config {
    Config::parse(br#"{"version":1,"workflow":"w","ledgers":[{"name":"only"}]}"#).unwrap()
}

/// The log of a case; the one that is described instead of given is made here.
fn log_of(case: &Value, template: &str) -> Vec<u8> {
    if let Some(log) = case["log"].as_str() {
        return log.as_bytes().to_vec();
    }
    if let Some(log) = case["log_base64"].as_str() {
        return base64::engine::general_purpose::STANDARD.decode(log).unwrap();
    }
    assert_eq!(case["generated"], "entries 1..1005");
    let sha = "ca0df2c95aa144c1d0ff2ff3c8f967fdc1de9ef0c4120b3726416701b519d619";
    assert!(template.contains(sha));
    (1..=1005).map(|number| template.replace(sha, &format!("{number:064x}"))).collect::<String>().into_bytes()
}

// DB-5.2-17, DB-5.2-18, DB-5.2-19, DB-5.2-20, DB-10-10
#[test]
fn merge() {
    let rows = vectors::deviations("merge");
    let cases = vectors::cases("merge");
    let named = |name: &str| cases.iter().find(|case| case["name"] == name).unwrap();
    let template = named("one entry, canonical line")["log"].as_str().unwrap().to_owned();
    let (mut unlisted, mut used) = (Vec::new(), 0);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let log = Log::parse(&log_of(case, &template), &config());
        let selection = select(&log, config().safe_outputs().ledger_mutation_max, |_| false);
        let entries: Vec<Value> =
            selection.claims.iter().map(|claim| serde_json::from_str(&claim.event.to_line()).unwrap()).collect();
        let ours = format!("{} entries, {} dropped", entries.len(), log.dropped().total() + selection.over_bound);

        let expected = &case["expected"];
        let count = expected["count"].as_u64().unwrap_or_else(|| expected["entries"].as_array().unwrap().len() as u64);
        let warning = expected["warnings"][0].as_str().unwrap_or("Dropped 0");
        let dropped = warning.split(' ').nth(1).unwrap();
        let theirs = format!("{count} entries, {dropped} dropped");
        match rows.get(name) {
            Some(row) => {
                used += 1;
                assert_eq!(row, &ours, "{name}: SPEC.md names another answer");
                assert_ne!(ours, theirs, "{name}: listed as a deviation, and is none");
            }
            None if ours != theirs => unlisted.push(format!("| merge | {name} | `{theirs}` | `{ours}` |")),
            None => {
                if let Some(expected) = expected["entries"].as_array() {
                    assert_eq!(&entries, expected, "{name}");
                }
            }
        }
    }
    assert!(unlisted.is_empty(), "answers that differ from the reference:\n{}", unlisted.join("\n"));
    assert_eq!(used, rows.len(), "rows without a case");
}
