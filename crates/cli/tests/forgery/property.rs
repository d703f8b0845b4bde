//! Random and mutated logs, tars and safe outputs through every job that reads them: no panic, and documented exits.

use std::fs;

use daybook_testkit::api::{ApiServer, Reply};
use daybook_testkit::random::Random;
use proptest::prelude::*;

use crate::run::{Project, Run};

/// Some bytes changed, taken out or doubled.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random, times: usize) {
    for _ in 0..times {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(600)).min(bytes.len());
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = b"\"{}\n\0\xff0"[random.below(7)],
            2 => drop(bytes.drain(at..end)),
            _ => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_run_leaves(seed in any::<u64>(), times in 0_usize..30, noise in any::<bool>()) {
        let (project, api) = (Project::new(), ApiServer::start(&[Reply::status(204)]));
        let mut random = Random::new(seed);
        let mut run = Run::restore(&project);
        run.append(3);
        let mut spoil = |name: &str| {
            let mut bytes = fs::read(run.path(name)).unwrap();
            if noise {
                bytes = (0..random.below(2000)).map(|_| random.below(256) as u8).collect();
            }
            mutate(&mut bytes, &mut random, times);
            fs::write(run.path(name), bytes).unwrap();
        };
        spoil("transaction-log.jsonl");
        spoil("safe-outputs.jsonl");
        let merge = run.merge();
        prop_assert_eq!(merge.exit, 0, "merging never fails the job");
        // The machine is the agent's until everything is uploaded.
        spoil("staged/triage.tar");
        spoil("safe-outputs.jsonl");
        let detect = run.detect();
        prop_assert!([0, 3].contains(&detect.exit), "{:?}", detect);
        let outputs = run.safe_outputs(&api);
        let allowed: &[i32] = if detect.exit == 3 { &[3] } else { &[0, 8] };
        prop_assert!(allowed.contains(&outputs.exit), "{:?}", outputs);
        let persist = run.persist();
        let allowed: &[i32] = if detect.exit == 3 { &[3] } else { &[0, 8] };
        prop_assert!(allowed.contains(&persist.exit), "{:?}", persist);
        prop_assert!(project.records().len() <= 3);
    }
}
