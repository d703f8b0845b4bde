//! A plan and its proof against SHA-256 of the same bytes in memory.
//!
//! `cargo bench -p daybook-compaction`: fails over the goal.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark is no part of the crate"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use daybook_compaction::{Bounds, Decision, Facts, Plan, RawPlan, Stamp, Target};
use daybook_core::limits::{Bytes, Count};
use daybook_core::state::Trigger;
use daybook_core::{Digest, ShardId};
use daybook_testkit::ledgers::{self, Shape};

const GOAL: f64 = 12.0;
const ROUNDS: usize = 25;

fn best(mut work: impl FnMut()) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    });
    times.min().unwrap_or_default()
}

fn main() {
    let shards: BTreeMap<ShardId, Vec<u8>> = ledgers::shards(Shape::new(10_000, 128, true), 1).into_iter().collect();
    let size: usize = shards.values().map(Vec::len).sum();
    let bounds = Bounds {
        max_segment: Bytes::new(10 * 1024 * 1024),
        max_shards: Count::new(1024),
        min_segments: Count::new(32),
        max_segments: Count::new(128),
    };
    let target = Target { ledger: "triage", branch: "ledgers/triage", bounds };
    let base = "a".repeat(40);
    let stamp = Stamp { trigger: Trigger::Scheduled, created_at: "2026-04-01T00:00:00.000Z", base_commit: &base };
    let plan = || {
        let facts: Vec<Facts<'_>> = shards.iter().map(|(id, bytes)| Facts::of(*id, bytes.as_slice())).collect();
        let Ok(plan) = Plan::choose(&target, &stamp, &facts, &shards);
        plan.unwrap().to_bytes()
    };
    let bytes = plan();
    let apply = || {
        let checked = RawPlan::new(&bytes).unwrap().check(&target).unwrap();
        let Ok(Decision::Ready(proven)) = checked.prove(&target, &shards, None) else { panic!("a plan that is none") };
        assert_eq!((proven.sources().len(), proven.replacement().records().len()), (128, 10_000));
    };
    let yardstick = best(|| {
        let digests: Vec<Digest> = shards.values().map(|bytes| Digest::of(bytes)).collect();
        assert_eq!(digests.len(), 128);
    });
    let (planned, applied) = (best(|| drop(plan())), best(apply));
    let looked = best(|| drop(shards.iter().map(|(id, bytes)| Facts::of(*id, bytes.as_slice())).collect::<Vec<_>>()));
    let checked = best(|| drop(RawPlan::new(&bytes).unwrap().check(&target).unwrap()));
    let ratio = (planned + applied).as_secs_f64() / yardstick.as_secs_f64();
    println!("| {size} bytes in 128 shards, 10,000 records | time | × SHA-256 |\n|---|---|---|");
    for (name, time) in [
        ("SHA-256 of the shards", yardstick),
        ("looking at every shard, of the plan", looked),
        ("plan", planned),
        ("the check alone", checked),
        ("check and proof", applied),
    ] {
        println!("| {name} | {time:.2?} | {:.1} |", time.as_secs_f64() / yardstick.as_secs_f64());
    }
    println!("| plan and proof together, goal {GOAL} | {:.2?} | {ratio:.1} |", planned + applied);
    assert!(ratio <= GOAL, "over the goal");
}
