//! `daybook explain` as people and scripts call it.

use std::process::{Command, Output};

use daybook_testkit::said;
use serde_json::Value;

fn explain(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    said::output(command.env_clear().arg("explain").args(args))
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn a_code_is_explained_in_words_and_as_json() {
    let told = explain(&["shard-tampered"]);
    assert_eq!(told.status.code(), Some(0));
    let page = text(&told);
    assert!(page.starts_with("shard-tampered\n") && page.contains("What to do: "), "{page}");
    assert_eq!(text(&explain(&["warning[shard-tampered]: 1 in memory triage not kept"])), page);
    let document: Value = serde_json::from_str(&text(&explain(&["shard-tampered", "--format", "json"]))).expect("JSON");
    assert_eq!((&document["outcome"], &document["code"]), (&"ok".into(), &"shard-tampered".into()));
    for member in ["group", "example", "meaning", "advice"] {
        assert!(!document[member].as_str().unwrap_or_default().is_empty(), "{member}");
    }
}

#[test]
fn an_unknown_code_is_refused_with_the_nearest_one() {
    let told = explain(&["shard-tamperd"]);
    assert_eq!(told.status.code(), Some(2));
    let page = text(&told);
    assert!(page.contains("unknown-code") && page.contains("did you mean \"shard-tampered\"?"), "{page}");
    let page = text(&explain(&["::error::\u{202e}x"]));
    assert!(!page.contains("\u{202e}") && page.contains("lists all codes"), "{page}");
}

#[test]
fn without_a_code_all_are_listed() {
    let page = text(&explain(&[]));
    let document: Value = serde_json::from_str(&text(&explain(&["--format", "json"]))).expect("JSON");
    let codes = document["codes"].as_array().expect("codes");
    assert!(codes.len() > 300, "{}", codes.len());
    for code in codes {
        assert!(page.lines().any(|line| line.trim() == code["code"]), "{code}");
    }
}
