//! A folder, a clone and a URL are one ledger.

use std::fs;
use std::process::Command;

use daybook_testkit::git::BareRepository;

use crate::support::{codes, commit, daybook, document, reference, reference_files};

#[test]
fn a_folder_a_clone_and_a_url_give_the_same_document() {
    let home = tempfile::tempdir().unwrap();
    let repository = BareRepository::create(&home.path().join("memory.git"), "sha1");
    commit(&repository, "ledgers/triage", &reference_files());
    let clone = home.path().join("clone");
    let cloned = Command::new("git")
        .args(["clone", "--quiet", "--bare", &repository.url(), clone.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    let checkout = home.path().join("checkout");
    let checked_out = Command::new("git")
        .args(["clone", "--quiet", "--branch", "ledgers/triage", &repository.url(), checkout.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(checked_out.status.success(), "{}", String::from_utf8_lossy(&checked_out.stderr));
    let targets: [Vec<String>; 5] = [
        vec![reference()],
        vec![clone.to_str().unwrap().to_owned()],
        vec![checkout.to_str().unwrap().to_owned()],
        vec![checkout.to_str().unwrap().to_owned(), "--branch".to_owned(), "ledgers/triage".to_owned()],
        vec![repository.url(), "--branch".to_owned(), "ledgers/triage".to_owned()],
    ];
    let first = document(&["verify", &reference()]).1;
    assert_eq!(first["counts"]["records"], 1000);
    let commands: [&[&str]; 5] =
        [&["verify"], &["status"], &["log", "--limit", "7"], &["heads"], &["query", "--type", "note", "--limit", "5"]];
    for command in commands {
        let mut answers = Vec::new();
        for target in &targets {
            let mut args = command.to_vec();
            args.extend(target.iter().map(String::as_str));
            let (exit, mut answer) = document(&args);
            assert_eq!(exit, 0, "{args:?}");
            forget_ages(&mut answer);
            answers.push(answer);
        }
        if command[0] == "verify" {
            assert_eq!(answers[0], first);
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{command:?}");
    }
}

/// Ages grow between two runs.
fn forget_ages(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(members) => {
            members.remove("age_seconds");
            members.values_mut().for_each(forget_ages);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(forget_ages),
        _ => {}
    }
}

#[test]
fn a_clone_without_the_branch_is_told_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let repository = BareRepository::create(&home.path().join("memory.git"), "sha1");
    commit(&repository, "main", &[("README.md".to_owned(), b"x\n".to_vec())]);
    commit(&repository, "ledgers/triage", &reference_files());
    let clone = home.path().join("clone");
    let cloned =
        Command::new("git").args(["clone", "--quiet", &repository.url(), clone.to_str().unwrap()]).output().unwrap();
    assert!(cloned.status.success());
    let target = clone.to_str().unwrap();
    for args in [vec!["log", target], vec!["log", target, "--branch", "ledgers/triage"]] {
        let (exit, answer) = document(&args);
        assert_eq!(exit, 2);
        let message = answer["diagnostics"][0]["message"].as_str().unwrap();
        assert!(message.contains("git fetch origin NAME:NAME"), "{message}");
    }
    let fetched = Command::new("git")
        .args(["fetch", "--quiet", "origin", "ledgers/triage:ledgers/triage"])
        .current_dir(&clone)
        .output()
        .unwrap();
    assert!(fetched.status.success());
    assert_eq!(document(&["log", target]).0, 0);
}

#[test]
fn every_command_refuses_what_is_no_ledger_in_the_form_that_was_asked_for() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("plain")).unwrap();
    let plain = home.path().join("plain").to_str().unwrap().to_owned();
    let out = home.path().join("out").to_str().unwrap().to_owned();
    let commands: [(&str, &[&str]); 8] = [
        ("verify", &[]),
        ("status", &[]),
        ("log", &[]),
        ("heads", &[]),
        ("query", &[]),
        ("show", &["abcd"]),
        ("diff", &["HEAD~1..HEAD"]),
        ("export", &["-o", &out]),
    ];
    for (command, rest) in commands {
        let (exit, answer) = document(&[&[command, "/nowhere"], rest].concat());
        assert_eq!((exit, codes(&answer)), (2, vec!["no-such-folder"]), "{command}");
        let (exit, answer) = document(&[&[command, plain.as_str()], rest].concat());
        assert!(exit != 0 && codes(&answer)[0].starts_with("remote-"), "{command}: {answer}");
        assert!(!fs::exists(&out).unwrap());
        let output = daybook(&[&[command, "/nowhere", "--format", "human"], rest].concat());
        assert!(String::from_utf8_lossy(&output.stdout).contains("there is no /nowhere"), "{command}");
    }
}
