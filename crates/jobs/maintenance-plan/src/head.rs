//! The ledger as it is on the branch: what each shard is, and when it was last compacted.

use daybook_branch::{LedgerTree, ReadFault, Snapshot, UnusableState};
use daybook_compaction::{Facts, Found, Shards};
use daybook_core::limits::MAX_SHARDS;
use daybook_core::state::State;
use daybook_core::{Limits, ShardId};
use daybook_runner::{Report, Severity};
use serde_json::json;

use crate::stop::Stop;

/// Most shards that are named as damaged.
const MAX_NAMED: usize = 20;

/// One look at a branch.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    snapshot: &'a Snapshot,
    tree: LedgerTree,
    facts: Vec<Facts>,
    state: Result<Option<State>, UnusableState>,
}

impl<'a> Head<'a> {
    /// Reads every shard, one at a time.
    pub(crate) fn read(snapshot: &'a Snapshot, limits: &Limits, report: &mut Report) -> Result<Self, Stop> {
        let tree = LedgerTree::of(snapshot)?;
        let bound = usize::try_from(MAX_SHARDS.max).unwrap_or(usize::MAX);
        let mut facts = Vec::new();
        for (id, entry) in tree.shards().iter().take(bound) {
            facts.push(match tree.content(snapshot, *id)? {
                Some(bytes) => Facts::of(*id, &bytes),
                None => Facts::unreadable(*id, entry.bytes),
            });
        }
        let state = LedgerTree::state(snapshot)?;
        let head = Self { snapshot, tree, facts, state };
        head.tell(limits, report);
        Ok(head)
    }

    fn tell(&self, limits: &Limits, report: &mut Report) {
        let (shards, most) = (self.tree.shards().len() as u64, limits.max_shards().get());
        report.read(format!("branch {}: {shards} of {most} shards", self.snapshot.branch()));
        report.count("shards", shards).count("max-shards", most);
        for (id, flaw) in self.facts.iter().filter_map(|one| Some((one.id(), one.flaw()?))).take(MAX_NAMED) {
            let message =
                format!("shard {id} is no source: {}; `daybook maintain --rescue` saves what is good", flaw.name());
            report.diagnose(Severity::Warning, "damaged-shard", &message, json!({"shard": id, "flaw": flaw.name()}));
        }
        let declarations = self.tree.declarations();
        if declarations > 0 {
            let message = format!("{declarations} coverage declarations on the branch are ignored");
            report.warning("coverage-ignored", &message);
        }
    }

    pub(crate) fn facts(&self) -> &[Facts] {
        &self.facts
    }

    /// The bytes of all shards.
    pub(crate) fn bytes(&self) -> u64 {
        self.facts.iter().map(Facts::bytes).sum()
    }

    /// What this ledger's last compaction left; anything else counts as nothing, and is named.
    pub(crate) fn state(&self, ledger: &str, report: &mut Report) -> Option<&State> {
        match &self.state {
            Ok(Some(state)) if state.ledger() == ledger => Some(state),
            Ok(None) => None,
            Ok(Some(_)) => {
                report
                    .warning("state-foreign", "the compaction state on the branch is another ledger's; it is ignored");
                None
            }
            Err(unusable) => {
                report.warning("state-invalid", &format!("{unusable}; it is ignored"));
                None
            }
        }
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
