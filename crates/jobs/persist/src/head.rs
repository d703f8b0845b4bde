//! The ledger as it is on the branch: the only thing besides the baseline that a staged record is held against.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::mpsc;
use std::thread;

use daybook_branch::{Entry, Oid, Snapshot, TreeBounds};
use daybook_core::diagnostic::Detail;
use daybook_core::limits::{Count, READ_SHARD_BYTES};
use daybook_core::shard::ShardScan;
use daybook_core::{Digest, Ledger, Limits, MemoryPath, ShardId};
use daybook_runner::{Exit, Stop};
use uuid::Uuid;

/// Scans of earlier attempts: a shard does not change, so most of a moved branch is known already.
pub(crate) type Scans = HashMap<(ShardId, Oid), ShardScan>;

/// The trusted side of one attempt.
#[derive(Debug)]
pub(crate) struct Head {
    ledger: Ledger,
    ids: HashSet<Uuid>,
    shards: BTreeMap<ShardId, Entry>,
    files: BTreeMap<MemoryPath, Entry>,
}

impl Head {
    /// Reads the tree of a snapshot; its ledger only where `limits` are given.
    pub(crate) fn read(snapshot: &Snapshot, limits: Option<&Limits>, scans: &mut Scans) -> Result<Self, Stop> {
        let (mut shards, mut files) = (BTreeMap::new(), BTreeMap::new());
        for entry in snapshot.entries(TreeBounds::default())? {
            let Ok(path) = MemoryPath::parse_bytes(&entry.path) else { continue };
            if let Some(shard) = path.shard() {
                shards.insert(shard, entry);
            } else if !path.is_ledger() {
                files.insert(path, entry);
            }
        }
        let Some(limits) = limits else {
            let ledger = Ledger::builder(Count::new(0)).finish();
            return Ok(Self { ledger, ids: HashSet::new(), shards, files });
        };
        let bound = usize::try_from(limits.max_shards().get()).unwrap_or(usize::MAX);
        let readable = |entry: &Entry| entry.kind.is_regular() && entry.bytes <= READ_SHARD_BYTES.get();
        let unknown = shards
            .iter()
            .take(bound)
            .filter(|(shard, entry)| readable(entry) && !scans.contains_key(&(**shard, entry.oid)));
        let scanned = scan(snapshot, unknown)?;
        scans.extend(scanned);
        let mut builder = Ledger::builder(limits.max_shards());
        for (shard, entry) in shards.iter().take(bound) {
            if !entry.kind.is_regular() {
                builder.add_file_fault(Some(*shard), Detail::NotRegular);
            } else if entry.bytes > READ_SHARD_BYTES.get() {
                builder.add_file_fault(Some(*shard), Detail::Oversized);
            } else {
                builder.add_scan(scans.get(&(*shard, entry.oid)).ok_or_else(not_scanned)?.clone());
            }
        }
        let ledger = builder.finish();
        let ids = ledger.order().map(|entry| entry.id().uuid()).collect();
        Ok(Self { ledger, ids, shards, files })
    }

    /// Whether a record is on the branch.
    pub(crate) fn contains(&self, sha: &Digest) -> bool {
        self.ledger.contains(sha)
    }

    /// Whether a record on the branch has this id.
    pub(crate) fn uses(&self, id: Uuid) -> bool {
        self.ids.contains(&id)
    }

    /// Ordinary files.
    pub(crate) fn files(&self) -> &BTreeMap<MemoryPath, Entry> {
        &self.files
    }

    /// The heads.
    pub(crate) fn heads(&self) -> &[Digest] {
        self.ledger.heads()
    }

    /// How many shards the branch names, readable or not.
    pub(crate) fn shard_count(&self) -> u64 {
        self.shards.len() as u64
    }

    /// How many findings the ledger on the branch has.
    pub(crate) fn findings(&self) -> u64 {
        if self.ledger.diagnostics().has_errors() { self.ledger.diagnostics().total() } else { 0 }
    }

    /// Whether the branch has anything under a shard's name.
    pub(crate) fn names(&self, shard: ShardId) -> bool {
        self.shards.contains_key(&shard)
    }

    /// Whether the branch has exactly this content under a shard's name.
    pub(crate) fn holds(&self, snapshot: &Snapshot, shard: ShardId, sha256: Digest) -> Result<bool, Stop> {
        let entry = self.shards.get(&shard).filter(|entry| entry.kind.is_regular());
        let Some(entry) = entry.filter(|entry| entry.bytes <= READ_SHARD_BYTES.get()) else { return Ok(false) };
        Ok(Digest::of(&snapshot.content(entry, READ_SHARD_BYTES.get())?) == sha256)
    }
}

/// How many shards that were read wait to be scanned, at most.
const WAITING: usize = 2;

/// Reads shards here and scans them on a thread of its own: git's objects are for one thread, and unpacking one takes about
/// as long as scanning it.
fn scan<'a>(snapshot: &Snapshot, shards: impl Iterator<Item = (&'a ShardId, &'a Entry)>) -> Result<Scans, Stop> {
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<(ShardId, Oid, Vec<u8>)>(WAITING);
        let scanner = scope.spawn(move || {
            let scans = receiver.into_iter().map(|(shard, oid, bytes)| ((shard, oid), ShardScan::new(shard, &bytes)));
            scans.collect()
        });
        let mut outcome = Ok(());
        for (shard, entry) in shards {
            match snapshot.content(entry, READ_SHARD_BYTES.get()) {
                Ok(bytes) => {
                    // Where the scanner is gone, joining it says so.
                    if sender.send((*shard, entry.oid, bytes)).is_err() {
                        break;
                    }
                }
                Err(fault) => {
                    outcome = Err(Stop::from(fault));
                    break;
                }
            }
        }
        drop(sender);
        outcome.and(scanner.join().map_err(|_| not_scanned()))
    })
}

fn not_scanned() -> Stop {
    Stop::new(Exit::Internal, "scan-failed", "a shard could not be scanned")
}
