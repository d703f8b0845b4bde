//! One run of the job, and what it left.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use daybook_core::event::MutationEvent;
use daybook_core::{Digest, Record};
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;
use daybook_testkit::said;
use serde_json::{Value, json};

/// Text that must not come out again.
pub(crate) const CANARY: &str = "canary-9c3e";

/// What stands in the files, options and variables of a job; every test changes what it is about.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) out: PathBuf,
    /// The file of the safe outputs.
    pub(crate) file: PathBuf,
    pub(crate) config: Value,
    pub(crate) outputs: Vec<u8>,
    pub(crate) verdict: Option<String>,
    /// The digest that detection found; `None` for that of the file.
    pub(crate) expect: Option<String>,
    pub(crate) options: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// How a job ended, and everything that it said.
pub(crate) struct Ended {
    pub(crate) exit: i32,
    pub(crate) report: Value,
    /// Everything that it printed or wrote, except what it hands on.
    pub(crate) said: String,
}

impl World {
    pub(crate) fn new(lines: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            out: folder.path().join("out"),
            file: folder.path().join("safe-outputs.jsonl"),
            folder,
            config: json!({
                "version": 1, "workflow": "triage",
                "ledgers": [{"name": "triage"}, {"name": "log"}, {"name": "frozen", "compaction": false}],
                "safe-outputs": {"ledger-request-compaction": {"max": 3}},
            }),
            outputs: lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes(),
            verdict: Some("clean".to_owned()),
            expect: None,
            options: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// With an API, a token and the name of the default branch.
    pub(crate) fn with_api(lines: &[String], url: &str) -> Self {
        let mut world = Self::new(lines);
        world.variables = vec![
            ("GITHUB_API_URL", url.to_owned()),
            ("GITHUB_REPOSITORY", "octo/project".to_owned()),
            ("GITHUB_TOKEN", TOKEN.to_owned()),
            ("DAYBOOK_DEFAULT_BRANCH", "trunk".to_owned()),
        ];
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the job on the bytes of this world.
    pub(crate) fn run(&self) -> Ended {
        fs::write(self.path("safe-outputs.jsonl"), &self.outputs).unwrap();
        self.run_as_it_is()
    }

    /// Runs the job on whatever stands in place of the file.
    pub(crate) fn run_as_it_is(&self) -> Ended {
        let _ = fs::remove_dir_all(&self.out);
        fs::write(self.path("config.json"), self.config.to_string()).unwrap();
        fs::write(self.path("summary.md"), "").unwrap();
        let expect = self.expect.clone().unwrap_or_else(|| format!("safe-outputs.jsonl={}", Digest::of(&self.outputs)));
        let mut command = Command::new(env!("CARGO_BIN_EXE_daybook-safe-outputs"));
        command.env_clear().env("GITHUB_STEP_SUMMARY", self.path("summary.md"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.arg("--config").arg(self.path("config.json"));
        command.arg("--safe-outputs").arg(&self.file).arg("--out").arg(&self.out);
        command.args(["--format", "json", "--expect", &expect]).args(&self.options);
        command.args(self.verdict.iter().flat_map(|verdict| ["--verdict", verdict]));
        let output = said::output(&mut command);
        let printed = String::from_utf8(output.stdout).unwrap();
        let said = [&printed, &*String::from_utf8_lossy(&output.stderr), &self.written("result.json"), &self.summary()]
            .concat();
        let folder = self.folder.path().to_str().unwrap();
        assert!(!said.contains(folder), "a path is shown: {said}");
        assert!(!said.contains(TOKEN), "the token is shown: {said}");
        let report = serde_json::from_str(&printed).unwrap_or_else(|fault| panic!("{fault}: {printed}"));
        Ended { exit: output.status.code().unwrap(), report, said }
    }

    /// A file of the result; empty where it was not written.
    pub(crate) fn written(&self, name: &str) -> String {
        fs::read_to_string(self.out.join(name)).unwrap_or_default()
    }

    pub(crate) fn result(&self) -> Value {
        serde_json::from_str(&self.written("result.json")).unwrap()
    }

    pub(crate) fn summary(&self) -> String {
        fs::read_to_string(self.path("summary.md")).unwrap_or_default()
    }
}

/// The token of the tests.
pub(crate) const TOKEN: &str = "ghs_the-token-of-this-run";

impl Ended {
    pub(crate) fn codes(&self) -> Vec<&str> {
        let diagnostics = self.report["diagnostics"].as_array().unwrap();
        diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect()
    }

    /// Holds the exit and the codes.
    pub(crate) fn assert(&self, exit: i32, codes: &[&str]) {
        assert_eq!((self.exit, self.codes()), (exit, codes.to_vec()), "{}", self.said);
    }

    pub(crate) fn message(&self) -> &str {
        self.report["diagnostics"][0]["message"].as_str().unwrap()
    }
}

pub(crate) fn records(count: usize) -> Vec<Record> {
    let mut random = Random::new(11);
    (0..count).map(|number| ledgers::record(&mut random, number, &[], 200)).collect()
}

pub(crate) fn event(record: &Record, ledger: &str) -> String {
    MutationEvent::for_record(Some(ledger), record, "2026-11-30T12:00:00.000Z").to_line()
}

pub(crate) fn request(ledger: &str) -> String {
    json!({ "type": "ledger_request_compaction", "ledger": ledger, "reason": "many small segments" }).to_string()
}
