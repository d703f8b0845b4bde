//! The ledger as it is on the branch: what each shard is, and when it was last compacted.

use daybook_branch::{LedgerTree, Snapshot};
use daybook_compaction::{Facts, MAX_SOURCE_BYTES};
use daybook_core::Limits;
use daybook_core::limits::MAX_SHARDS;
use daybook_core::state::State;
use daybook_runner::{Report, Severity, Stop};
use serde_json::json;

/// Most shards that are named as damaged.
const MAX_NAMED: usize = 20;

/// One look at a branch.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    tree: LedgerTree<'a>,
    facts: Vec<Facts<'static>>,
    state: Option<State>,
}

impl<'a> Head<'a> {
    /// Reads every shard, one at a time, and keeps the bytes of as many as a plan may have.
    pub(crate) fn read(
        snapshot: &'a Snapshot,
        ledger: &str,
        limits: &Limits,
        report: &mut Report,
    ) -> Result<Self, Stop> {
        let tree = LedgerTree::of(snapshot)?;
        let bound = usize::try_from(MAX_SHARDS.max).unwrap_or(usize::MAX);
        let (mut facts, mut kept) = (Vec::new(), 0);
        for (id, entry) in tree.shards().iter().take(bound) {
            facts.push(match tree.content(*id)? {
                Some(bytes) if kept + entry.bytes <= MAX_SOURCE_BYTES => {
                    kept += entry.bytes;
                    Facts::of(*id, bytes)
                }
                Some(bytes) => Facts::of(*id, bytes).without_bytes(),
                None => Facts::unreadable(*id, entry.bytes),
            });
        }
        let state = tree.state(ledger)?.unwrap_or_else(|unusable| {
            report.warning(unusable.code(), &format!("{unusable}; it is ignored"));
            None
        });
        let head = Self { tree, facts, state };
        head.tell(limits, report);
        Ok(head)
    }

    fn tell(&self, limits: &Limits, report: &mut Report) {
        let (shards, most) = (self.tree.shards().len() as u64, limits.max_shards().get());
        report.read(format!("branch {}: {shards} of {most} shards", self.tree.snapshot().branch()));
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

    /// What lies on the branch.
    pub(crate) const fn tree(&self) -> &LedgerTree<'a> {
        &self.tree
    }

    pub(crate) fn facts(&self) -> &[Facts<'static>] {
        &self.facts
    }

    /// What this ledger's last compaction left.
    pub(crate) const fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }
}
