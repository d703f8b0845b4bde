//! A project with a memory, and a run whose every job is a process of its own.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use daybook_core::shard::checked_lines;
use daybook_core::{Digest, MemoryPath};
use daybook_runner::outputs;
use daybook_testkit::api::ApiServer;
use daybook_testkit::git::BareRepository;
use daybook_testkit::mcp::Client;
use daybook_testkit::said;
use serde_json::{Value, json};

/// Text of the attacker's; it must not come out of any job.
pub(crate) const CANARY: &str = "canary-e07b";

const BRANCH: &str = "ledgers/triage";

/// A remote with the memory's branch.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    bare: BareRepository,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bare = BareRepository::create(&folder.path().join("remote.git"), "sha1");
        Self { folder, bare }
    }

    pub(crate) fn head(&self) -> Option<String> {
        self.bare.head(BRANCH)
    }

    /// The paths of all shards on the branch.
    pub(crate) fn shards(&self) -> Vec<String> {
        let listing = if self.head().is_some() { self.bare.listing(BRANCH) } else { Vec::new() };
        let paths = listing.iter().map(|line| line.split_once(' ').unwrap().1.to_owned());
        paths.filter(|path| MemoryPath::parse(path).unwrap().shard().is_some()).collect()
    }

    /// The digests of all records on the branch.
    pub(crate) fn records(&self) -> BTreeSet<Digest> {
        let mut records = BTreeSet::new();
        for shard in self.shards() {
            let text = format!("{}\n", self.bare.file(BRANCH, &shard).trim_end());
            records.extend(checked_lines(text.as_bytes()).map(|line| line.unwrap().sha()));
        }
        records
    }

    /// No file and no commit of the branch holds text of the attacker's.
    pub(crate) fn holds_nothing_forged(&self) {
        for line in self.bare.listing(BRANCH) {
            let path = line.split_once(' ').unwrap().1;
            assert!(!path.starts_with("ledger/coverage"), "a coverage declaration landed");
            assert!(!self.bare.file(BRANCH, path).contains(CANARY), "{path}");
        }
        assert!(!self.bare.git(&["log", "--format=%B%an%ae", BRANCH]).contains(CANARY));
    }
}

/// The files of one run.
pub(crate) struct Run<'p> {
    project: &'p Project,
    folder: PathBuf,
    /// Everything that any job printed, or wrote for people.
    said: RefCell<String>,
}

/// How a job ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: i32,
    pub(crate) report: Value,
    stderr: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn assert(&self, exit: i32) {
        assert_eq!(self.exit, exit, "{:#}\n{}", self.report, self.stderr);
    }

    pub(crate) fn codes(&self) -> Vec<String> {
        let diagnostics = self.report["diagnostics"].as_array().unwrap();
        diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap().to_owned()).collect()
    }
}

impl<'p> Run<'p> {
    /// A run whose memory was restored.
    pub(crate) fn restore(project: &'p Project) -> Self {
        let run = Self::empty(project);
        run.job("restore", &["--remote", &project.bare.url(), "--memory-root", "memory"], &[]).assert(0);
        run
    }

    /// A run without anything but its configuration.
    pub(crate) fn empty(project: &'p Project) -> Self {
        let folder = tempfile::tempdir_in(project.folder.path()).unwrap().keep();
        let run = Self { project, folder, said: RefCell::default() };
        run.write("config.json", r#"{"version":1,"workflow":"triage","ledgers":[{"name":"triage"}]}"#);
        run.write("safe-outputs.jsonl", "");
        run
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    /// Appends records through the real server; their digests.
    pub(crate) fn append(&mut self, count: u64) -> BTreeSet<Digest> {
        let mut command = self.command("agent");
        command.args([
            "serve",
            "--config",
            "config.json",
            "--memory-root",
            "memory",
            "--transaction-log",
            "transaction-log.jsonl",
        ]);
        let mut client = Client::start(command);
        let append = |number: u64| {
            let payload = json!({ "number": number, "text": "the report was reproduced" });
            let appended = client.call("ledger_append", &json!({ "type": "note", "payload": payload })).unwrap();
            appended["sha"].as_str().unwrap().parse().unwrap()
        };
        let digests = (0..count).map(append).collect();
        assert_eq!(client.close(), 0);
        digests
    }

    pub(crate) fn merge(&self) -> Ended {
        let files = ["--transaction-log", "transaction-log.jsonl", "--safe-outputs", "safe-outputs.jsonl"];
        self.job("merge", &[&files[..], &["--memory-root", "memory", "--out", "staged"]].concat(), &[])
    }

    pub(crate) fn detect(&self) -> Ended {
        let files = ["--transaction-log", "transaction-log.jsonl", "--safe-outputs", "safe-outputs.jsonl"];
        self.job("detect", &[&files[..], &["--staged", "staged", "--out", "findings"]].concat(), &[])
    }

    pub(crate) fn safe_outputs(&self, api: &ApiServer) -> Ended {
        let variables = [
            ("GITHUB_API_URL", api.url()),
            ("GITHUB_REPOSITORY", "octo/project"),
            ("GITHUB_TOKEN", "token"),
            ("DAYBOOK_DEFAULT_BRANCH", "main"),
        ];
        let bound = self.bound();
        let bound: Vec<&str> = bound.iter().map(String::as_str).collect();
        let files = ["--safe-outputs", "safe-outputs.jsonl", "--out", "outputs"];
        self.job("safe-outputs", &[&files[..], &bound].concat(), &variables)
    }

    pub(crate) fn persist(&self) -> Ended {
        let base = format!("triage={}", self.output("restore", "base_triage"));
        let bound = self.bound();
        let bound: Vec<&str> = bound.iter().map(String::as_str).collect();
        let url = self.project.bare.url();
        let own = ["--remote", &url, "--staged", "staged", "--base", &base, "--run-id", "run"];
        self.job("persist", &[&own[..], &bound].concat(), &[])
    }

    /// Every job behind the agent.
    pub(crate) fn all(&self, api: &ApiServer) -> Vec<Ended> {
        vec![self.merge(), self.detect(), self.safe_outputs(api), self.persist()]
    }

    /// What earlier jobs said of the bytes, as a compiled workflow hands it on.
    fn bound(&self) -> Vec<String> {
        let baseline = format!("baseline.json={}", self.output("restore", "baseline"));
        let options = [
            ["--expect", &baseline],
            ["--expect", &self.output("detect", "expect")],
            ["--verdict", &self.output("detect", "verdict")],
        ];
        options.concat().into_iter().map(str::to_owned).collect()
    }

    fn output(&self, job: &str, name: &str) -> String {
        let said = fs::read_to_string(self.path(&format!("{job}.outputs"))).unwrap_or_default();
        outputs::parse(&said).remove(name).unwrap_or_default()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
        command.args(["job", program]).current_dir(&self.folder).env_clear().stdin(Stdio::null());
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.folder)
            .env("DAYBOOK_BASELINE", "baseline.json");
        command
    }

    /// Runs a job and takes down everything that it says.
    fn job(&self, name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let mut command = self.command(if name == "restore" { "agent" } else { name });
        if name == "restore" {
            command.arg("restore");
        }
        let [outputs, summary] = ["outputs", "summary"].map(|kind| self.path(&format!("{name}.{kind}")));
        command.args(["--config", "config.json", "--format", "json"]).args(arguments).envs(variables.iter().copied());
        command.env("GITHUB_OUTPUT", &outputs).env("GITHUB_STEP_SUMMARY", &summary);
        let output = said::output(&mut command);
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut said = self.said.borrow_mut();
        said.push_str(&stdout);
        said.push_str(&stderr);
        let written = ["findings/findings.json", "findings/findings.sarif", "outputs/result.json"];
        for file in [outputs, summary].into_iter().chain(written.map(|file| self.path(file))) {
            said.push_str(&fs::read_to_string(file).unwrap_or_default());
        }
        let report = serde_json::from_str(&stdout).unwrap_or_else(|fault| panic!("{name}: {fault}: {stdout}{stderr}"));
        Ended { exit: output.status.code().expect("no signal"), report, stderr }
    }

    /// No job said or wrote text of the attacker's.
    pub(crate) fn shows_nothing_forged(&self) {
        let said = self.said.borrow();
        let at = said.find(CANARY);
        assert!(at.is_none(), "{:?}", at.map(|at| &said[at.saturating_sub(300)..at + CANARY.len()]));
    }
}

/// The line of a log that is about a record.
pub(crate) fn event_of(log: &str, sha: &Digest) -> String {
    let needle = format!("\"sha\":\"{sha}\"");
    log.lines().find(|line| line.contains(&needle)).expect("the server logs each append").to_owned()
}

/// A well-formed line about a record that does not exist, with text that no event has.
pub(crate) fn forged(line: &str, number: u64) -> String {
    let mut event: Value = serde_json::from_str(line).unwrap();
    event["record"]["sha"] = Digest::of(&number.to_be_bytes()).to_string().into();
    event["note"] = CANARY.into();
    format!("{event}\n")
}

pub(crate) fn coverage_path() -> String {
    format!("ledger/coverage/{}.jsonl", "a".repeat(64))
}
