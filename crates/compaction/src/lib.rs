//! Which shards of a ledger become one, and the proof that no record is lost by it (§5.3, §5.4, FORMATS §6, §7).
//!
//! The planner is not trusted, and neither is its plan: [`RawPlan`] → [`CheckedPlan`] (shape and bounds, read alone) →
//! [`ProvenPlan`] (held against the shards of a branch as it is now). Only the last says what to write and what to
//! retire. Nothing here touches a file, a clock or a network; shards come in through [`daybook_core::shards::Shards`].
//!
//! ```
//! use std::collections::BTreeMap;
//! use daybook_compaction::{Bounds, Decision, Facts, Plan, RawPlan, Stamp, Target};
//! use daybook_core::{Limits, ShardId, config::Compaction, config::Schedule, limits::Count, state::Trigger};
//!
//! let first = br#"{"id":"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52","parents":[],"payload":{"a":1},"sha":"sha256:77fa2bb1e26b49905c9d410de2d5edde34320a6470619115ba246372f99384f1","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":1}
//! "#;
//! let id = |text| ShardId::from_text(text).unwrap();
//! let shards: BTreeMap<ShardId, Vec<u8>> = BTreeMap::from([
//!     (id("00000000-0000-4000-8000-000000000001"), first.to_vec()),
//!     (id("00000000-0000-4000-8000-000000000002"), first.to_vec()),
//! ]);
//! let settings =
//!     Compaction { schedule: Schedule::Daily, min_segments: Count::new(2), max_segments: Count::new(128), script: None };
//! let bounds = Bounds::of(&Limits::default(), &settings);
//! let target = Target { ledger: "triage", branch: "ledgers/triage", bounds };
//! let facts: Vec<Facts<'_>> = shards.iter().map(|(id, bytes)| Facts::of(*id, bytes.as_slice())).collect();
//! let base = "0".repeat(40);
//! let stamp = Stamp { trigger: Trigger::Scheduled, created_at: "2026-04-01T00:00:00.000Z", base_commit: &base };
//! let plan = Plan::choose(&target, &stamp, &facts, &shards)??;
//! // What follows is done elsewhere, by somebody who believes none of it.
//! let checked = RawPlan::new(&plan.to_bytes())?.check(&target)?;
//! let Decision::Ready(proven) = checked.prove(&target, &shards, None)? else { panic!() };
//! assert_eq!((proven.sources().len(), proven.replacement().records().len()), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod coverage;
mod facts;
mod plan;
mod prove;
mod rescue;
mod select;

pub use check::{CheckedPlan, PlanFault, RawPlan};
pub use coverage::{AuthorizedCoverage, Declaration, DeclarationFault, Retirement, Uncovered};
pub use facts::{Facts, Flaw};
pub use plan::{Identity, MAX_PLAN_BYTES, MAX_RECORDS, MAX_SOURCE_BYTES, Plan, Stamp, Target, Unplannable, plan_id};
pub use prove::{Conflict, Decision, Forgery, ProvenPlan, Stale};
pub use rescue::{Rescue, Unrescued, rescue};
pub use select::{Bounds, NothingToDo, eligible, propose, select};
