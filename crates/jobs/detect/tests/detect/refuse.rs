//! Runs that get no verdict, and what no tool of ours would have staged.

use std::path::Path;

use daybook_core::baseline::Baseline;
use serde_json::{Value, json};
use tar::{EntryType, Header};

use crate::{CANARY, Run, note};

fn schema(run: &mut Run, schema: Value) {
    run.ledger["schema"] = schema;
    run.write();
}

/// Each ends under its exit and code, hands no verdict on, and is over when its cause is.
// DB-B-02
#[test]
fn what_cannot_be_examined_or_handed_on_gets_no_verdict() {
    type Damage = fn(&mut Run, &Path);
    let table: [(Damage, i32, &str); 5] = [
        (|run, _| schema(run, json!({"type": "strange"})), 2, "schema-unusable"),
        (|run, _| schema(run, json!({"pattern": "(?=a)b"})), 2, "schema-unusable"),
        (
            |_, place| std::fs::write(place.join("baseline.json"), Baseline::new(Vec::new()).to_bytes()).unwrap(),
            3,
            "baseline-mismatch",
        ),
        (|_, place| std::fs::write(place.join("out"), "a file").unwrap(), 74, "not-handed-on"),
        // The verdict itself has nowhere to go.
        (|_, place| std::fs::create_dir(place.join("step-outputs")).unwrap(), 74, "not-handed-on"),
    ];
    for (damage, exit, code) in table {
        let mut run = Run::new(2);
        run.append(&note("honest"));
        let place = run.folder.path().to_owned();
        run.write();
        damage(&mut run, &place);
        let output = run.start();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &report["diagnostics"][0]["code"]), (Some(exit), &json!(code)), "{report}");
        assert!(report.get("verdict").is_none(), "{code}: no verdict without a look");
        assert!(!place.join("step-outputs").is_file(), "{code}: nothing was handed on");
        for left in ["out", "step-outputs"] {
            let _ = std::fs::remove_file(place.join(left)).or_else(|_| std::fs::remove_dir_all(place.join(left)));
        }
        run.ledger = json!({"name": "triage", "memory": "triage"});
        run.finds("clean", &[]);
    }
}

/// The server checks these before it stores a record; persistence refuses them for the same reasons.
#[test]
fn a_record_that_the_tools_would_not_store_is_named() {
    for (member, value) in [("max-record-kb", json!(1)), ("schema", json!({"required": ["number"]}))] {
        let mut run = Run::new(2);
        let record = run.append(&note(&"x".repeat(2000)));
        run.finds("clean", &[]);
        run.ledger[member] = value;
        let report = run.finds("suspicious", &["write-rule"]);
        assert_eq!(report["diagnostics"][0]["id"], record.id().to_string());
    }
}

/// Entries that the packer never makes, before and after a good one.
// DB-8-01, DB-8-02
#[test]
fn an_entry_that_is_no_plain_memory_file_is_named_by_its_number() {
    let mut run = Run::new(1);
    (run.restored, run.files) = Default::default();
    run.known.clear();
    let mut tar = tar::Builder::new(Vec::new());
    for (name, kind) in [
        ("files/link", EntryType::Symlink),
        ("files/good.md", EntryType::Regular),
        ("files/.git/config", EntryType::Regular),
        ("elsewhere", EntryType::Regular),
    ] {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(0);
        if kind == EntryType::Symlink {
            header.set_link_name(CANARY).unwrap();
        }
        tar.append_data(&mut header, name, &b""[..]).unwrap();
    }
    run.raw_tar = Some(tar.into_inner().unwrap());
    let report = run.finds("suspicious", &["entry-refused", "staged-incomplete"]);
    let numbers = report["diagnostics"].as_array().unwrap().iter().filter_map(|found| found["file"].as_u64());
    assert_eq!(numbers.collect::<Vec<_>>(), [1, 3, 4]);
    run.raw_tar = None;
    run.finds("clean", &[]);
}
