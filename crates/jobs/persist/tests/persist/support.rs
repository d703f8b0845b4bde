//! A bare remote, a run that started from it, and the job as its own process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use daybook_branch::{BranchName, Remote, TreeBounds};
use daybook_core::baseline::{Baseline, FileBaseline, MemoryBaseline};
use daybook_core::{Digest, Draft, Ledger, Limits, MemoryPath, Record, RecordId, json};
use daybook_store::staged::Writer;
use daybook_testkit::git::BareRepository;
pub(crate) use daybook_testkit::job::{Job, Outcome};

pub(crate) const BRANCH: &str = "ledgers/triage";

/// A remote and a place for the files of runs.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) bare: BareRepository,
    pub(crate) ledger: String,
    /// Members of the memory's configuration besides its id and branch, each with a comma before it.
    pub(crate) memory: String,
    /// How the workflow weighs findings.
    pub(crate) detection: String,
}

/// What one run hands to the job. The fields are what an attacker, or a mistake, may change.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) baseline: Vec<u8>,
    pub(crate) base: String,
    /// The memory that the base is said to be of.
    pub(crate) base_of: &'static str,
    pub(crate) id: &'static str,
    pub(crate) verdict: Option<&'static str>,
    pub(crate) options: Vec<String>,
    pub(crate) staged: bool,
    /// Whether the tar says of every file what became of it.
    pub(crate) complete: bool,
    /// Another way to the same repository; empty for none at all.
    pub(crate) remote: Option<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// Changes the bytes of the tar after its digest was taken.
    pub(crate) exchange: Option<Vec<u8>>,
    /// A tar in place of one made from the files.
    pub(crate) raw_tar: Option<Vec<u8>>,
    /// What becomes of the files of the job before it starts.
    pub(crate) spoil: fn(&Path),
    /// Words before the program, such as a shell that bounds it.
    pub(crate) before: Vec<String>,
}

impl World {
    pub(crate) fn new(format: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bare = BareRepository::create(&folder.path().join("remote.git"), format);
        Self {
            folder,
            bare,
            ledger: r#"{"name":"triage","memory":"triage"}"#.to_owned(),
            memory: String::new(),
            detection: "{}".to_owned(),
        }
    }

    /// With members added to the ledger's configuration.
    pub(crate) fn configured(mut self, members: &str) -> Self {
        self.ledger = format!(r#"{{"name":"triage","memory":"triage",{members}}}"#);
        self
    }

    /// With members of the memory's configuration, and without a ledger.
    pub(crate) fn of_files(mut self, members: &str) -> Self {
        self.memory = format!(",{members}");
        self.ledger = String::new();
        self
    }

    /// A run restored from the branch as it is now.
    pub(crate) fn run(&self) -> Run {
        let remote = Remote::new(&self.bare.url(), None).unwrap();
        let snapshot = remote.fetch(&BranchName::parse(BRANCH).unwrap()).unwrap();
        let mut ledger = Ledger::builder(Limits::default().max_shards());
        let (mut files, mut contents) = (BTreeMap::new(), BTreeMap::new());
        for entry in snapshot.entries(TreeBounds::default()).unwrap() {
            let path = MemoryPath::parse_bytes(&entry.path).unwrap();
            let content = snapshot.content(&entry, 1 << 24).unwrap();
            if let Some(shard) = path.shard() {
                ledger.add_shard(shard, &content);
            }
            contents.insert(path.to_string(), content.clone());
            files.insert(path, FileBaseline { sha256: Digest::of(&content), bytes: entry.bytes });
        }
        let records: BTreeSet<Digest> = ledger.finish().order().map(|entry| entry.sha()).collect();
        let base = snapshot.head().map(|head| head.to_string()).unwrap_or_default();
        let memory =
            MemoryBaseline { id: "triage".to_owned(), branch: BRANCH.to_owned(), base: base.clone(), files, records };
        Run {
            files: contents,
            baseline: Baseline::new(vec![memory]).to_bytes(),
            base,
            base_of: "triage",
            id: "run-1",
            verdict: Some("clean"),
            options: Vec::new(),
            staged: true,
            complete: true,
            remote: None,
            environment: Vec::new(),
            exchange: None,
            raw_tar: None,
            spoil: |_| (),
            before: Vec::new(),
        }
    }

    /// Starts the job in a folder of its own.
    pub(crate) fn start(&self, run: &Run) -> Job {
        let place = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        let file = |name: &str, content: &[u8]| -> PathBuf {
            let path = place.join(name);
            fs::write(&path, content).unwrap();
            path
        };
        let config = file(
            "config.json",
            format!(
                r#"{{"version":1,"workflow":"t","memories":[{{"id":"triage","branch":"{BRANCH}"{}}}],"ledgers":[{}],"detection":{}}}"#,
                self.memory, self.ledger, self.detection
            )
                .as_bytes(),
        );
        let baseline = file("baseline.json", &run.baseline);
        let mut words = run.before.iter().map(String::as_str).chain([env!("CARGO_BIN_EXE_daybook-persist")]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        command.arg("--config").arg(config).arg("--baseline").arg(baseline).arg("--staged").arg(&place);
        let remote = run.remote.clone().unwrap_or_else(|| self.bare.url());
        if !remote.is_empty() {
            command.args(["--remote", &remote]);
        }
        command.args(["--run-id", run.id, "--format", "json"]);
        command.arg("--base").arg(format!("{}={}", run.base_of, run.base));
        command.arg("--expect").arg(format!("baseline.json={}", Digest::of(&run.baseline)));
        if run.staged {
            let mut writer = Writer::new(Vec::new(), "triage");
            for (path, content) in &run.files {
                writer.add(&MemoryPath::parse(path).unwrap(), content).unwrap();
            }
            let (tar, _) = writer.finish(run.complete).unwrap();
            let tar = run.raw_tar.clone().unwrap_or(tar);
            command.arg("--expect").arg(format!("triage.tar={}", Digest::of(&tar)));
            file("triage.tar", run.exchange.as_ref().unwrap_or(&tar));
        }
        if let Some(verdict) = run.verdict {
            command.args(["--verdict", verdict]);
        }
        (run.spoil)(&place);
        Job::start(command.args(&run.options), &place, run.environment.iter().cloned())
    }

    pub(crate) fn persist(&self, run: &Run) -> Outcome {
        self.start(run).finish()
    }

    /// The SHAs of all records on the branch, and the number of findings there.
    pub(crate) fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::builder(Limits::default().max_shards());
        if self.bare.head(BRANCH).is_some() {
            for line in self.bare.listing(BRANCH) {
                let path = MemoryPath::parse(line.split_once(' ').unwrap().1).unwrap();
                if let Some(shard) = path.shard() {
                    ledger.add_shard(shard, format!("{}\n", self.bare.file(BRANCH, path.as_str())).as_bytes());
                }
            }
        }
        ledger.finish()
    }
}

impl Run {
    /// Adds a shard of the agent's.
    pub(crate) fn stage(&mut self, shard: u32, records: &[Record]) -> &mut Self {
        let lines: Vec<u8> = records.iter().flat_map(|record| [record.line(), b"\n"].concat()).collect();
        self.stage_bytes(&shard_path(shard), &lines)
    }

    pub(crate) fn stage_bytes(&mut self, path: &str, content: &[u8]) -> &mut Self {
        self.files.insert(path.to_owned(), content.to_vec());
        self
    }
}

pub(crate) fn shard_path(number: u32) -> String {
    format!("ledger/shards/{number:08x}-0000-4000-8000-000000000000.jsonl")
}

/// A record with an id made of `number`.
pub(crate) fn record(number: u32, parents: &[Digest]) -> Record {
    record_with(number, parents, &format!(r#"{{"n":{number}}}"#))
}

pub(crate) fn record_with(number: u32, parents: &[Digest], payload: &str) -> Record {
    let mut parents = parents.to_vec();
    parents.sort();
    let draft = Draft {
        id: RecordId::from_text(format!("ldg-{number:08x}-1111-4111-8111-111111111111").as_bytes()).unwrap(),
        kind: "note",
        timestamp: "2026-03-01T12:00:01.000Z",
        parents: &parents,
        payload: &json::parse(payload.as_bytes()).unwrap(),
    };
    Record::build(&draft, &Limits::default()).unwrap()
}

/// A line that has the right digest, whatever else it has.
pub(crate) fn sealed(before_sha: &str, after_sha: &str) -> Vec<u8> {
    let digest = Digest::of(format!("{before_sha}{after_sha}").as_bytes());
    format!("{before_sha},\"sha\":\"{digest}\"{after_sha}\n").into_bytes()
}
