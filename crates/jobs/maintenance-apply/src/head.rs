//! The ledger as it is on the branch, for the one plan that is held against it.

use daybook_branch::{LedgerTree, ReadFault, Snapshot};
use daybook_compaction::{Found, Shards};
use daybook_core::ShardId;
use daybook_core::state::State;
use daybook_runner::Report;

use crate::stop::Stop;

/// One look at a branch.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    snapshot: &'a Snapshot,
    tree: LedgerTree,
    state: Option<State>,
}

impl<'a> Head<'a> {
    /// Lists the shards; their bytes are read when they are asked for.
    pub(crate) fn read(snapshot: &'a Snapshot, ledger: &str, report: &mut Report) -> Result<Self, Stop> {
        let tree = LedgerTree::of(snapshot)?;
        if tree.declarations() > 0 {
            let message = format!("{} coverage declarations on the branch are ignored", tree.declarations());
            report.warning("coverage-ignored", &message);
        }
        let state = match LedgerTree::state(snapshot)? {
            Ok(state) => state.filter(|state| {
                if state.ledger() != ledger {
                    report.warning(
                        "state-foreign",
                        "the compaction state on the branch is another ledger's; it is replaced",
                    );
                }
                state.ledger() == ledger
            }),
            Err(unusable) => {
                report.warning("state-invalid", &format!("{unusable}; it is replaced"));
                None
            }
        };
        Ok(Self { snapshot, tree, state })
    }

    pub(crate) fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// How many shards there are, and their bytes.
    pub(crate) fn size(&self) -> (u64, u64) {
        let shards = self.tree.shards();
        (shards.len() as u64, shards.values().map(|entry| entry.bytes).sum())
    }
}

impl Shards for Head<'_> {
    type Fault = ReadFault;

    fn shard(&self, id: ShardId, max: u64) -> Result<Found, ReadFault> {
        match self.tree.shards().get(&id) {
            None => Ok(Found::Absent),
            Some(entry) if entry.bytes > max => Ok(Found::Unusable),
            Some(_) => Ok(self.tree.content(self.snapshot, id)?.map_or(Found::Unusable, Found::Bytes)),
        }
    }
}
