//! `daybook compile`, `audit` and `permissions` as processes, on real folders.

use daybook_testkit::said;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str =
    "---\non: workflow_dispatch\nengine: claude\ntools: {ledger: {notes: {}}}\n---\nSay what you know.\n";
const PINS: &str =
    r#"{"version":1,"daybook":{"repository":"o/daybook","commit":"0123456789abcdef0123456789abcdef01234567"}}"#;

fn repository() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(home.path().join(".github/workflows")).expect("a folder");
    fs::write(home.path().join(".github/daybook.pins.json"), PINS).expect("pins");
    fs::write(home.path().join(".github/workflows/notes.md"), SOURCE).expect("a source");
    fs::write(home.path().join(".github/workflows/README.md"), "# No source\n").expect("a file");
    home
}

fn daybook(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(args).current_dir(folder).env_remove("GITHUB_ACTIONS").env_remove("DAYBOOK_PINS");
    said::output(&mut command)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_is_compiled_passes_the_check_until_one_byte_changes() {
    let home = repository();
    let lock = home.path().join(".github/workflows/notes.lock.yml");
    assert_eq!(daybook(home.path(), &["compile", "--check"]).status.code(), Some(1), "nothing is there yet");
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    assert_eq!(daybook(home.path(), &["compile", "--check"]).status.code(), Some(0));
    assert!(home.path().join(".github/workflows/daybook-maintenance.yml").exists());

    let good = fs::read_to_string(&lock).expect("a compiled file");
    fs::write(&lock, good.replacen("contents: read", "contents: write", 1)).expect("an edit");
    let check = daybook(home.path(), &["compile", "--check", "--format", "human"]);
    let told = text(&check.stdout);
    assert_eq!(check.status.code(), Some(1), "{told}");
    assert!(told.contains("-      contents: write") && told.contains("+      contents: read"), "{told}");
    assert!(told.contains("run daybook compile .github/workflows"), "{told}");
    let audit = daybook(home.path(), &["audit", ".github/workflows/notes.lock.yml", "--format", "json"]);
    assert_eq!(audit.status.code(), Some(1));
    assert!(text(&audit.stdout).contains("right-too-many"));

    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(&lock).expect("a compiled file"), good);
    assert_eq!(daybook(home.path(), &["audit", ".github/workflows/notes.lock.yml"]).status.code(), Some(0));
}

#[test]
fn another_version_is_named_as_such() {
    let home = repository();
    let lock = home.path().join(".github/workflows/notes.lock.yml");
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    let good = fs::read_to_string(&lock).expect("a compiled file");
    fs::write(&lock, good.replacen(env!("CARGO_PKG_VERSION"), "0.0.9", 1)).expect("an edit");
    let check = daybook(home.path(), &["compile", "--check", "--format", "json"]);
    assert_eq!(check.status.code(), Some(1));
    let told = text(&check.stdout);
    assert!(told.contains("version-differs") && told.contains("compiled by Daybook 0.0.9"), "{told}");
}

#[test]
fn a_file_whose_source_is_gone_is_named_and_pruned() {
    let home = repository();
    let folder = home.path().join(".github/workflows");
    fs::write(folder.join("foreign.lock.yml"), "on: push\njobs: {}\n").expect("a foreign file");
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    fs::remove_file(folder.join("notes.md")).expect("the source goes");
    let check = daybook(home.path(), &["compile", "--check", "--format", "json"]);
    assert_eq!(check.status.code(), Some(1));
    assert_eq!(text(&check.stdout).matches("\"stale-file\"").count(), 2, "{}", text(&check.stdout));
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0), "named, and left alone");
    assert!(folder.join("notes.lock.yml").exists());
    assert_eq!(daybook(home.path(), &["compile", "--prune"]).status.code(), Some(0));
    assert!(!folder.join("notes.lock.yml").exists() && !folder.join("daybook-maintenance.yml").exists());
    assert!(folder.join("foreign.lock.yml").exists(), "what Daybook did not compile is not Daybook's");
}

#[test]
fn one_bad_source_stops_neither_the_others_nor_its_own_old_file() {
    let home = repository();
    let folder = home.path().join(".github/workflows");
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    let maintenance = fs::read_to_string(folder.join("daybook-maintenance.yml")).expect("maintenance");
    fs::write(folder.join("bad.md"), SOURCE.replace("ledger:", "legder:")).expect("a bad source");
    fs::write(folder.join("good.md"), SOURCE.replace("notes", "other")).expect("a good source");
    let compile = daybook(home.path(), &["compile", "--format", "json"]);
    let told = text(&compile.stdout);
    assert_eq!(compile.status.code(), Some(2), "{told}");
    assert!(told.contains("did you mean \\\"ledger\\\"?") && !folder.join("bad.lock.yml").exists(), "{told}");
    assert!(folder.join("good.lock.yml").exists());
    let after = fs::read_to_string(folder.join("daybook-maintenance.yml")).expect("maintenance");
    assert_eq!(after, maintenance, "maintenance is only made from a whole set of sources");
    fs::remove_file(folder.join("bad.md")).expect("the bad source goes");
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    let after = fs::read_to_string(folder.join("daybook-maintenance.yml")).expect("maintenance");
    assert!(after.contains("ledger_compaction_plan_other:"));
}

#[test]
fn a_folder_without_a_source_is_said_and_left_as_it_is() {
    let home = repository();
    let folder = home.path().join(".github/workflows");
    fs::remove_file(folder.join("notes.md")).expect("the source goes");
    for arguments in [&["compile"][..], &["compile", ".github/workflows"]] {
        let compile = daybook(home.path(), &[arguments, &["--format", "human"]].concat());
        let told = text(&compile.stdout);
        assert_eq!(compile.status.code(), Some(2), "{told}");
        assert!(told.contains("error[no-sources]: there is no workflow source"), "{told}");
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
    fs::write(folder.join("notes.md"), SOURCE).expect("a source");
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
}

#[test]
fn permissions_are_listed_with_their_reasons() {
    let home = repository();
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    let listed = daybook(home.path(), &["permissions", ".github/workflows/notes.lock.yml", "--format", "human"]);
    let told = text(&listed.stdout);
    assert_eq!(listed.status.code(), Some(0));
    assert!(
        told.lines().any(|line| line.starts_with("persist") && line.contains("contents") && line.contains("pushes")),
        "{told}"
    );
    let none = daybook(home.path(), &["permissions", "missing.yml", "--format", "json"]);
    assert_eq!(none.status.code(), Some(74));
}
