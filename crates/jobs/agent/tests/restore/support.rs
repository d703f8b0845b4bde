//! A place to restore into, and what the step said.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use daybook_core::baseline::Baseline;
use daybook_testkit::git::BareRepository;
use daybook_testkit::said;
use serde_json::Value;

pub(crate) const RECORD: &str = r#"{"id":"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52","parents":[],"payload":{"a":1},"sha":"sha256:77fa2bb1e26b49905c9d410de2d5edde34320a6470619115ba246372f99384f1","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":1}"#;
pub(crate) const SHARD: &str = "ledger/shards/00000000-0000-4000-8000-000000000001.jsonl";
pub(crate) const BRANCH: &str = "ledgers/triage";

pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    /// Where memories go; `None` where nobody says so.
    pub(crate) memory_root: Option<PathBuf>,
    pub(crate) baseline: PathBuf,
}

pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) report: Value,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = r#"{"version":1,"workflow":"triage","memories":[{"id":"notes","branch":"memory/notes"}],"ledgers":[{"name":"triage"}]}"#;
        fs::write(folder.path().join("config.json"), config).unwrap();
        let (memory_root, baseline) = (folder.path().join("memory"), folder.path().join("baseline.json"));
        Self { folder, memory_root: Some(memory_root), baseline }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn bare(&self, format: &str) -> BareRepository {
        BareRepository::create(&self.path("remote.git"), format)
    }

    pub(crate) fn restore(&self, remote: &str, environment: &[(&str, &str)]) -> Outcome {
        let output = said::output(
            Command::new(env!("CARGO_BIN_EXE_daybook-agent"))
                .args(["restore", "--format", "json", "--remote", remote, "--config"])
                .arg(self.path("config.json"))
                .args(self.memory_root.iter().flat_map(|root| [OsStr::new("--memory-root"), root.as_os_str()]))
                .arg("--baseline")
                .arg(&self.baseline)
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap())
                .env("HOME", self.folder.path())
                .env("GITHUB_OUTPUT", self.path("output"))
                .envs(environment.iter().copied()),
        );
        let stderr = String::from_utf8(output.stderr).unwrap();
        let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        Outcome { code: output.status.code().unwrap(), report, stderr }
    }

    pub(crate) fn baseline(&self) -> Baseline {
        Baseline::parse(&fs::read(self.path("baseline.json")).unwrap()).unwrap()
    }

    pub(crate) fn nothing_is_left(&self) {
        assert!(!self.path("memory/notes").exists() && !self.path("memory/triage").exists(), "a memory was left");
        assert!(!self.path("baseline.json").exists() && !self.path("output").exists());
    }
}

pub(crate) fn code(outcome: &Outcome) -> &str {
    outcome.report["diagnostics"][0]["code"].as_str().unwrap_or_default()
}

pub(crate) fn files_below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
                files.push(format!("{mode:o} {}", entry.path().strip_prefix(folder).unwrap().display()));
            }
        }
    }
    files.sort();
    files
}
