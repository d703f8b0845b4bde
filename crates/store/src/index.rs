//! A writer's view of a folder: what did not change is not read again.

use std::collections::BTreeMap;

use daybook_core::diagnostic::Detail;
use daybook_core::index::LedgerIndex;
use daybook_core::limits::Count;
use daybook_core::shard::{Entry, ShardScan};
use daybook_core::{Digest, Ledger, ShardId};

use crate::shards::FileState;
use crate::verbs::OwnShard;
use crate::watch::{Changes, Watch};
use crate::{ShardFolder, StoreError};

/// Every shard of a folder as it was last read, and the index over their records.
#[derive(Debug)]
pub struct FolderIndex {
    shards: BTreeMap<ShardId, Known>,
    index: LedgerIndex,
    max_shards: Count,
    bad_names: u64,
    watch: Watch,
    /// Everything that the watch has told is folded in. An error in the middle leaves this false, and the next look is
    /// at the whole folder.
    in_step: bool,
    generation: u64,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Known {
    /// `None` where the shard could not be read.
    state: Option<FileState>,
    scan: Result<ShardScan, Detail>,
}

impl FolderIndex {
    /// Reads the folder. Records in `baseline` do not count against the run's budget.
    ///
    /// # Errors
    /// Where the folder itself cannot be read; a shard that cannot becomes a diagnostic.
    pub fn new(
        folder: &ShardFolder,
        max_shards: Count,
        baseline: impl IntoIterator<Item = Digest>,
    ) -> Result<Self, StoreError> {
        let mut index = Self {
            shards: BTreeMap::new(),
            index: LedgerIndex::new(baseline),
            max_shards,
            bad_names: 0,
            watch: Watch::new(folder),
            in_step: true,
            generation: 0,
            buffer: Vec::new(),
        };
        index.sweep(folder)?;
        Ok(index)
    }

    /// Folds in what others changed, by looking at every shard's state.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn sweep(&mut self, folder: &ShardFolder) -> Result<(), StoreError> {
        let was_in_step = std::mem::replace(&mut self.in_step, false);
        // Events from before the listing are answered by the listing.
        let _ = self.watch.changes();
        let listing = folder.list()?;
        if listing.truncated {
            return Err(StoreError::Crowded);
        }
        self.bad_names = listing.bad_names;
        let gone = self.shards.keys().any(|shard| listing.shards.binary_search(shard).is_err());
        if gone {
            self.shards.retain(|shard, _| listing.shards.binary_search(shard).is_ok());
        }
        let mut rebuild = gone || !was_in_step;
        for &shard in &listing.shards {
            rebuild |= self.look_at(folder, shard)?;
        }
        if rebuild {
            self.rebuild();
        }
        self.in_step = true;
        Ok(())
    }

    /// As [`FolderIndex::sweep`], asking the watch first; `own` is the shard that only this writer changes.
    pub(crate) fn refresh(&mut self, folder: &ShardFolder, own: Option<ShardId>) -> Result<(), StoreError> {
        let Changes::Only(touched) = self.watch.changes() else { return self.sweep(folder) };
        if !self.in_step {
            return self.sweep(folder);
        }
        self.in_step = false;
        let mut rebuild = false;
        for shard in touched.into_iter().filter(|shard| Some(*shard) != own) {
            rebuild |= self.look_at(folder, shard)?;
        }
        if rebuild {
            self.rebuild();
        }
        self.in_step = true;
        Ok(())
    }

    /// Reads a shard whose state is not the known one. Returns whether anything known before is no longer so.
    fn look_at(&mut self, folder: &ShardFolder, shard: ShardId) -> Result<bool, StoreError> {
        let state = match folder.state(shard) {
            Ok(state) => state,
            Err(StoreError::NotFound) => return Ok(self.shards.remove(&shard).is_some()),
            Err(error) => return Err(error),
        };
        if self.shards.get(&shard).is_some_and(|known| known.state == Some(state)) {
            return Ok(false);
        }
        let known = match folder.read_with_state(shard, &mut self.buffer) {
            Ok(state) => Known { state: Some(state), scan: Ok(ShardScan::new(shard, &self.buffer)) },
            Err(StoreError::NotRegular | StoreError::NotAFolder) => {
                Known { state: None, scan: Err(Detail::NotRegular) }
            }
            Err(StoreError::Oversized) => Known { state: Some(state), scan: Err(Detail::Oversized) },
            Err(StoreError::NotFound) => return Ok(self.shards.remove(&shard).is_some()),
            Err(error) => return Err(error),
        };
        let before = self.shards.insert(shard, known);
        let entries = |known: &Known| known.scan.as_ref().map(|scan| scan.entries().to_vec()).unwrap_or_default();
        let before = before.as_ref().map(entries).unwrap_or_default();
        let Some(Known { scan: Ok(scan), .. }) = self.shards.get(&shard) else { return Ok(!before.is_empty()) };
        let Some(added) = scan.entries().strip_prefix(before.as_slice()) else { return Ok(true) };
        for entry in added {
            self.index.add(entry);
        }
        Ok(false)
    }

    fn rebuild(&mut self) {
        self.generation += 1;
        let mut index = self.index.emptied();
        for scan in self.shards.values().filter_map(|known| known.scan.as_ref().ok()) {
            for entry in scan.entries() {
                index.add(entry);
            }
        }
        self.index = index;
    }

    /// Takes in what this writer has just made durable: a new shard, or lines added to its own.
    pub(crate) fn wrote(&mut self, own: &OwnShard, bytes: &[u8]) {
        let known = self
            .shards
            .entry(own.id())
            .or_insert_with(|| Known { state: None, scan: Ok(ShardScan::new(own.id(), &[])) });
        known.state = Some(own.state());
        if let Ok(scan) = &mut known.scan {
            for entry in scan.append(bytes) {
                self.index.add(entry);
            }
        }
    }

    /// The index over all records.
    #[must_use]
    pub const fn records(&self) -> &LedgerIndex {
        &self.index
    }

    /// How often something that was known before ceased to be so. While it stays the same, each shard's entries only
    /// grow at their end.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// The shards that were read, each with its records in the order of their lines; repeated records are among them.
    pub fn entries(&self) -> impl Iterator<Item = (ShardId, &[Entry])> + '_ {
        self.shards.iter().filter_map(|(shard, known)| Some((*shard, known.scan.as_ref().ok()?.entries())))
    }

    /// How many shards the folder has.
    #[must_use]
    pub fn shard_count(&self) -> Count {
        Count::new(u64::try_from(self.shards.len()).unwrap_or(u64::MAX))
    }

    /// The shards, in byte order.
    pub fn shards(&self) -> impl Iterator<Item = ShardId> + '_ {
        self.shards.keys().copied()
    }

    /// Reconstructs the ledger from what was read.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        let mut builder = Ledger::builder(self.max_shards);
        for _ in 0..self.bad_names.min(1024) {
            builder.add_file_fault(None, Detail::BadName);
        }
        for (shard, known) in &self.shards {
            match &known.scan {
                Ok(scan) => builder.add_scan(scan.clone()),
                Err(detail) => builder.add_file_fault(Some(*shard), *detail),
            }
        }
        builder.finish()
    }
}
