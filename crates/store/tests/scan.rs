//! Reading on several threads gives what reading on one gives.

mod common;

use std::num::NonZeroUsize;
use std::sync::Mutex;

use daybook_core::Digest;
use daybook_core::limits::Count;
use daybook_store::{MemoryFolder, Progress, scan_folder};
use daybook_testkit::ledgers::{self, Shape};

// DB-6-06, DB-9-06
#[test]
fn the_result_does_not_depend_on_scheduling() {
    let memory = tempfile::tempdir().unwrap();
    let mut shards = ledgers::shards(Shape::new(600, 40, true), 1);
    for (_, bytes) in shards.iter_mut().step_by(7) {
        bytes.extend_from_slice(b"junk\n{\"torn\":");
    }
    let repeated = shards[3].1.clone();
    shards[20].1.splice(0..0, repeated);
    ledgers::write(memory.path(), &shards).unwrap();
    let folder = MemoryFolder::open(memory.path()).unwrap().shards().unwrap().unwrap();
    let scan = |threads: usize, bound: u64| {
        let told = Mutex::new(Vec::new());
        let progress = |progress: Progress| told.lock().unwrap().push(progress.shards);
        let ledger = scan_folder(&folder, Count::new(bound), NonZeroUsize::new(threads).unwrap(), &progress).unwrap();
        let mut told = told.into_inner().unwrap();
        told.sort_unstable();
        assert_eq!(told, (1..=usize::try_from(bound.min(40)).unwrap()).collect::<Vec<_>>());
        let order: Vec<Digest> = ledger.order().map(daybook_core::shard::Entry::sha).collect();
        (order, ledger.heads().to_vec(), ledger.diagnostics().clone())
    };
    let alone = scan(1, 1024);
    assert_eq!(alone.0.len(), 600);
    for round in 0..20 {
        assert_eq!(scan(2 + round % 7, 1024), alone);
    }
    // §9: reading stops at the bound, at the same shards whoever reads them.
    let bounded = scan(1, 25);
    assert!(bounded.0.len() < 600);
    assert_eq!(scan(4, 25), bounded);
}
