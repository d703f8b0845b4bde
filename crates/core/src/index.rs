//! The index a writer keeps: heads, membership and the run's budget, extended record by record.
//!
//! [`crate::Ledger`] answers the same questions from scratch and adds the order; this answers them after each append
//! without looking at the rest again.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use crate::digest::Digest;
use crate::ids::RecordId;
use crate::limits::Bytes;
use crate::line::MAX_PARENTS;
use crate::shard::{Entry, Location};

/// What is known of all records in a folder.
#[derive(Debug, Clone, Default)]
pub struct LedgerIndex {
    locations: HashMap<Digest, Location>,
    ids: HashMap<Uuid, Digest>,
    /// Every digest that some record names as parent, here or not.
    named: HashSet<Digest>,
    heads: BTreeSet<Digest>,
    baseline: HashSet<Digest>,
    patch: u64,
}

impl LedgerIndex {
    /// An empty index. Records whose digest is in `baseline` do not count against the run's budget.
    #[must_use]
    pub fn new(baseline: impl IntoIterator<Item = Digest>) -> Self {
        Self { baseline: baseline.into_iter().collect(), ..Self::default() }
    }

    /// The same baseline, no records.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self { baseline: self.baseline.clone(), ..Self::default() }
    }

    /// Takes a record in; a repeated one changes nothing.
    pub fn add(&mut self, entry: &Entry) {
        let sha = entry.sha();
        if self.locations.contains_key(&sha) {
            return;
        }
        self.locations.insert(sha, entry.location());
        self.ids.entry(entry.id().uuid()).or_insert(sha);
        if !self.baseline.contains(&sha) {
            self.patch = self.patch.saturating_add(u64::from(entry.location().length) + 1);
        }
        for parent in entry.parents() {
            self.named.insert(*parent);
            self.heads.remove(parent);
        }
        if !self.named.contains(&sha) {
            self.heads.insert(sha);
        }
    }

    /// The heads, ascending.
    pub fn heads(&self) -> impl Iterator<Item = Digest> + '_ {
        self.heads.iter().copied()
    }

    /// The parents of the next record: every head, above 64 the first 64 (FORMATS §4).
    // DB-6-02
    #[must_use]
    pub fn next_parents(&self) -> Vec<Digest> {
        self.heads().take(MAX_PARENTS).collect()
    }

    /// Where a record lies.
    #[must_use]
    pub fn location(&self, sha: &Digest) -> Option<Location> {
        self.locations.get(sha).copied()
    }

    /// The record that has an id; of several the one met first.
    #[must_use]
    pub fn by_id(&self, id: &RecordId) -> Option<Digest> {
        self.ids.get(&id.uuid()).copied()
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.locations.len()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.locations.is_empty()
    }

    /// Bytes of the records that are not in the baseline, newlines included: what the run has used of `max-patch`.
    #[must_use]
    pub const fn patch(&self) -> Bytes {
        Bytes::new(self.patch)
    }
}
