//! From an empty repository to a dry run, and a folder that is watched.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use daybook_testkit::said;
use serde_json::Value;

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(args).current_dir(folder);
    for name in ["GITHUB_ACTIONS", "DAYBOOK_PINS", "DAYBOOK_FORMAT", "DAYBOOK_COLOR"] {
        command.env_remove(name);
    }
    command
}

fn daybook(folder: &Path, args: &[&str]) -> Output {
    said::output(&mut command(folder, args))
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
}

fn repository() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir(home.path().join(".git")).expect("a repository");
    home
}

#[test]
fn an_empty_repository_is_three_commands_from_a_dry_run() {
    for engine in ["claude", "copilot", "codex", "gemini"] {
        let home = repository();
        let init = json(&daybook(home.path(), &["init", "--engine", engine, "--format", "json"]));
        assert_eq!((&init["outcome"], &init["counts"]["written"]), (&"ok".into(), &4.into()), "{init}");
        let compile = daybook(home.path(), &["compile", "--format", "json"]);
        assert_eq!(compile.status.code(), Some(0), "{engine}: {compile:?}");
        assert_eq!(json(&compile)["diagnostics"][0]["code"], "tools-placeholder");
        let lock = fs::read_to_string(home.path().join(".github/workflows/remember.lock.yml")).expect("a workflow");
        assert!(lock.contains("ledgers/remember"), "{lock}");
    }
    let home = repository();
    assert_eq!(daybook(home.path(), &["init"]).status.code(), Some(0));
    assert_eq!(daybook(home.path(), &["compile"]).status.code(), Some(0));
    let dry_run = daybook(home.path(), &["dry-run", "--format", "json"]);
    let story = json(&dry_run);
    assert_eq!((dry_run.status.code(), &story["counts"]["records-added"]), (Some(0), &2.into()), "{story}");
}

#[test]
fn nothing_is_overwritten_and_a_second_workflow_has_to_be_named() {
    let home = repository();
    assert_eq!(daybook(home.path(), &["init"]).status.code(), Some(0));
    let source = home.path().join(".github/workflows/remember.md");
    fs::write(&source, "mine").expect("an edit");
    let again = json(&daybook(home.path(), &["init", "--format", "json"]));
    assert_eq!((&again["counts"]["written"], &again["counts"]["kept"]), (&0.into(), &4.into()), "{again}");
    let told: Vec<&Value> = again["diagnostics"].as_array().expect("notes").iter().map(|one| &one["code"]).collect();
    assert_eq!(told, ["file-kept"; 4], "{again}");
    assert_eq!(fs::read_to_string(&source).expect("the file"), "mine");
    fs::remove_file(&source).expect("removed");
    assert_eq!(daybook(home.path(), &["init"]).status.code(), Some(0));
    assert_eq!(daybook(home.path(), &["init", "another"]).status.code(), Some(0));
    let which = json(&daybook(home.path(), &["dry-run", "--format", "json"]));
    let message = which["diagnostics"][0]["message"].as_str().expect("a message");
    assert!(message.contains("another.md") && message.contains("remember.md"), "{message}");
}

#[test]
fn a_wrong_name_or_folder_writes_nothing() {
    let home = repository();
    fs::create_dir(home.path().join("inner")).expect("a folder");
    for (folder, args, code) in
        [("inner", &["init"][..], "not-the-root"), (".", &["init", "a b"], "usage"), (".", &["init", "../x"], "usage")]
    {
        let refused = daybook(&home.path().join(folder), &[args, &["--format", "json"]].concat());
        assert_eq!((refused.status.code(), &json(&refused)["diagnostics"][0]["code"]), (Some(2), &code.into()));
    }
    assert!(!home.path().join(".github").exists() && !home.path().join("inner/.github").exists());
    assert_eq!(daybook(home.path(), &["init"]).status.code(), Some(0));
}

/// A process that is stopped at the end of its test.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_watched_folder_is_compiled_again_after_each_change() {
    let home = repository();
    assert_eq!(daybook(home.path(), &["init"]).status.code(), Some(0));
    let folder = home.path().join(".github/workflows");
    let (source, lock) = (folder.join("remember.md"), folder.join("remember.lock.yml"));
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let watching = command(home.path(), &["compile", "--watch"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut watching = Watching(watching.expect("daybook runs"));
    until("compiled at once", || text(&lock).contains("name: Remember what was learned"));
    let good = text(&source);
    fs::write(&source, good.replace("tools:", "tolos:")).expect("a mistake");
    std::thread::sleep(Duration::from_secs(2));
    fs::write(&source, good.replace("name: Remember what was learned", "name: Another name")).expect("an edit");
    until("compiled again, after a mistake, too", || text(&lock).contains("name: Another name"));
    assert!(watching.0.try_wait().expect("a state").is_none(), "it ended");
}
