//! `daybook audit` on workflows that nobody compiled: which job could write a memory, and why.

use std::fs;
use std::process::Command;

use daybook_testkit::said;
use daybook_testkit::vectors::repository;
use serde_json::Value;

fn audit(name: &str, format: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(["audit", name, "--format", format]).current_dir(repository().join("testdata/foreign"));
    let output = said::output(command.env_remove("GITHUB_ACTIONS"));
    assert_eq!(output.status.code(), Some(1), "a foreign workflow has findings");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_foreign_workflow_is_explained_job_by_job() {
    for name in ["release-notes", "comment-bot", "reusable"] {
        let told = audit(&format!("{name}.yml"), "human");
        let out = repository().join(format!("testdata/foreign/{name}.out"));
        if std::env::var_os("DAYBOOK_BLESS").is_some() {
            fs::write(&out, &told).expect("an expectation is written");
        }
        assert_eq!(told, fs::read_to_string(&out).unwrap_or_default(), "{name}");
    }
}

#[test]
fn who_can_write_is_the_same_as_data() {
    let powers = |name: &str| {
        let document: Value = serde_json::from_str(&audit(name, "json")).expect("JSON");
        let rows = document["writers"].as_array().expect("rows").iter();
        rows.map(|row| format!("{}: {}", row["job"].as_str().unwrap(), row["memory"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(powers("release-notes.yml"), ["notes: can write", "test: cannot write"]);
    assert_eq!(powers("comment-bot.yml"), ["answer: may be able to write", "label: can write"]);
    assert_eq!(
        powers("reusable.yml"),
        ["idle: cannot write", "mirror: may be able to write", "shared: may be able to write"]
    );
}

/// The workflows that show how it is done by hand give each job what its part needs.
#[test]
fn our_own_workflows_by_hand_keep_to_it() {
    let powers = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
        command.args(["audit", name, "--format", "json"]).current_dir(repository().join("workflows"));
        let output = said::output(command.env_remove("GITHUB_ACTIONS"));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(document["counts"]["compiled"], 0);
        let rows = document["writers"].as_array().expect("rows").iter();
        let can = rows.filter(|row| row["memory"] == "can write").map(|row| row["job"].as_str().unwrap().to_owned());
        can.collect::<Vec<_>>()
    };
    assert_eq!(powers("by-hand.yml"), ["keep"]);
    assert_eq!(powers("maintenance-by-hand.yml"), ["compact"]);
}
