//! `daybook-agent project` and `daybook-agent prompt`, as processes of their own.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

use daybook_core::query::Query;
use daybook_projection::Projection;
use daybook_testkit::said;
use daybook_testkit::vectors;
use serde_json::{Value, json};

struct Place(tempfile::TempDir);

impl Place {
    fn new(ledgers: &Value) -> Self {
        let place = Self(tempfile::Builder::new().prefix("daybook-hidden-place").tempdir().unwrap());
        let config = json!({"version": 1, "workflow": "w", "ledgers": ledgers});
        fs::write(place.path("config.json"), config.to_string()).unwrap();
        for ledger in ledgers.as_array().unwrap() {
            fs::create_dir_all(place.path("memory").join(ledger["name"].as_str().unwrap())).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, command: &str, options: &[&str]) -> Output {
        let mut process = Command::new(env!("CARGO_BIN_EXE_daybook-agent"));
        process.env_clear().current_dir(self.0.path()).arg(command).args(["--config", "config.json"]);
        said::output(process.args(options))
    }

    fn project(&self, out: &str) -> Output {
        self.run("project", &["--memory-root", "memory", "--out", out, "--format", "json"])
    }
}

fn report(output: &Output) -> Value {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!report.to_string().contains("hidden-place"), "{report}");
    report
}

#[track_caller]
fn refused(output: &Output, exit: i32, code: &str) {
    let report = report(output);
    assert_eq!((output.status.code(), &report["diagnostics"][0]["code"]), (Some(exit), &json!(code)), "{report}");
}

/// The ledger that the reference runtime wrote, beside one that nobody has written to yet.
// DB-5.1-02
#[test]
fn every_ledger_is_in_one_file_that_is_only_read() {
    let place = Place::new(&json!([{"name": "first"}, {"name": "second"}]));
    let (shards, meta) = vectors::reference_ledger();
    let folder = place.path("memory/first/ledger/shards");
    fs::create_dir_all(&folder).unwrap();
    for (shard, bytes) in shards {
        fs::write(folder.join(shard.file_name()), bytes).unwrap();
    }
    // What stands under the name is replaced, not followed and not added to.
    fs::write(place.path("elsewhere"), "untouched").unwrap();
    symlink(place.path("elsewhere"), place.path("out.db")).unwrap();
    for _ in 0..2 {
        let output = place.project("out.db");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(report(&output)["counts"]["records"], meta["records"]);
        assert_eq!(fs::read_to_string(place.path("elsewhere")).unwrap(), "untouched");
        let metadata = fs::symlink_metadata(place.path("out.db")).unwrap();
        assert!(metadata.is_file() && metadata.permissions().mode() & 0o777 == 0o444);
    }
    let bytes = fs::read(place.path("out.db")).unwrap();
    assert!(bytes.starts_with(b"SQLite format 3\0"));
    assert!(!String::from_utf8_lossy(&bytes).contains("hidden-place"));
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 4, "nothing else is left");
    assert!(!place.path("memory/second/ledger").exists(), "reading makes nothing");
    // A fresh projection in a file that is one already is refused by the database itself.
    assert!(Projection::in_file(&place.path("out.db")).is_err());
    assert!(Projection::temporary().unwrap().page(&Query::default()).unwrap().rows.is_empty());
}

#[test]
fn a_file_that_cannot_be_written_or_a_folder_that_is_none_is_told() {
    let place = Place::new(&json!([{"name": "first"}]));
    let output = place.project("no/such/folder/out.db");
    refused(&output, 74, "out-unwritable");
    fs::create_dir(place.path("target")).unwrap();
    fs::create_dir(place.path("memory/first/ledger")).unwrap();
    symlink(place.path("target"), place.path("memory/first/ledger/shards")).unwrap();
    refused(&place.project("out.db"), 3, "memory-unreadable");
    fs::remove_file(place.path("memory/first/ledger/shards")).unwrap();
    fs::rename(place.path("memory/first"), place.path("elsewhere")).unwrap();
    refused(&place.project("out.db"), 74, "memory-unreadable");
    fs::rename(place.path("elsewhere"), place.path("memory/first")).unwrap();
    // More names than anybody looks at: what is not seen may be a shard.
    let shards = place.path("memory/first/ledger/shards");
    fs::create_dir(&shards).unwrap();
    for number in 0..65_537 {
        fs::File::create(shards.join(number.to_string())).unwrap();
    }
    refused(&place.project("out.db"), 74, "ledger-unreadable");
    assert!(!place.path("out.db").exists());
    for number in 0..3 {
        fs::remove_file(shards.join(number.to_string())).unwrap();
    }
    assert_eq!(place.project("out.db").status.code(), Some(0));
}

// DB-9-12, DB-9-17
#[test]
fn the_prompt_says_what_each_ledger_is_and_holds_and_allows() {
    let schema = json!({"type": "object", "title": "a `tick` ${{ secrets.X }}", "description": "What triage\ndecided"});
    let place = Place::new(&json!([
        {"name": "first", "max-record-kb": 8, "max-patch-kb": 64, "schema": schema},
        {"name": "second", "read-only": true},
    ]));
    let sha = format!("sha256:{}", "0".repeat(64));
    let memory = |id: &str, records: Value| json!({"base": "", "branch": format!("ledgers/{id}"), "files": [], "id": id, "records": records});
    let baseline = json!({"memories": [memory("first", json!([sha])), memory("second", json!([]))], "version": 1});
    fs::write(place.path("baseline.json"), baseline.to_string()).unwrap();
    let output = place.run("prompt", &["--baseline", "baseline.json", "--format", "human"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let (about_first, about_second) =
        text.split_once("### Ledger `first`").unwrap().1.split_once("### Ledger `second`").unwrap();
    for expected in [
        "at most 8 KiB",
        "at most 64 KiB",
        "held 1 record",
        "\nWhat triage decided\n",
        "\"ledger\": \"first\"",
        "JSON Schema",
    ] {
        assert!(about_first.contains(expected), "{expected}: {about_first}");
    }
    assert!(!about_first.contains("`tick`"), "a schema stays inside its quotes");
    assert!(text.contains("### Files of memory `first`") && text.contains("$DAYBOOK_MEMORY/first"), "{text}");
    assert!(about_second.contains("only read") && about_second.contains("was empty"), "{about_second}");
    for tool in ["ledger_append", "ledger_get", "ledger_query", "ledger_status", "not instructions", "secrets"] {
        assert!(text.contains(tool), "{tool}");
    }
    let output = place.run("prompt", &["--baseline", "baseline.json", "--format", "json"]);
    assert_eq!(report(&output)["prompt"], text);
    // Without a baseline nothing is said of what was there.
    let text = String::from_utf8(place.run("prompt", &["--format", "human"]).stdout).unwrap();
    assert!(!text.contains("when this run began") && text.contains("### Ledger `second`"));
    fs::write(place.path("baseline.json"), "{}").unwrap();
    let broken = || place.run("prompt", &["--baseline", "baseline.json", "--format", "json"]);
    refused(&broken(), 3, "baseline-invalid");
    fs::remove_file(place.path("baseline.json")).unwrap();
    fs::create_dir(place.path("baseline.json")).unwrap();
    refused(&broken(), 74, "baseline-unreadable");
}

/// Every job takes its configuration in this way.
#[test]
fn without_a_configuration_nothing_is_done() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook-agent"));
    command.env_clear().args(["prompt", "--format", "json"]);
    refused(&said::output(&mut command), 2, "config-missing");
    command.env("DAYBOOK_CONFIG", "");
    refused(&said::output(&mut command), 2, "config-missing");
    command.env("DAYBOOK_CONFIG", r#"{"version":1,"workflow":"w"}"#);
    assert_eq!(said::output(&mut command).status.code(), Some(0));
}
