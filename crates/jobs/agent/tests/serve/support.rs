//! A restored memory and a server for it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use daybook_core::event::MutationEvent;
use daybook_core::limits::Count;
use daybook_core::{Digest, Ledger, ShardId};
use daybook_testkit::said;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Text that no reply and no log may show.
pub(crate) const CANARY: &str = "canary-3f1d";

/// A restored memory, empty, and what a server for it needs.
pub(crate) struct Fixture {
    folder: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_ledger(json!({"name": "triage", "memory": "triage"}))
    }

    pub(crate) fn with_ledger(ledger: Value) -> Self {
        Self::with_ledgers(&[ledger])
    }

    /// Each ledger has a memory of its own name.
    pub(crate) fn with_ledgers(ledgers: &[Value]) -> Self {
        let folder = tempfile::Builder::new().prefix("daybook-hidden-place").tempdir().unwrap();
        let ids: Vec<&str> = ledgers.iter().filter_map(|ledger| ledger["name"].as_str()).collect();
        let branch = |id: &str| format!("ledgers/{id}");
        let memories: Vec<Value> = ids.iter().map(|id| json!({"id": id, "branch": branch(id)})).collect();
        let config =
            json!({"version": 1, "workflow": "triage", "memories": memories, "ledgers": ledgers, "safe-outputs": {}});
        let mut ids = ids;
        ids.sort_unstable();
        let memories: Vec<Value> = ids
            .iter()
            .map(|id| json!({"base": "", "branch": branch(id), "files": [], "id": id, "records": []}))
            .collect();
        let baseline = json!({"memories": memories, "version": 1});
        std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
        std::fs::write(folder.path().join("baseline.json"), baseline.to_string()).unwrap();
        for id in ids {
            std::fs::create_dir_all(folder.path().join("memory").join(id)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_daybook-agent")))
    }

    pub(crate) fn command_of(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command.env_clear().arg("serve").arg("--config").arg(self.path("config.json"));
        command.arg("--memory-root").arg(self.path("memory")).arg("--baseline").arg(self.path("baseline.json"));
        command.arg("--transaction-log").arg(self.path("log.jsonl"));
        command
    }

    /// Runs a server that cannot start.
    pub(crate) fn refused(&self) -> Output {
        let output = said::output(&mut self.command());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.stdout.is_empty() && !said.contains("hidden-place"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        output
    }

    /// The ledger as a fresh reader finds it.
    pub(crate) fn ledger(&self) -> Ledger {
        let mut builder = Ledger::builder(Count::new(1024));
        let shards = self.path("memory/triage/ledger/shards");
        for entry in std::fs::read_dir(shards).into_iter().flatten() {
            let entry = entry.unwrap();
            if let Some(shard) = entry.file_name().to_str().and_then(ShardId::from_file_name) {
                builder.add_shard(shard, &std::fs::read(entry.path()).unwrap());
            }
        }
        builder.finish()
    }

    /// The records that the log tells of. Half a line may have been left by a server that was killed.
    pub(crate) fn logged_shas(&self) -> BTreeSet<Digest> {
        let log = std::fs::read(self.path("log.jsonl")).unwrap_or_default();
        log.split(|byte| *byte == b'\n')
            .filter_map(|line| MutationEvent::parse(line).ok())
            .map(|event| event.record_sha())
            .collect()
    }

    pub(crate) fn log_lines(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.path("log.jsonl")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn note(text: &str) -> Value {
    json!({"type": "note", "payload": {"text": text}})
}
