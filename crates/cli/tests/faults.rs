//! Files that cannot be read, and jobs of a dry run that are broken: each is said by its code, and the next run works.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use daybook_testkit::said;
use serde_json::{Value, json};

const DAYBOOK: &str = env!("CARGO_BIN_EXE_daybook");

/// A folder with a workflow whose scripted agent appends two records.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.path("tmp")).unwrap();
        fs::write(home.path("triage.md"), "---\ntools: {ledger: {triage: {}}}\n---\nTriage.\n").unwrap();
        let append = json!({ "tool": "ledger_append", "arguments": { "type": "note", "payload": 1 } });
        fs::write(home.path("triage.script.jsonl"), format!("{append}\n{append}\n")).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn json(&self, args: &[&str]) -> (i32, Value) {
        let mut command = Command::new(DAYBOOK);
        command.args(args).args(["--format", "json"]).current_dir(self.0.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.path("tmp"));
        let output = said::output(command.env("TMPDIR", self.path("tmp")));
        let document = serde_json::from_slice(&output.stdout);
        let talk = String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), document.unwrap_or_else(|fault| panic!("{args:?}: {fault}: {talk}")))
    }

    /// A folder with a program for each job, that is this binary, but for one.
    fn programs(&self, folder: &str, other: &str, script: &str) -> String {
        fs::create_dir(self.path(folder)).unwrap();
        let jobs = ["agent", "merge", "detect", "safe-outputs", "persist", "maintenance-plan", "maintenance-apply"];
        for job in jobs {
            let ours = format!("exec '{DAYBOOK}' job {job} \"$@\"");
            let script = if job == other { script.replace("OURS", &ours) } else { ours };
            let path = self.path(folder).join(format!("daybook-{job}"));
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder.to_owned()
    }
}

fn codes(document: &Value) -> Vec<&str> {
    let all = document["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(|one| one["code"].as_str().unwrap()).collect()
}

fn message(document: &Value) -> &str {
    document["diagnostics"][0]["message"].as_str().unwrap()
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_nothing_else_is_done() {
    let home = Home::new();
    fs::create_dir(home.path("folder")).unwrap();
    let bare = ["maintain", "--memory", "folder", "--ledger", "triage"];
    for args in [
        &["audit", "FILE"][..],
        &["permissions", "FILE"],
        &["canon", "FILE"],
        &["dry-run", "FILE", "--agent", "true"],
        &["dry-run", "triage.md", "--script", "FILE"],
        &["try-script", "FILE", "--memory", "folder"],
        &[&bare[..], &["--config", "FILE"]].concat(),
    ] {
        for (file, why) in
            [("missing", "No such file"), ("folder", "Is a directory"), ("triage.md/x", "Not a directory")]
        {
            let args: Vec<&str> = args.iter().map(|arg| if *arg == "FILE" { file } else { arg }).collect();
            let (exit, document) = home.json(&args);
            assert_eq!((exit, codes(&document)), (74, vec!["unreadable"]), "{args:?}: {document}");
            let told = format!("{} {}", document["diagnostics"][0]["file"], message(&document));
            assert!(told.contains(file) && told.contains(why), "{args:?}: {told}");
        }
    }
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0, "nothing is left behind");
    assert_eq!(fs::read_dir(home.path("folder")).unwrap().count(), 0);
}

#[test]
fn what_is_no_workflow_is_said_so() {
    let home = Home::new();
    for (text, why) in [
        ("on: push\n", "it has no jobs"),
        ("", "it has no jobs"),
        ("jobs: 7\n", "it has no jobs"),
        ("jobs: {a: [}\n", "no YAML"),
        ("jobs: !x {}\n", "tags are not allowed"),
        ("jobs: {a: {<<: {b: c}}}\n", "merge keys are not allowed"),
        ("jobs: {a: {7: c}}\n", "a key is no text"),
        (&"#".repeat(4 * 1024 * 1024 + 1), "allowed are"),
    ] {
        fs::write(home.path("x.yml"), text).unwrap();
        for command in ["audit", "permissions"] {
            let (exit, document) = home.json(&[command, "x.yml"]);
            assert_eq!((exit, codes(&document)), (3, vec!["no-workflow"]), "{command}: {document}");
            assert!(message(&document).starts_with("x.yml: ") && message(&document).contains(why), "{document}");
        }
    }
}

#[test]
fn a_dry_run_without_its_places_or_programs_has_failed() {
    let home = Home::new();
    fs::create_dir(home.path("empty")).unwrap();
    for (args, why) in [
        (["--bin-dir", "missing"], "No such file"),
        (["--bin-dir", "empty"], "daybook-agent: No such file"),
        (["--keep", "triage.md/kept"], "Not a directory"),
        (["--keep", "/dev/null"], "File exists"),
    ] {
        let (exit, document) = home.json(&[&["dry-run", "triage.md"][..], &args].concat());
        let code = if args[1] == "/dev/null" { (2, vec!["keep-not-empty"]) } else { (74, vec!["dry-run-failed"]) };
        assert_eq!((exit, codes(&document)), code, "{document}");
        assert!(message(&document).contains(why), "{document}");
    }
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0, "nothing is left behind");
    assert_eq!(home.json(&["dry-run", "triage.md"]).0, 0, "the next good run works");
}

/// The outcome of each job, and the codes that it said.
fn jobs(document: &Value) -> Vec<(&str, &str, Vec<&str>)> {
    let all = document["jobs"].as_array().unwrap();
    all.iter().map(|job| (job["job"].as_str().unwrap(), job["outcome"].as_str().unwrap(), codes(job))).collect()
}

#[test]
fn a_job_without_a_report_is_told_with_its_last_words() {
    let home = Home::new();
    // Before the agent: nothing else starts.
    let first = home.programs("first", "agent", "echo 'out of luck' >&2; exit 6");
    let (exit, document) = home.json(&["dry-run", "triage.md", "--bin-dir", &first]);
    assert_eq!((exit, jobs(&document)), (6, vec![("restore", "denied", vec!["no-report"])]), "{document}");
    assert_eq!(message(&document["jobs"][0]), "the job gave no report; it said: out of luck");
    // After it: what the agent has from the server as stored is not on the branch, and that is said.
    let last = home.programs("last", "persist", "kill -9 $$");
    let (exit, document) = home.json(&["dry-run", "triage.md", "--bin-dir", &last]);
    assert_eq!((exit, &jobs(&document)[5]), (70, &("persist", "internal", vec!["no-report"])), "{document}");
    assert_eq!(codes(&document), ["not-landed"]);
    assert_eq!(message(&document), "2 acknowledged records did not arrive on the branch");
    assert_eq!(
        (&document["counts"]["records-acknowledged"], &document["counts"]["records-added"]),
        (&2.into(), &0.into())
    );
    // A job that says nothing and ends well has not done its work.
    let quiet = home.programs("quiet", "detect", "exit 0");
    let (exit, document) = home.json(&["dry-run", "triage.md", "--bin-dir", &quiet]);
    assert_eq!((exit, jobs(&document).len()), (70, 4), "{document}");
    let good = home.programs("good", "", "");
    let (exit, document) = home.json(&["dry-run", "triage.md", "--bin-dir", &good]);
    assert_eq!((exit, &document["counts"]["records-added"]), (0, &2.into()), "{document}");
}

#[test]
fn a_server_that_goes_away_ends_the_agent_and_not_the_run() {
    let home = Home::new();
    // Before a word, at the first one, and after the answer to the first of two calls, which is kept.
    let late = "if [ \"$1\" = serve ]; then sed -u 4q | OURS; exit 0; fi; OURS".to_owned();
    let early = |death: &str| format!("if [ \"$1\" = serve ]; then {death}; fi; OURS");
    for (folder, script, message, added) in [
        ("at-once", early("exit 1"), "the server did not start: ", 0),
        ("at-the-first-word", early("read line; exit 0"), "the server did not start: ", 0),
        ("at-the-second-call", late, "the connection to the server broke: ", 1),
    ] {
        let programs = home.programs(folder, "agent", &script);
        let (exit, document) = home.json(&["dry-run", "triage.md", "--bin-dir", &programs]);
        let jobs = jobs(&document);
        assert_eq!((exit, &jobs[1]), (74, &("agent", "io", vec!["agent-disconnected"])), "{document}");
        assert!(self::message(&document["jobs"][1]).starts_with(message), "{document}");
        let later: Vec<&str> = jobs[2..].iter().map(|(job, ..)| *job).collect();
        assert_eq!(later[..4], ["merge", "detect", "safe-outputs", "persist"], "{document}");
        assert_eq!(document["counts"]["records-added"], added, "{folder}");
    }
}

/// Two calls that the server refuses, each for its own reason.
#[test]
fn a_refused_call_is_told_by_its_number_and_its_reason() {
    let home = Home::new();
    let good = fs::read_to_string(home.path("triage.script.jsonl")).unwrap();
    let bad = json!({ "tool": "ledger_append", "arguments": { "type": "", "payload": 1 } });
    let large = json!({ "tool": "ledger_append", "arguments": { "type": "n", "payload": "x".repeat(33 * 1024) } });
    fs::write(Path::new(&home.path("triage.script.jsonl")), format!("{good}{bad}\n{large}\n{good}")).unwrap();
    let (exit, document) = home.json(&["dry-run", "triage.md"]);
    assert_eq!((exit, &jobs(&document)[1]), (8, &("agent", "partial", vec!["call-refused"; 2])), "{document}");
    let told = |number: usize| document["jobs"][1]["diagnostics"][number]["message"].as_str().unwrap();
    assert!(told(0).starts_with("call 3, ledger_append: ") && told(0).contains("invalid-type"), "{}", told(0));
    assert!(told(1).starts_with("call 4, ledger_append: ") && told(1).contains("record-too-large"), "{}", told(1));
    assert_eq!(document["counts"]["records-added"], 4);
}

/// A job that takes away what was on the branch, whatever it reports of itself.
#[test]
fn records_that_go_missing_are_the_worst_outcome() {
    let home = Home::new();
    assert_eq!(home.json(&["dry-run", "triage.md", "--keep", "kept"]).0, 0);
    let memory = ["dry-run", "triage.md", "--memory", "kept/remote.git"];
    let forgets = r#"(OURS); code=$?
        while [ $# -gt 0 ]; do if [ "$1" = --remote ]; then remote=${2#file://}; fi; shift; done
        git --git-dir "$remote" update-ref -d refs/heads/ledgers/triage; exit $code"#;
    let bad = home.programs("bad", "persist", forgets);
    let (exit, document) = home.json(&[&memory[..], &["--bin-dir", &bad]].concat());
    assert_eq!((exit, codes(&document)), (70, vec!["records-lost", "not-landed"]), "{document}");
    assert_eq!(
        (message(&document), &document["counts"]["records-lost"]),
        ("records that were on the branch are gone", &2.into())
    );
    let (exit, document) = home.json(&memory);
    assert_eq!(
        (exit, &document["counts"]["records-lost"]),
        (0, &0.into()),
        "the memory itself was not touched: {document}"
    );
}
