//! What a run changed on a memory's branch.

use std::collections::BTreeMap;

use daybook_branch::{BranchName, Oid, ReadFault, Remote, Snapshot, TreeBounds};
use daybook_core::{Digest, MemoryPath, Record};
use serde_json::{Value, json};

use crate::ledger_view::LedgerView;
use crate::remote_fault::told;

/// A branch at one moment.
pub(crate) struct BranchState {
    pub(crate) head: Option<Oid>,
    pub(crate) ledger: LedgerView,
    pub(crate) files: BTreeMap<String, (Oid, u64)>,
}

impl BranchState {
    /// Reads a branch; one that does not exist is empty.
    pub(crate) fn read(remote: &Remote, branch: &BranchName) -> Result<Self, String> {
        let snapshot = remote.fetch(branch).map_err(|fault| told(&fault))?;
        Self::at(&snapshot, snapshot.head()).map_err(|fault| fault.to_string())
    }

    /// Reads the tree of a commit that was fetched; without one it is empty.
    pub(crate) fn at(snapshot: &Snapshot, commit: Option<Oid>) -> Result<Self, ReadFault> {
        let ledger = LedgerView::of(snapshot, commit, |_| ())?;
        let files = commit.map_or(Ok(BTreeMap::new()), |commit| ordinary_files(snapshot, commit))?;
        Ok(Self { head: commit, ledger, files })
    }
}

/// The files outside of the ledger: each with its object and its size in bytes.
fn ordinary_files(snapshot: &Snapshot, commit: Oid) -> Result<BTreeMap<String, (Oid, u64)>, ReadFault> {
    let entries = snapshot.entries_at(commit, TreeBounds::default())?;
    let ordinary = entries.into_iter().filter_map(|entry| {
        let path = String::from_utf8_lossy(&entry.path).into_owned();
        let in_ledger = MemoryPath::parse(&path).is_ok_and(|path| path.is_ledger());
        (!in_ledger).then_some((path, (entry.oid, entry.bytes)))
    });
    Ok(ordinary.collect())
}

/// The difference between two moments of one branch.
pub(crate) struct BranchDiff {
    pub(crate) branch: String,
    pub(crate) base: Option<Oid>,
    pub(crate) head: Option<Oid>,
    /// Records that came, in the order of the ledger.
    pub(crate) added: Vec<Record>,
    /// Records that went, which no run of these jobs may cause.
    pub(crate) lost: Vec<Digest>,
    /// Ordinary files: path, and `added`, `changed` or `deleted`.
    pub(crate) files: Vec<(String, &'static str)>,
}

impl BranchDiff {
    pub(crate) fn between(branch: &BranchName, before: &BranchState, after: &BranchState) -> Self {
        let added = after.ledger.records().filter(|record| !before.ledger.ledger.contains(&record.sha())).collect();
        let lost = before.ledger.ledger.order().map(|entry| entry.sha());
        let lost = lost.filter(|sha| !after.ledger.ledger.contains(sha)).collect();
        let files = changes(before, after);
        Self { branch: branch.to_string(), base: before.head, head: after.head, added, lost, files }
    }

    /// The difference as data.
    pub(crate) fn to_json(&self) -> Value {
        let records: Vec<Value> = self.added.iter().map(record_json).collect();
        let files: Vec<Value> =
            self.files.iter().map(|(path, change)| json!({ "path": path, "change": change })).collect();
        json!({
            "branch": self.branch,
            "base": self.base.map(|oid| oid.to_string()),
            "head": self.head.map(|oid| oid.to_string()),
            "added": records,
            "lost": self.lost.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "files": files,
        })
    }
}

/// The ordinary files that differ: path, and `added`, `changed` or `deleted`.
pub(crate) fn changes(before: &BranchState, after: &BranchState) -> Vec<(String, &'static str)> {
    let mut files = Vec::new();
    for (path, (oid, _)) in &after.files {
        match before.files.get(path) {
            None => files.push((path.clone(), "added")),
            Some((old, _)) if old != oid => files.push((path.clone(), "changed")),
            Some(_) => {}
        }
    }
    let gone = before.files.keys().filter(|path| !after.files.contains_key(*path));
    files.extend(gone.map(|path| (path.clone(), "deleted")));
    files
}

fn record_json(record: &Record) -> Value {
    json!({
        "id": record.id().to_string(),
        "sha": record.sha().to_string(),
        "type": record.kind(),
        "timestamp": record.timestamp(),
        "parents": record.parents().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "payload": record.payload().unwrap_or(Value::Null),
    })
}
