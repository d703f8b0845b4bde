//! The ledger's part of a tree: its shards, its state, and what does not belong there.

use std::collections::BTreeMap;

use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::path::LedgerPart;
use daybook_core::state::{MAX_STATE_BYTES, STATE_PATH, State};
use daybook_core::{MemoryPath, ShardId};

use crate::snapshot::{ReadFault, Snapshot};
use crate::tree::{Entry, TreeBounds};

/// What a branch has under `ledger/`, listed and not read.
#[derive(Debug, Default)]
pub struct LedgerTree {
    shards: BTreeMap<ShardId, Entry>,
    declarations: u64,
}

impl LedgerTree {
    /// Lists it.
    ///
    /// # Errors
    /// As [`Snapshot::entries`].
    pub fn of(snapshot: &Snapshot) -> Result<Self, ReadFault> {
        let mut tree = Self::default();
        for entry in snapshot.entries(TreeBounds::default())? {
            let Ok(path) = MemoryPath::parse_bytes(&entry.path) else { continue };
            match path.ledger_part() {
                Some(LedgerPart::Shard(shard)) => drop(tree.shards.insert(shard, entry)),
                Some(LedgerPart::Coverage) => tree.declarations += 1,
                _ => {}
            }
        }
        Ok(tree)
    }

    /// The shards, by name.
    #[must_use]
    pub fn shards(&self) -> &BTreeMap<ShardId, Entry> {
        &self.shards
    }

    /// How many coverage declarations lie there; none of them is ever acted on (§5.4).
    #[must_use]
    pub const fn declarations(&self) -> u64 {
        self.declarations
    }

    /// The bytes of a shard; `None` for what is no regular file or larger than any shard.
    ///
    /// # Errors
    /// [`ReadFault`] where the object cannot be read.
    pub fn content(&self, snapshot: &Snapshot, shard: ShardId) -> Result<Option<Vec<u8>>, ReadFault> {
        let Some(entry) = self.shards.get(&shard) else { return Ok(None) };
        if !entry.kind.is_regular() || entry.bytes > READ_SHARD_BYTES.get() {
            return Ok(None);
        }
        snapshot.content(entry, READ_SHARD_BYTES.get()).map(Some)
    }

    /// The state of compaction: `Ok(None)` where there is none, and an inner error where what is there is none.
    ///
    /// # Errors
    /// [`ReadFault`] where the object cannot be read.
    pub fn state(snapshot: &Snapshot) -> Result<Result<Option<State>, UnusableState>, ReadFault> {
        match snapshot.read(STATE_PATH, MAX_STATE_BYTES as u64) {
            Ok(bytes) => Ok(bytes.map(|bytes| State::parse(&bytes)).transpose().map_err(|_| UnusableState)),
            Err(ReadFault::NotRegular | ReadFault::TooLarge { .. }) => Ok(Err(UnusableState)),
            Err(fault) => Err(fault),
        }
    }
}

/// Something lies where the state should, and it is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the compaction state on the branch is not valid")]
pub struct UnusableState;
