//! Reconstruction: from scanned shards to accepted records, their order and the heads (§5.1, §6, FORMATS §3).

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::diagnostic::{Code, Detail, Diagnostic, Diagnostics};
use crate::digest::Digest;
use crate::ids::ShardId;
use crate::limits::Count;
use crate::shard::{Entry, ShardScan};

/// Collects shards; their order and the order of the calls do not matter.
#[derive(Debug)]
pub struct Builder {
    max_shards: Count,
    scans: Vec<ShardScan>,
    files: Diagnostics,
}

impl Builder {
    /// Scans a shard and adds it.
    pub fn add_shard(&mut self, shard: ShardId, bytes: &[u8]) {
        self.add_scan(ShardScan::new(shard, bytes));
    }

    /// Adds a shard that was scanned elsewhere.
    pub fn add_scan(&mut self, scan: ShardScan) {
        self.scans.push(scan);
    }

    /// Adds a finding about a file that is not a readable shard.
    pub fn add_file_fault(&mut self, shard: Option<ShardId>, detail: Detail) {
        self.files.push(Diagnostic::about_file(shard, detail));
    }

    /// Reconstructs the ledger. Shards above the bound, by name, are left out and reported.
    #[must_use]
    pub fn finish(mut self) -> Ledger {
        self.scans.sort_unstable_by_key(ShardScan::shard);
        let bound = usize::try_from(self.max_shards.get()).unwrap_or(usize::MAX);
        if self.scans.len() > bound {
            self.scans.truncate(bound);
            self.files.push(Diagnostic::about_file(None, Detail::ShardBound));
        }
        Ledger::reconstruct(self.scans, self.files)
    }
}

/// The accepted records of a ledger, in order.
#[derive(Debug, Clone)]
pub struct Ledger {
    entries: Vec<Entry>,
    by_sha: HashMap<Digest, u32>,
    order: Vec<u32>,
    heads: Vec<Digest>,
    incomplete: u64,
    shards: u64,
    bytes: u64,
    lines: u64,
    diagnostics: Diagnostics,
}

impl Ledger {
    /// A builder that reads at most `max_shards` shards.
    #[must_use]
    pub fn builder(max_shards: Count) -> Builder {
        Builder { max_shards, scans: Vec::new(), files: Diagnostics::default() }
    }

    fn reconstruct(scans: Vec<ShardScan>, files: Diagnostics) -> Self {
        let count = scans.iter().map(|scan| scan.entries().len()).sum();
        let mut ledger = Self {
            entries: Vec::with_capacity(count),
            by_sha: HashMap::with_capacity(count),
            order: Vec::with_capacity(count),
            heads: Vec::new(),
            incomplete: 0,
            shards: u64::try_from(scans.len()).unwrap_or(u64::MAX),
            bytes: scans.iter().map(ShardScan::bytes).sum(),
            lines: scans.iter().map(ShardScan::lines).sum(),
            diagnostics: files,
        };
        let mut by_id: HashSet<Uuid> = HashSet::with_capacity(count);
        for scan in scans {
            let (entries, diagnostics) = scan.into_parts();
            ledger.diagnostics.append(&diagnostics);
            for entry in entries {
                ledger.accept(entry, &mut by_id);
            }
        }
        ledger.arrange();
        ledger
    }

    /// Takes a record in, unless it is here already. Two records with one id are both kept: neither can prove itself.
    // DB-8-06, DB-6-01, DB-6-04
    fn accept(&mut self, entry: Entry, by_id: &mut HashSet<Uuid>) {
        let Ok(index) = u32::try_from(self.entries.len()) else { return };
        let found = |code| Diagnostic {
            code,
            detail: None,
            shard: Some(entry.location().shard),
            line: Some(entry.location().line),
            record: Some(entry.id()),
        };
        if self.by_sha.contains_key(&entry.sha()) {
            self.diagnostics.push(found(Code::DuplicateRecord));
            return;
        }
        if !by_id.insert(entry.id().uuid()) {
            self.diagnostics.push(found(Code::DuplicateIdConflict));
        }
        self.by_sha.insert(entry.sha(), index);
        self.entries.push(entry);
    }

    /// Orders the records layer by layer: a record's layer is one above its highest known parent, and each layer is in
    /// ascending SHA. Linear in records and edges but for the sorting that the order itself asks for.
    // DB-6-01, DB-6-06, DB-5.1-01
    fn arrange(&mut self) {
        let edges = Edges::new(self);
        let mut waiting = edges.known_parents.clone();
        let mut layer: Vec<u32> = indices(waiting.len()).filter(|&index| at(&waiting, index) == 0).collect();
        let mut next = Vec::new();
        while !layer.is_empty() {
            layer.sort_unstable_by_key(|&index| self.entry(index).map(Entry::sha));
            for &parent in &layer {
                for &child in edges.children_of(parent) {
                    if let Some(left) = slot(&mut waiting, child) {
                        *left -= 1;
                        if *left == 0 {
                            next.push(child);
                        }
                    }
                }
            }
            self.order.append(&mut layer);
            std::mem::swap(&mut layer, &mut next);
        }
        for (index, entry) in self.entries.iter().enumerate() {
            if edges.known_parents.get(index).is_some_and(|&known| usize::try_from(known) != Ok(entry.parents().len()))
            {
                self.incomplete += 1;
                self.diagnostics.push(Diagnostic::about_record(Code::MissingParent, entry.id()));
            }
        }
        if self.order.len() < self.entries.len() {
            for index in indices(waiting.len()).filter(|&index| at(&waiting, index) > 0) {
                if let Some(entry) = self.entry(index) {
                    let id = entry.id();
                    self.diagnostics.push(Diagnostic::about_record(Code::Cycle, id));
                }
            }
        }
        self.heads = self
            .order
            .iter()
            .filter(|&&index| edges.children_of(index).is_empty())
            .filter_map(|&index| self.entry(index).map(Entry::sha))
            .collect();
        self.heads.sort_unstable();
    }

    fn entry(&self, index: u32) -> Option<&Entry> {
        self.entries.get(usize::try_from(index).ok()?)
    }

    /// The records, every parent before its children.
    pub fn order(&self) -> impl Iterator<Item = &Entry> + '_ {
        self.order.iter().filter_map(|&index| self.entry(index))
    }

    /// The records that no accepted record names as parent, ascending.
    #[must_use]
    pub fn heads(&self) -> &[Digest] {
        &self.heads
    }

    /// Whether a record is here.
    #[must_use]
    pub fn contains(&self, sha: &Digest) -> bool {
        self.by_sha.contains_key(sha)
    }

    /// The entry of a record.
    #[must_use]
    pub fn get(&self, sha: &Digest) -> Option<&Entry> {
        self.entry(*self.by_sha.get(sha)?)
    }

    /// The findings: files first, then shard by shard, then record by record.
    #[must_use]
    pub const fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// How many records were accepted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many accepted records name a parent that is not here.
    #[must_use]
    pub const fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// How many shards were read.
    #[must_use]
    pub const fn shards(&self) -> u64 {
        self.shards
    }

    /// How many bytes the shards have.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many lines the shards have, bad ones included.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }
}

/// The edges between known records, as one array of children cut into slices.
struct Edges {
    /// For each record, how many of its parents are here.
    known_parents: Vec<u32>,
    /// For each record, where its children begin; one more at the end.
    starts: Vec<u32>,
    children: Vec<u32>,
}

impl Edges {
    fn new(ledger: &Ledger) -> Self {
        let count = ledger.entries.len();
        let mut known_parents = vec![0; count];
        let mut starts = vec![0_u32; count + 1];
        let mut resolved: Vec<(u32, u32)> = Vec::with_capacity(count);
        for (child, entry) in indices(count).zip(&ledger.entries) {
            for parent in entry.parents() {
                if let Some(&parent) = ledger.by_sha.get(parent) {
                    resolved.push((parent, child));
                    bump(&mut known_parents, child);
                    bump(&mut starts, parent);
                }
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += std::mem::replace(start, total);
        }
        let mut next = starts.clone();
        let mut children = vec![0; resolved.len()];
        for (parent, child) in resolved {
            if let Some(position) = slot(&mut next, parent) {
                if let Some(place) = slot(&mut children, *position) {
                    *place = child;
                }
                *position += 1;
            }
        }
        Self { known_parents, starts, children }
    }

    fn children_of(&self, parent: u32) -> &[u32] {
        let (start, end) = (at(&self.starts, parent), at(&self.starts, parent + 1));
        usize::try_from(start)
            .ok()
            .zip(usize::try_from(end).ok())
            .and_then(|(start, end)| self.children.get(start..end))
            .unwrap_or_default()
    }
}

fn indices(count: usize) -> std::ops::Range<u32> {
    0..u32::try_from(count).unwrap_or(u32::MAX)
}

fn at(values: &[u32], index: u32) -> u32 {
    usize::try_from(index).ok().and_then(|index| values.get(index)).copied().unwrap_or(0)
}

fn slot(values: &mut [u32], index: u32) -> Option<&mut u32> {
    values.get_mut(usize::try_from(index).ok()?)
}

fn bump(values: &mut [u32], index: u32) {
    if let Some(value) = slot(values, index) {
        *value += 1;
    }
}
