//! A bare remote with a ledger on it, plans for it, and the job as a process of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use daybook_compaction::{Bounds, Facts, Plan, Stamp, Target};
use daybook_core::config::Config;
use daybook_core::shard::checked_lines;
use daybook_core::state::{State, Trigger};
use daybook_core::{Digest, Ledger, Limits, ShardId};
use daybook_testkit::git::BareRepository;
use daybook_testkit::job::{Job, Outcome};
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;

pub(crate) const BRANCH: &str = "ledgers/triage";
pub(crate) const STATE: &str = "ledger/compaction/state.json";
pub(crate) const CONFIG: &str =
    r#"{"version":1,"workflow":"t","ledgers":[{"name":"triage","compaction":{"min-segments":2}}]}"#;

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) bare: BareRepository,
    random: Random,
    records: usize,
}

impl World {
    /// A ledger of this many one-record shards, and an ordinary file beside it.
    pub(crate) fn new(format: &str, shards: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bare = BareRepository::create(&folder.path().join("remote.git"), format);
        let mut world = Self { folder, bare, random: Random::new(11), records: 0 };
        world.put("notes.md", b"hello\n");
        world.append(shards);
        world
    }

    /// New shards of one record each, as other runs leave them, in one commit.
    pub(crate) fn append(&mut self, shards: usize) {
        let mut files = self.files();
        for _ in 0..shards {
            self.records += 1;
            let record = ledgers::record(&mut self.random, self.records, &[], 300);
            let shard = ShardId::new(self.random.uuid()).unwrap();
            files.insert(shard.path(), [record.line(), b"\n"].concat());
        }
        self.commit(&files);
    }

    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        let mut files = self.files();
        files.insert(path.to_owned(), content.to_vec());
        self.commit(&files);
    }

    pub(crate) fn remove(&self, path: &str) {
        let mut files = self.files();
        files.remove(path).unwrap();
        self.commit(&files);
    }

    pub(crate) fn commit(&self, files: &Files) {
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
        self.bare.commit_files(BRANCH, &files);
    }

    pub(crate) fn files(&self) -> Files {
        if self.bare.head(BRANCH).is_none() {
            return Files::new();
        }
        let paths = self.bare.listing(BRANCH).into_iter().map(|line| line.split_once(' ').unwrap().1.to_owned());
        // What git prints is read without its last newline.
        paths.map(|path| (path.clone(), format!("{}\n", self.bare.file(BRANCH, &path)).into_bytes())).collect()
    }

    pub(crate) fn shards(&self) -> BTreeMap<ShardId, Vec<u8>> {
        self.files().into_iter().filter_map(|(path, bytes)| Some((ShardId::from_path(&path)?, bytes))).collect()
    }

    pub(crate) fn records(&self) -> BTreeSet<Digest> {
        let shards = self.shards();
        shards.values().flat_map(|bytes| checked_lines(bytes)).filter_map(Result::ok).map(|line| line.sha()).collect()
    }

    /// Order, heads and number of findings.
    pub(crate) fn reconstructed(&self) -> (Vec<Digest>, Vec<Digest>, u64) {
        let mut ledger = Ledger::builder(Limits::default().max_shards());
        for (id, bytes) in self.shards() {
            ledger.add_shard(id, &bytes);
        }
        let ledger = ledger.finish();
        let order = ledger.order().map(|entry| entry.sha()).collect();
        (order, ledger.heads().to_vec(), ledger.diagnostics().total())
    }

    pub(crate) fn state(&self) -> State {
        State::parse(self.bare.file(BRANCH, STATE).as_bytes()).unwrap()
    }

    /// A plan for the branch as it is now.
    pub(crate) fn plan(&self) -> Plan {
        let config = Config::parse(CONFIG.as_bytes()).unwrap();
        let ledger = config.ledger("triage").unwrap();
        let bounds = Bounds::of(&ledger.limits, ledger.compaction.as_ref().unwrap());
        let target = Target { ledger: "triage", branch: BRANCH, bounds };
        let base = self.bare.head(BRANCH).unwrap();
        let stamp = Stamp { trigger: Trigger::Requested, created_at: "2020-01-01T00:00:00.000Z", base_commit: &base };
        let shards = self.shards();
        let facts: Vec<Facts<'_>> = shards.iter().map(|(id, bytes)| Facts::of(*id, bytes)).collect();
        let Ok(plan) = Plan::choose(&target, &stamp, &facts, &shards);
        plan.unwrap()
    }

    pub(crate) fn start(&self, plan: &[u8], options: &[&str]) -> Job {
        let place = self.place();
        fs::write(place.join("plan.json"), plan).unwrap();
        self.start_at(&place, CONFIG, options)
    }

    pub(crate) fn place(&self) -> PathBuf {
        tempfile::tempdir_in(self.folder.path()).unwrap().keep()
    }

    /// The job where `plan.json` may be anything.
    pub(crate) fn start_at(&self, place: &Path, config: &str, options: &[&str]) -> Job {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daybook-maintenance-apply"));
        command.args(["--ledger", "triage", "--format", "json", "--remote", &self.bare.url()]);
        command.arg("--plan").arg(place.join("plan.json")).args(options);
        Job::start(&mut command, place, [("DAYBOOK_CONFIG".to_owned(), config.to_owned())])
    }

    pub(crate) fn apply(&self, plan: &[u8]) -> Outcome {
        self.start(plan, &[]).finish()
    }
}
