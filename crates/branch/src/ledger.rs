//! The ledger's part of a tree: its shards, its state, and what does not belong there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::path::LedgerPart;
use daybook_core::shards::{Found, Shards};
use daybook_core::state::{MAX_STATE_BYTES, STATE_PATH, State};
use daybook_core::{MemoryPath, ShardId};

use crate::snapshot::{ReadFault, Snapshot};
use crate::tree::{Entry, TreeBounds};

/// What a branch has under `ledger/`, listed and not read.
#[derive(Debug)]
pub struct LedgerTree<'a> {
    snapshot: &'a Snapshot,
    shards: BTreeMap<ShardId, Entry>,
    declarations: u64,
}

impl<'a> LedgerTree<'a> {
    /// Lists it.
    ///
    /// # Errors
    /// As [`Snapshot::entries`].
    pub fn of(snapshot: &'a Snapshot) -> Result<Self, ReadFault> {
        let mut tree = Self { snapshot, shards: BTreeMap::new(), declarations: 0 };
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

    /// The snapshot that it was listed from.
    #[must_use]
    pub const fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The shards, by name.
    #[must_use]
    pub fn shards(&self) -> &BTreeMap<ShardId, Entry> {
        &self.shards
    }

    /// The bytes of all shards.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shards.values().map(|entry| entry.bytes).sum()
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
    pub fn content(&self, shard: ShardId) -> Result<Option<Vec<u8>>, ReadFault> {
        let Some(entry) = self.shards.get(&shard) else { return Ok(None) };
        if !entry.kind.is_regular() || entry.bytes > READ_SHARD_BYTES.get() {
            return Ok(None);
        }
        self.snapshot.content(entry, READ_SHARD_BYTES.get()).map(Some)
    }

    /// The state of compaction: `Ok(None)` where there is none, and an inner error where what is there is none of this
    /// ledger's.
    ///
    /// # Errors
    /// [`ReadFault`] where the object cannot be read.
    pub fn state(&self, ledger: &str) -> Result<Result<Option<State>, UnusableState>, ReadFault> {
        Ok(match Self::any_state(self.snapshot)? {
            Ok(Some(state)) if state.ledger() != ledger => Err(UnusableState::Foreign),
            state => state,
        })
    }

    /// As [`LedgerTree::state`], whichever ledger it is about.
    ///
    /// # Errors
    /// [`ReadFault`] where the object cannot be read.
    pub fn any_state(snapshot: &Snapshot) -> Result<Result<Option<State>, UnusableState>, ReadFault> {
        match snapshot.read(STATE_PATH, MAX_STATE_BYTES as u64) {
            Ok(bytes) => Ok(bytes.map(|bytes| State::parse(&bytes)).transpose().map_err(|_| UnusableState::Invalid)),
            Err(ReadFault::NotRegular | ReadFault::TooLarge { .. }) => Ok(Err(UnusableState::Invalid)),
            Err(fault) => Err(fault),
        }
    }
}

impl Shards for LedgerTree<'_> {
    type Fault = ReadFault;

    fn shard(&self, id: ShardId, max: u64) -> Result<Found<'_>, ReadFault> {
        match self.shards.get(&id) {
            None => Ok(Found::Absent),
            Some(entry) if entry.bytes > max => Ok(Found::Unusable),
            Some(_) => Ok(self.content(id)?.map_or(Found::Unusable, |bytes| Found::Bytes(Cow::Owned(bytes)))),
        }
    }
}

/// Something lies where the state should, and it is not the ledger's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusableState {
    /// It is none.
    #[error("the compaction state on the branch is not valid")]
    Invalid,
    /// It is another ledger's.
    #[error("the compaction state on the branch is another ledger's")]
    Foreign,
}

impl UnusableState {
    /// The code of the diagnostic.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Invalid => "state-invalid",
            Self::Foreign => "state-foreign",
        }
    }
}
