//! `daybook verify` and `daybook canon` as processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use daybook_core::{Draft, Limits, Record, RecordId, json};
use daybook_testkit::git::BareRepository;
use daybook_testkit::said;
use daybook_testkit::vectors;
use serde_json::Value;

const DAYBOOK: &str = env!("CARGO_BIN_EXE_daybook");

fn daybook(args: &[&str]) -> Output {
    let path = std::env::var_os("PATH").unwrap_or_default();
    said::output(Command::new(DAYBOOK).args(args).env_clear().env("PATH", path))
}

fn verify(args: &[&str]) -> (i32, Value) {
    let output = daybook(&[&["verify", "--format", "json"], args].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{fault}: {text}")))
}

fn codes(document: &Value) -> Vec<&str> {
    document["diagnostics"].as_array().unwrap().iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect()
}

/// A copy of the reference ledger that a test may spoil.
fn reference(folder: &Path) -> Vec<std::path::PathBuf> {
    let shards = folder.join("ledger/shards");
    fs::create_dir_all(&shards).unwrap();
    for file in fs::read_dir(vectors::root().join("reference-ledger/ledger/shards")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), shards.join(file.file_name())).unwrap();
    }
    let mut files: Vec<_> = fs::read_dir(&shards).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn the_ledger_that_the_reference_wrote_has_no_diagnostics_in_a_folder_and_on_a_branch() {
    let folder = tempfile::tempdir().unwrap();
    reference(folder.path());
    let (exit, in_folder) = verify(&[folder.path().to_str().unwrap()]);
    assert_eq!((exit, &in_folder["outcome"]), (0, &"ok".into()));
    assert_eq!(in_folder["counts"]["records"], 1000);
    assert_eq!(in_folder["diagnostics"], serde_json::json!([]));
    assert_eq!(in_folder["heads"].as_array().unwrap().len(), 1);

    let home = tempfile::tempdir().unwrap();
    let repository = BareRepository::create(&home.path().join("memory.git"), "sha1");
    let files = reference(folder.path()).into_iter().map(|file| {
        let name = file.file_name().unwrap().to_str().unwrap();
        (format!("ledger/shards/{name}"), fs::read(&file).unwrap())
    });
    let files: Vec<(String, Vec<u8>)> = files.collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    let commit = repository.commit_files("ledgers/triage", &files);
    let target = repository.path().to_str().unwrap().to_owned();
    let (exit, on_branch) = verify(&[&target, "--branch", "ledgers/triage"]);
    assert_eq!(exit, 0);
    assert_eq!(on_branch["heads"], in_folder["heads"]);
    assert_eq!(on_branch["counts"], in_folder["counts"]);

    // The only ledger needs no name; of two, one must be named.
    assert_eq!(verify(&[&target]).1["heads"], in_folder["heads"]);
    repository.git(&["update-ref", "refs/heads/ledgers/other", &commit]);
    let (exit, document) = verify(&[&target]);
    assert_eq!((exit, codes(&document)), (2, vec!["no-branch"]));
    let message = document["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("ledgers/other, ledgers/triage"), "{message}");
    assert_eq!(verify(&[&target, "--branch", "ledgers/none"]).0, 2);
    assert_eq!(verify(&[&target, "--branch", "-x"]).0, 2);
}

// DB-2-07, DB-8-05, DB-9-05, DB-10-02
#[test]
fn a_spoiled_record_is_found_named_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let files = reference(folder.path());
    let good = fs::read_to_string(&files[3]).unwrap();
    let lines = good.lines().count() as u64;
    fs::write(&files[3], good.replacen("\"type\":\"", "\"type\":\"x", 1)).unwrap();
    let (exit, document) = verify(&[folder.path().to_str().unwrap()]);
    assert_eq!((exit, &document["outcome"]), (1, &"findings".into()));
    // Its children now miss a parent, which is a note; the error is the one record.
    let diagnostics = document["diagnostics"].as_array().unwrap();
    let errors: Vec<&Value> = diagnostics.iter().filter(|diagnostic| diagnostic["severity"] == "error").collect();
    assert_eq!(errors.len(), 1);
    assert_eq!((&errors[0]["code"], &errors[0]["line"]), (&"invalid-sha".into(), &1.into()));
    assert_eq!(errors[0]["shard"].as_str().unwrap(), files[3].file_stem().unwrap().to_str().unwrap());
    assert_eq!(document["counts"]["records"], 999);
    assert!(lines > 1, "the other records of the shard are among them");

    fs::write(&files[3], good).unwrap();
    assert_eq!(verify(&[folder.path().to_str().unwrap()]).0, 0);
}

#[test]
fn each_kind_of_damage_is_named_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let files = reference(folder.path());
    let target = folder.path().to_str().unwrap();
    let good = fs::read_to_string(&files[3]).unwrap();
    let half = &good[..good.len() / 2];
    let shard = files[3].file_stem().unwrap().to_str().unwrap();
    for (damaged, code, place) in [
        (format!("{{\n{good}"), "invalid-json", "line 1"),
        (good.replacen("\"version\":1", "\"version\":2", 1), "unsupported-version", "line 1"),
        (good.replacen("{\"id\"", "{ \"id\"", 1), "invalid-envelope", "line 1"),
        (half.trim_end().to_owned(), "truncated-record", &format!("line {}", half.trim_end().lines().count())),
    ] {
        fs::write(&files[3], damaged).unwrap();
        let (exit, document) = verify(&[target]);
        let first = &document["diagnostics"][0];
        assert_eq!((exit, &first["code"]), (1, &code.into()), "{document}");
        assert!(first["message"].as_str().unwrap().ends_with(&format!("shard {shard}, {place}")), "{first}");
    }
    // More than anybody reads is counted.
    fs::write(&files[3], format!("{good}{}", "?\n".repeat(1000))).unwrap();
    let (exit, document) = verify(&[target]);
    assert_eq!(
        (exit, document["counts"]["diagnostics"].as_u64(), codes(&document).last()),
        (1, Some(1000), Some(&"not-listed"))
    );

    fs::write(&files[3], good).unwrap();
    let id = RecordId::from_text(b"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52").unwrap();
    let two = ["1", "2"].map(|payload| {
        let payload = json::parse(payload.as_bytes()).unwrap();
        let draft = Draft { id, kind: "note", timestamp: "2026-03-01T12:00:01.000Z", parents: &[], payload: &payload };
        [Record::build(&draft, &Limits::default()).unwrap().line(), b"\n"].concat()
    });
    fs::write(files[0].with_file_name("00000000-0000-4000-8000-00000000000f.jsonl"), two.concat()).unwrap();
    let (exit, document) = verify(&[target]);
    assert_eq!(
        (exit, codes(&document), &document["counts"]["records"]),
        (1, vec!["duplicate-id-conflict"], &1002.into())
    );
}

#[test]
fn notes_alone_do_not_fail() {
    let folder = tempfile::tempdir().unwrap();
    let files = reference(folder.path());
    fs::copy(&files[0], files[0].with_file_name("00000000-0000-4000-8000-00000000000f.jsonl")).unwrap();
    let (exit, document) = verify(&[folder.path().to_str().unwrap()]);
    assert_eq!((exit, &document["outcome"]), (0, &"ok".into()));
    assert!(codes(&document).iter().all(|code| *code == "duplicate-record") && !codes(&document).is_empty());
    assert_eq!(document["counts"]["records"], 1000);
}

#[test]
fn what_is_no_ledger_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(verify(&[&at("missing")]).0, 2);
    fs::create_dir_all(folder.path().join("plain")).unwrap();
    let (exit, document) = verify(&[&at("plain")]);
    assert_ne!(exit, 0);
    assert!(codes(&document)[0].starts_with("remote-"), "{document}");

    // A link in place of the shards is refused, not followed.
    let real = folder.path().join("real");
    reference(&real);
    fs::create_dir_all(folder.path().join("linked/ledger")).unwrap();
    std::os::unix::fs::symlink(real.join("ledger/shards"), folder.path().join("linked/ledger/shards")).unwrap();
    let (exit, document) = verify(&[&at("linked")]);
    assert_eq!((exit, codes(&document)), (3, vec!["not-a-folder"]));

    fs::create_dir_all(folder.path().join("empty/ledger/shards")).unwrap();
    let (exit, document) = verify(&[&at("empty")]);
    assert_eq!((exit, &document["counts"]["records"]), (0, &0.into()));
}

#[test]
fn the_human_form_says_the_same_and_errors_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    reference(folder.path());
    let output = daybook(&["verify", "--format", "human", folder.path().to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1000 records, 1 heads, 0 diagnostics"), "{text}");
    let output = daybook(&["verify", "--format", "human", "/nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stdout).unwrap().contains("there is no /nowhere"));
}

#[test]
fn canonical_text_and_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("value.json");
    fs::write(&file, "{ \"b\": 1.0, \"10\": [], \"2\": null }").unwrap();
    let output = daybook(&["canon", file.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (canonical, sha256) = text.trim_end().split_once('\n').unwrap();
    assert_eq!(canonical, r#"{"2":null,"10":[],"b":1}"#);
    assert_eq!(sha256, daybook_core::Digest::of(canonical.as_bytes()).to_string());
    fs::write(&file, "{\"a\":1,\"a\":2}").unwrap();
    assert_eq!(daybook(&["canon", file.to_str().unwrap()]).status.code(), Some(3));
}
