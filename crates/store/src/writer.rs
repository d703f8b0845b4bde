//! Appending records: every limit is checked before a byte is written, and a record is acknowledged when it is on
//! disk (§2, §5.2, FORMATS §4).

use daybook_core::json::Value;
use daybook_core::limits::{Bytes, Count};
use daybook_core::{Digest, Draft, Limits, Record, RecordId, ShardId, WriteFault};

use crate::folder::FolderLock;
use crate::verbs::OwnShard;
use crate::{FolderIndex, MemoryFolder, ShardFolder, StoreError};

/// A record to be appended; the writer adds the parents.
#[derive(Debug, Clone)]
pub struct NewRecord {
    /// A fresh identity.
    pub id: RecordId,
    /// The type.
    pub kind: String,
    /// A canonical instant.
    pub timestamp: String,
    /// The payload.
    pub payload: Value,
}

/// What an append did.
#[derive(Debug, Clone)]
pub struct Appended {
    /// The records, in the order in which they were given.
    pub records: Vec<Record>,
    /// What the run has used of `max-patch`.
    pub patch_used: Bytes,
    /// How many shards the folder has.
    pub shards: Count,
    /// Length of the shard that the next record goes to, if it fits.
    pub segment_used: Bytes,
}

/// An append was refused or failed; nothing was acknowledged, and nothing is half written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The record itself is refused.
    #[error(transparent)]
    Record(#[from] WriteFault),
    /// The run's budget does not allow it.
    #[error("the run has appended {used}; {size} more exceed max-patch-kb ({limit})")]
    Patch {
        /// What the run has appended so far.
        used: Bytes,
        /// What was to be appended.
        size: Bytes,
        /// The limit.
        limit: Bytes,
    },
    /// A batch does not fit into one shard.
    #[error("the batch takes {size}; max-segment-kb allows {limit}")]
    Batch {
        /// Size of the batch.
        size: Bytes,
        /// The limit.
        limit: Bytes,
    },
    /// The ledger has as many shards as are read.
    #[error("the ledger has {shards} shards; max-shards allows {limit}")]
    ShardBound {
        /// How many shards there are.
        shards: Count,
        /// The limit.
        limit: Count,
    },
    /// The folder could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AppendError {
    /// The code by which replies and reports name the error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Record(fault) => fault.code(),
            Self::Patch { .. } => "patch-exceeded",
            Self::Batch { .. } => "batch-too-large",
            Self::ShardBound { .. } => "shard-bound",
            Self::Store(error) => error.code(),
        }
    }
}

/// A process's way to append to one ledger.
#[derive(Debug)]
pub struct Writer {
    folder: ShardFolder,
    index: FolderIndex,
    limits: Limits,
    own: Option<OwnShard>,
}

impl Writer {
    /// Opens a ledger for appending, makes its folder where there is none, and sweeps what crashed writers left.
    ///
    /// `baseline` holds the records from before the run: they do not count against its budget.
    ///
    /// # Errors
    /// Where the folder cannot be opened, made or read.
    pub fn open(
        memory: &MemoryFolder,
        limits: Limits,
        baseline: impl IntoIterator<Item = Digest>,
    ) -> Result<Self, StoreError> {
        let folder = memory.shards_or_create()?;
        {
            let lock = folder.lock()?;
            folder.sweep(&lock)?;
        }
        let index = FolderIndex::new(&folder, limits.max_shards(), baseline)?;
        Ok(Self { folder, index, limits, own: None })
    }

    /// Appends one record whose parents are all current heads. `new_shard` names a shard, should one be needed.
    ///
    /// # Errors
    /// [`AppendError`]; the ledger is as it was.
    pub fn append(&mut self, record: &NewRecord, new_shard: ShardId) -> Result<Appended, AppendError> {
        self.append_all(std::slice::from_ref(record), new_shard, false)
    }

    /// Appends several records as one shard, all or nothing, each the parent of the next.
    ///
    /// # Errors
    /// [`AppendError`]; the ledger is as it was.
    pub fn append_batch(&mut self, records: &[NewRecord], new_shard: ShardId) -> Result<Appended, AppendError> {
        self.append_all(records, new_shard, true)
    }

    // DB-2-08, DB-9-06
    fn append_all(&mut self, new: &[NewRecord], shard: ShardId, batch: bool) -> Result<Appended, AppendError> {
        let Self { folder, index, limits, own } = self;
        let lock = folder.lock()?;
        if own.take_if(|own| !folder.is_untouched(own)).is_some() {
            // Somebody else wrote into this writer's shard: it is theirs now, and is read like any other.
            index.sweep(folder)?;
        } else {
            index.refresh(folder, own.as_ref().map(OwnShard::id))?;
        }
        let records = chain(new, index.records().next_parents(), limits)?;
        let lines: Vec<u8> = records.iter().flat_map(|record| [record.line(), b"\n"].concat()).collect();
        let size = Bytes::of_len(lines.len());
        let (used, limit) = (index.records().patch(), limits.max_patch());
        if used.get().saturating_add(size.get()) > limit.get() {
            return Err(AppendError::Patch { used, size, limit });
        }
        if size > limits.max_segment() {
            return Err(AppendError::Batch { size, limit: limits.max_segment() });
        }
        let fits = |own: &OwnShard| own.length().saturating_add(size.get()) <= limits.max_segment().get();
        match own {
            Some(current) if !batch && fits(current) => {
                if index.shard_count() > limits.max_shards() {
                    return Err(AppendError::ShardBound { shards: index.shard_count(), limit: limits.max_shards() });
                }
                if let Err(error) = folder.append(&lock, current, &lines) {
                    // What the failed write left in the page cache is unknown: the next append takes a new shard.
                    *own = None;
                    return Err(error.into());
                }
                index.wrote(current, &lines);
            }
            _ => {
                let published = create_shard(folder, &lock, index, limits, shard, &lines)?;
                index.wrote(&published, &lines);
                if !batch {
                    *own = Some(published);
                }
            }
        }
        drop(lock);
        let (patch_used, shards) = (self.index.records().patch(), self.index.shard_count());
        Ok(Appended { records, patch_used, shards, segment_used: self.segment_used() })
    }

    /// Length of this writer's own shard; nothing where it has none yet.
    #[must_use]
    pub fn segment_used(&self) -> Bytes {
        Bytes::new(self.own.as_ref().map_or(0, OwnShard::length))
    }

    /// The folder as this writer knows it.
    #[must_use]
    pub const fn index(&self) -> &FolderIndex {
        &self.index
    }

    /// Folds in what others changed.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn refresh(&mut self) -> Result<(), StoreError> {
        self.index.sweep(&self.folder)
    }

    /// The shard folder.
    #[must_use]
    pub const fn folder(&self) -> &ShardFolder {
        &self.folder
    }

    /// The limits it keeps.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// Builds the records, each but the first with the one before as its only parent.
fn chain(new: &[NewRecord], heads: Vec<Digest>, limits: &Limits) -> Result<Vec<Record>, WriteFault> {
    let mut parents = heads;
    let mut records = Vec::with_capacity(new.len());
    for record in new {
        let draft = Draft {
            id: record.id,
            kind: &record.kind,
            timestamp: &record.timestamp,
            parents: &parents,
            payload: &record.payload,
        };
        let record = Record::build(&draft, limits)?;
        parents = vec![record.sha()];
        records.push(record);
    }
    Ok(records)
}

fn create_shard(
    folder: &ShardFolder,
    lock: &FolderLock<'_>,
    index: &FolderIndex,
    limits: &Limits,
    shard: ShardId,
    lines: &[u8],
) -> Result<OwnShard, AppendError> {
    // §9: beyond the bound nobody would read it.
    if index.shard_count() >= limits.max_shards() {
        return Err(AppendError::ShardBound { shards: index.shard_count(), limit: limits.max_shards() });
    }
    Ok(folder.publish(lock, shard, lines)?)
}
