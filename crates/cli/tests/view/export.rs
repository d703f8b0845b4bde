//! `export`, completions and manual pages.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{chain, codes, daybook, document, reference, reference_files, text, write};

#[test]
fn json_lines_are_the_stored_lines_with_parents_first() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("all.jsonl");
    let (exit, answer) = document(&["export", &reference(), "-o", file.to_str().unwrap()]);
    assert_eq!((exit, &answer["counts"]["records"]), (0, &1000.into()));
    let exported = fs::read_to_string(&file).unwrap();
    let stored: BTreeSet<String> = reference_files()
        .iter()
        .flat_map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert_eq!(exported.lines().map(str::to_owned).collect::<BTreeSet<_>>(), stored);
    let mut seen = BTreeSet::new();
    for line in exported.lines() {
        let record = daybook_core::Record::parse(line.as_bytes()).unwrap();
        assert!(record.parents().iter().all(|parent| seen.contains(parent)));
        seen.insert(record.sha());
    }
    assert_eq!(text(&["export", &reference(), "-o", "-"]), exported);
    // What is replaced is replaced whole; what cannot be written leaves nothing.
    assert_eq!(document(&["export", &reference(), "-o", file.to_str().unwrap()]).0, 0);
    let (exit, answer) = document(&["export", &reference(), "-o", home.path().join("no/x").to_str().unwrap()]);
    assert_eq!((exit, codes(&answer)), (74, vec!["unwritable"]));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn tables_and_databases_hold_every_record() {
    let home = tempfile::tempdir().unwrap();
    let memory = home.path().join("memory");
    let records = chain(&[r#"{"a":"x,\"y\"\n"}"#, "-5", r#""=1+1""#]);
    write(&memory, &records);
    let target = memory.to_str().unwrap();
    let csv = text(&["export", target, "--as", "csv", "-o", "-"]);
    let rows: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!((rows.len(), rows[0]), (4, "sha,id,type,timestamp,parents,payload"));
    assert!(rows[1].ends_with(r#","{""a"":""x,\""y\""\n""}""#), "{}", rows[1]);
    assert!(rows[2].ends_with(r#","-5""#) && rows[3].ends_with(r#","""=1+1""""#), "{csv}");
    assert!(rows[3].contains(&records[1].sha().to_string()));

    let database = home.path().join("all.db");
    assert_eq!(document(&["export", target, "--as", "sqlite", "-o", database.to_str().unwrap()]).0, 0);
    let counted = std::process::Command::new("python3")
        .args(["-c", "import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute('select count(*), max(payload) from records').fetchone())"])
        .arg(&database)
        .output()
        .expect("python3 is needed to read the database");
    let counted = String::from_utf8(counted.stdout).unwrap();
    assert!(counted.starts_with("(3, '{"), "{counted}");
    let (exit, answer) = document(&["export", target, "--as", "sqlite", "-o", "-"]);
    assert_eq!((exit, codes(&answer)), (2, vec!["needs-a-file"]));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("maintain") && script.contains("oneline"), "{shell}");
    }
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("man");
    assert_eq!(daybook(&["man", "--dir", dir.to_str().unwrap()]).status.code(), Some(0));
    let page = fs::read_to_string(dir.join("daybook-log.1")).unwrap();
    assert!(page.contains(".TH daybook-log 1") && page.contains("oneline"), "{page}");
    assert!(fs::read_to_string(dir.join("daybook.1")).unwrap().contains("try\\-script"));
    assert!(fs::read_dir(&dir).unwrap().count() > 15);
}
