//! `daybook try-script` as a process: this binary is its own launcher.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use daybook_testkit::git::BareRepository;
use daybook_testkit::said;
use serde_json::{Value, json};

const DAYBOOK: &str = env!("CARGO_BIN_EXE_daybook");

/// A folder for the script, the memory and temporary files.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(home.path("tmp")).unwrap();
        fs::create_dir_all(home.path("notes/facts")).unwrap();
        fs::write(home.path("notes/facts/one.json"), "{\"total\":1}").unwrap();
        fs::write(home.path("notes/read.md"), "hello\n").unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, script: &str, args: &[&str]) -> Output {
        fs::write(self.path("check.js"), script).unwrap();
        said::output(
            Command::new(DAYBOOK)
                .args(["try-script", "check.js"])
                .args(args)
                .current_dir(self.folder.path())
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("HOME", self.path("tmp"))
                .env("TMPDIR", self.path("tmp"))
                .env("SECRET_OF_THE_USER", "do not pass on"),
        )
    }

    fn json(&self, script: &str, args: &[&str]) -> (i32, Value) {
        let output = self.run(script, &[&["--format", "json"], args].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let document = serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{fault}: {text}"));
        // The copy of the memory is gone.
        assert_eq!(fs::read_dir(self.path("tmp")).unwrap().count(), 0);
        (output.status.code().unwrap(), document)
    }
}

fn code(document: &Value) -> &Value {
    &document["diagnostics"][0]["code"]
}

const IN_FOLDER: [&str; 2] = ["--memory", "notes"];

#[test]
fn a_script_consents_or_refuses_and_the_memory_stays_as_it_is() {
    let home = Home::new();
    let script = "
        const { deepStrictEqual } = require('node:assert');
        module.exports = ({ root, files, run }) => {
            console.log('looking at', files.length);
            deepStrictEqual(files.map((file) => file.path), ['facts/one.json', 'read.md']);
            deepStrictEqual(run, { branch: '', id: 'try-script', memory: 'notes' });
            deepStrictEqual(Object.keys(process.env), []);
            return JSON.parse(require('node:fs').readFileSync(`${root}/facts/one.json`)).total < 10;
        };";
    let (exit, document) = home.json(script, &IN_FOLDER);
    assert_eq!((exit, &document["outcome"]), (0, &"ok".into()), "{document}");
    assert_eq!((&document["counts"]["files"], &document["counts"]["bytes"]), (&2.into(), &17.into()));
    assert_eq!(document["printed"], json!(["looking at 2"]));
    assert!(document["sandbox"]["landlock"].as_u64().unwrap() >= 3, "{document}");
    assert!(document["node"].is_string());

    fs::write(home.path("notes/facts/one.json"), "{\"total\":11}").unwrap();
    let (exit, document) = home.json(script, &IN_FOLDER);
    assert_eq!((exit, &document["outcome"], code(&document)), (7, &"policy".into(), &"script-refused".into()));
    assert_eq!(fs::read_to_string(home.path("notes/facts/one.json")).unwrap(), "{\"total\":11}");
    assert_eq!(fs::read_dir(home.path("notes")).unwrap().count(), 2);
}

#[test]
fn every_way_not_to_consent_is_exit_7_and_says_which() {
    let home = Home::new();
    for (script, expected) in [
        ("module.exports = () => { throw new Error('no'); };", "script-threw"),
        ("process.exit(0);", "script-no-answer"),
        ("process.exit(1);", "script-exited"),
        ("module.exports = () => 1;", "script-bad-answer"),
        ("module.exports = (", "script-unusable"),
        // It waits without using the processor, whose own bound a busy script may meet first.
        ("module.exports = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);", "script-time"),
        ("module.exports = () => { for (;;) console.log('x'.repeat(1e4)); };", "script-output"),
        (&"/".repeat(100_000), "script-too-large"),
    ] {
        let (exit, document) = home.json(script, &[&IN_FOLDER[..], &["--timeout-seconds", "2"]].concat());
        assert_eq!((exit, code(&document)), (7, &expected.into()), "{document}");
    }
    let (exit, document) =
        home.json("module.exports = () => true;", &[&IN_FOLDER[..], &["--node", "nowhere"]].concat());
    assert_eq!((exit, code(&document)), (7, &"node-missing".into()));
    assert_eq!(home.json("module.exports = () => true;", &IN_FOLDER).0, 0);
}

#[test]
fn what_a_script_says_is_shown_and_commands_nobody() {
    let home = Home::new();
    let script = "module.exports = () => { console.log('::error::x\\u001b[31m'); throw new Error('::set-output name=a::\\n' + 'y'.repeat(500)); };";
    for format in ["human", "github"] {
        let output = home.run(script, &[&IN_FOLDER[..], &["--format", format]].concat());
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(7));
        assert!(stderr.contains("script: : :error: :x"), "{stderr}");
        assert!(stdout.contains("script-threw") && stdout.contains(": :set-output name=a: :"), "{stdout}");
        assert!(
            !stdout.contains(&"y".repeat(128)) && !stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'),
            "{stdout}"
        );
        let commands: Vec<&str> = stdout.lines().chain(stderr.lines()).filter(|line| line.starts_with("::")).collect();
        assert_eq!(commands.len(), usize::from(format == "github"), "{commands:?}");
    }
}

#[test]
fn a_folder_is_shown_without_its_ledger_and_without_what_is_no_plain_file() {
    let home = Home::new();
    fs::create_dir_all(home.path("notes/ledger/shards")).unwrap();
    fs::write(home.path("notes/ledger/shards/00000000-0000-4000-8000-000000000001.jsonl"), "").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", home.path("notes/link")).unwrap();
    fs::create_dir(home.path("notes/.github")).unwrap();
    let script =
        "module.exports = ({ root, files }) => files.length === 2 && require('fs').readdirSync(root).length === 2;";
    let (exit, document) = home.json(script, &IN_FOLDER);
    assert_eq!((exit, &document["counts"]["set-aside"]), (0, &2.into()), "{document}");
    assert!(
        document["diagnostics"].as_array().unwrap().iter().all(|note| note["code"] == "file-set-aside"),
        "{document}"
    );
}

#[test]
fn a_branch_is_shown_as_it_is() {
    let home = Home::new();
    let repository = BareRepository::create(&home.path("memory.git"), "sha1");
    repository.commit_files("memory/notes", &[("a/b.md", b"text"), ("ledger/shards/x", b"no")]);
    let target = repository.path().to_str().unwrap();
    let script = "module.exports = ({ files, run }) => files.length === 1 && files[0].path === 'a/b.md' && run.branch === 'memory/notes' && run.memory === 'memory';";
    let (exit, document) = home.json(script, &["--memory", target, "--branch", "memory/notes"]);
    assert_eq!(exit, 0, "{document}");
    for (args, expected) in [
        (["--memory", target, "--branch", "memory/other"].as_slice(), "no-such-branch"),
        (&["--memory", target, "--branch", "../x"], "bad-branch"),
        (&["--memory", target], "no-branch"),
        (&["--memory", "nowhere"], "no-such-folder"),
    ] {
        let (exit, document) = home.json(script, args);
        assert_eq!((exit, code(&document)), (2, &expected.into()), "{document}");
    }
}

#[test]
fn a_script_that_cannot_be_read_is_said() {
    let home = Home::new();
    let run = |file: &Path| {
        let output =
            said::output(Command::new(DAYBOOK).arg("try-script").arg(file).arg("--memory").arg(home.path("notes")));
        output.status.code()
    };
    assert_eq!(run(&home.path("nowhere.js")), Some(74));
    fs::write(home.path("latin.js"), b"// \xff").unwrap();
    assert_eq!(run(&home.path("latin.js")), Some(2));
}
