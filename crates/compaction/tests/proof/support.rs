//! Folders of shards as maps, and the whole way of a plan through them.

use std::collections::{BTreeMap, BTreeSet};

use daybook_compaction::{Bounds, Decision, Facts, NothingToDo, Plan, ProvenPlan, RawPlan, Stamp, Target};
use daybook_core::limits::{Bytes, Count};
use daybook_core::shard::{Entry, checked_lines};
use daybook_core::state::{State, Trigger};
use daybook_core::{Digest, Ledger, Limits, Record, ShardId};
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;

pub(crate) type Folder = BTreeMap<ShardId, Vec<u8>>;

pub(crate) const BOUNDS: Bounds = Bounds {
    max_segment: Bytes::new(8 * 1024),
    max_shards: Count::new(1024),
    min_segments: Count::new(2),
    max_segments: Count::new(16),
};

pub(crate) const NOW: &str = "2026-04-01T00:00:00.000Z";

pub(crate) fn target(bounds: Bounds) -> Target<'static> {
    Target { ledger: "triage", branch: "ledgers/triage", bounds }
}

pub(crate) fn facts(folder: &Folder) -> Vec<Facts<'_>> {
    folder.iter().map(|(id, bytes)| Facts::of(*id, bytes)).collect()
}

/// A plan of the built-in choice.
pub(crate) fn plan(folder: &Folder, bounds: Bounds) -> Result<Plan, NothingToDo> {
    let stamp = Stamp { trigger: Trigger::Scheduled, created_at: NOW, base_commit: &"a".repeat(40) };
    let Ok(plan) = Plan::choose(&target(bounds), &stamp, &facts(folder), folder);
    plan
}

/// Checks and proves a plan; what does not pass the check is a rejection.
pub(crate) fn decide(plan: &[u8], folder: &Folder, state: Option<&State>, bounds: Bounds) -> Decision {
    let target = target(bounds);
    match RawPlan::new(plan).and_then(|plan| plan.check(&target)) {
        Ok(checked) => {
            let Ok(decision) = checked.prove(&target, folder, state);
            decision
        }
        Err(fault) => Decision::Rejected(fault.into()),
    }
}

/// What one commit does.
pub(crate) fn carry_out(proven: &ProvenPlan, folder: &mut Folder, state: &mut Option<State>) {
    for source in proven.sources() {
        folder.remove(&source.segment()).unwrap();
    }
    folder.insert(proven.replacement().id(), proven.replacement().bytes().to_vec());
    *state = Some(State::after(state.as_ref(), "triage", proven.plan_id(), proven.trigger(), NOW).unwrap());
}

/// Every record that a reader finds.
pub(crate) fn records(folder: &Folder) -> BTreeSet<Digest> {
    folder.values().flat_map(|bytes| checked_lines(bytes)).filter_map(Result::ok).map(|line| line.sha()).collect()
}

/// The records in their order, and the heads.
pub(crate) fn reconstructed(folder: &Folder) -> (Vec<Digest>, Vec<Digest>) {
    let mut ledger = Ledger::builder(Limits::default().max_shards());
    for (id, bytes) in folder {
        ledger.add_shard(*id, bytes);
    }
    let ledger = ledger.finish();
    (ledger.order().map(Entry::sha).collect(), ledger.heads().to_vec())
}

pub(crate) fn shard(records: &[&Record]) -> Vec<u8> {
    records.iter().flat_map(|record| [record.line(), b"\n"].concat()).collect()
}

/// A shard of one to six records: new ones, and now and then one that lies elsewhere already.
pub(crate) fn append(random: &mut Random, known: &mut Vec<Record>, folder: &mut Folder) {
    let mut chosen = Vec::new();
    for _ in 0..=random.below(6) {
        if known.is_empty() || random.below(4) > 0 {
            let parents: Vec<Digest> =
                if known.is_empty() { Vec::new() } else { vec![known[random.below(known.len())].sha()] };
            let payload = 200 + random.below(900);
            known.push(ledgers::record(random, known.len(), &parents, payload));
            chosen.push(known.len() - 1);
        } else {
            chosen.push(random.below(known.len()));
        }
    }
    let chosen: Vec<&Record> = chosen.into_iter().map(|index| &known[index]).collect();
    folder.insert(ShardId::new(random.uuid()).unwrap(), shard(&chosen));
}

/// A folder of `shards` shards.
pub(crate) fn folder(random: &mut Random, shards: usize) -> Folder {
    let (mut known, mut folder) = (Vec::new(), Folder::new());
    for _ in 0..shards {
        append(random, &mut known, &mut folder);
    }
    folder
}
