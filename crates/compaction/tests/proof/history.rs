//! Random histories: appends, plans that are applied late, twice or never, damage, and rescues.

use std::collections::BTreeSet;

use daybook_compaction::{Decision, Facts, Identity, Stale, rescue};
use daybook_core::ShardId;
use daybook_core::state::State;
use daybook_testkit::random::Random;

use crate::support::{BOUNDS, Folder, append, carry_out, decide, plan, reconstructed, records};

/// What happened in a history, so that a test cannot pass because nothing did.
type Seen = BTreeSet<&'static str>;

struct History {
    random: Random,
    known: Vec<daybook_core::Record>,
    folder: Folder,
    state: Option<State>,
    plans: Vec<Vec<u8>>,
}

impl History {
    fn step(&mut self, seen: &mut Seen) {
        match self.random.below(10) {
            0..=3 => append(&mut self.random, &mut self.known, &mut self.folder),
            4 | 5 => self.plans.extend(plan(&self.folder, BOUNDS).ok().map(|plan| plan.to_bytes())),
            6..=8 => self.apply(seen),
            _ => self.damage_and_rescue(seen),
        }
    }

    /// Any plan of the past, the last one most often.
    fn apply(&mut self, seen: &mut Seen) {
        let Some(last) = self.plans.len().checked_sub(1) else { return };
        let chosen = if self.random.below(2) == 0 { last } else { self.random.below(last + 1) };
        let before = (records(&self.folder), reconstructed(&self.folder), self.folder.clone());
        match decide(&self.plans[chosen], &self.folder, self.state.as_ref(), BOUNDS) {
            Decision::Ready(proven) => {
                seen.insert("applied");
                carry_out(&proven, &mut self.folder, &mut self.state);
                let named: BTreeSet<ShardId> = proven.sources().iter().map(Identity::segment).collect();
                for (id, bytes) in before.2.iter().filter(|(id, _)| !named.contains(id)) {
                    assert_eq!(self.folder.get(id), Some(bytes), "a shard that the plan does not name");
                }
                assert!(self.folder.len() < before.2.len() || proven.replacement_present());
                let again = decide(&self.plans[chosen], &self.folder, self.state.as_ref(), BOUNDS);
                assert_eq!(again, Decision::AlreadyApplied);
            }
            Decision::AlreadyApplied => drop(seen.insert("already applied")),
            Decision::Stale(Stale::SomeGone(_)) => drop(seen.insert("some gone")),
            Decision::Stale(Stale::AllGone) => drop(seen.insert("all gone")),
            Decision::Conflict(_) => drop(seen.insert("conflict")),
            Decision::Rejected(forgery) => panic!("a plan of ours is none: {forgery}"),
        }
        assert_eq!(records(&self.folder), before.0);
        assert_eq!(reconstructed(&self.folder), before.1, "order and heads");
    }

    /// A write that did not finish, or a line that is none; and sometimes its rescue.
    fn damage_and_rescue(&mut self, seen: &mut Seen) {
        let Some(id) = self.folder.keys().nth(self.random.below(self.folder.len().max(1))).copied() else { return };
        let bytes = self.folder.get_mut(&id).unwrap();
        bytes.extend_from_slice(if self.random.below(2) == 0 { b"{\"id\":\"ldg-" } else { b"no record\n" });
        let before = (records(&self.folder), reconstructed(&self.folder));
        if let Ok(plan) = plan(&self.folder, BOUNDS) {
            assert!(plan.sources().iter().all(|source| source.segment() != id), "a damaged shard is no source");
        }
        if self.random.below(3) > 0 {
            let rescue = rescue(id, &self.folder[&id]).unwrap();
            let fresh = rescue.replacement().unwrap();
            self.folder.insert(fresh.id(), fresh.bytes().to_vec());
            let Ok(retirement) = rescue.coverage().retire(&self.folder);
            for source in retirement.unwrap().sources() {
                self.folder.remove(source);
            }
            // One that has the name of its own good records is mended where it is; from any other the slot comes back.
            let mended = fresh.id() == id;
            assert_eq!(self.folder.contains_key(&id), mended);
            assert_eq!(Facts::of(fresh.id(), &self.folder[&fresh.id()]).flaw(), None);
            seen.insert(if mended { "mended" } else { "rescued" });
        }
        assert_eq!((records(&self.folder), reconstructed(&self.folder)), before);
    }
}

// DB-5.3-13, DB-6-05, DB-9-01, DB-5.4-04, DB-10-07, DB-10-08
#[test]
fn no_history_loses_a_record_or_changes_an_order() {
    let mut seen = Seen::new();
    for seed in 0..150 {
        let mut history = History {
            random: Random::new(seed),
            known: Vec::new(),
            folder: Folder::new(),
            state: None,
            plans: Vec::new(),
        };
        for _ in 0..60 {
            history.step(&mut seen);
        }
        let kept = records(&history.folder);
        assert!(history.known.iter().all(|record| kept.contains(&record.sha())), "seed {seed}");
    }
    let all = ["applied", "already applied", "some gone", "all gone", "conflict", "rescued", "mended"];
    assert!(all.iter().all(|what| seen.contains(what)), "{seen:?}");
}
