//! The order of lists: the newest record first.

use std::collections::{BinaryHeap, HashMap};

use daybook_core::{CheckedLine, Digest, Ledger, timestamp};

/// What is kept of a record to order it: its instant, whose canonical text sorts by time, and its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    at: [u8; timestamp::LEN],
    /// The record.
    pub sha: Digest,
}

impl Stamp {
    /// The stamp of a checked line.
    #[must_use]
    pub fn of(line: &CheckedLine<'_>) -> Self {
        let at = line.timestamp().as_bytes().try_into().unwrap_or([b'0'; timestamp::LEN]);
        Self { at, sha: line.sha() }
    }
}

/// The newest records first, each once, at most `limit`; and how many there are in all.
#[must_use]
pub fn first(mut stamps: Vec<Stamp>, limit: usize) -> (Vec<Digest>, usize) {
    stamps.sort_unstable_by(|left, right| right.cmp(left));
    stamps.dedup();
    let total = stamps.len();
    stamps.truncate(limit);
    (stamps.into_iter().map(|stamp| stamp.sha).collect(), total)
}

/// The newest records first, every record before its parents, at most `limit`.
#[must_use]
pub fn children_first(ledger: &Ledger, stamps: Vec<Stamp>, limit: usize) -> Vec<Digest> {
    let stamps: HashMap<Digest, Stamp> = stamps.into_iter().map(|stamp| (stamp.sha, stamp)).collect();
    let mut waiting: HashMap<Digest, usize> = HashMap::with_capacity(stamps.len());
    for entry in ledger.order() {
        for parent in entry.parents() {
            *waiting.entry(*parent).or_default() += 1;
        }
    }
    let mut ready: BinaryHeap<Stamp> = ledger.heads().iter().filter_map(|head| stamps.get(head).copied()).collect();
    let mut order = Vec::new();
    while let Some(stamp) = ready.pop().filter(|_| order.len() < limit) {
        order.push(stamp.sha);
        for parent in ledger.get(&stamp.sha).into_iter().flat_map(|entry| entry.parents()) {
            if let Some(left) = waiting.get_mut(parent) {
                *left -= 1;
                if *left == 0 {
                    ready.extend(stamps.get(parent).copied());
                }
            }
        }
    }
    order
}

/// A page in ascending order of digests that begins after `after`, each once, and whether there is more.
#[must_use]
pub fn ascending_after(mut shas: Vec<Digest>, after: Option<Digest>, limit: usize) -> (Vec<Digest>, bool) {
    shas.retain(|sha| after.is_none_or(|after| *sha > after));
    shas.sort_unstable();
    shas.dedup();
    let more = shas.len() > limit;
    shas.truncate(limit);
    (shas, more)
}

#[cfg(test)]
mod tests {
    use daybook_core::Limits;
    use daybook_testkit::ledgers::{Shape, shards};
    use proptest::prelude::*;

    use super::*;

    fn scanned(records: usize, seed: u64) -> (Ledger, Vec<Stamp>) {
        let mut builder = Ledger::builder(Limits::default().max_shards());
        let mut stamps = Vec::new();
        for (shard, bytes) in shards(Shape::new(records, 4, true), seed) {
            builder
                .add_scan(daybook_core::shard::ShardScan::noting(shard, &bytes, |line| stamps.push(Stamp::of(line))));
        }
        (builder.finish(), stamps)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn the_newest_come_first_and_no_parent_before_its_child(records in 1_usize..200, seed in 0_u64..1000) {
            let (ledger, stamps) = scanned(records, seed);
            // The generator's instants ascend with the records, so both orders are the same here.
            let (listed, total) = first(stamps.clone(), usize::MAX);
            prop_assert_eq!((listed.len(), total), (records, records));
            let drawn = children_first(&ledger, stamps.clone(), usize::MAX);
            prop_assert_eq!(&listed, &drawn);
            let place: HashMap<Digest, usize> = drawn.iter().enumerate().map(|(at, sha)| (*sha, at)).collect();
            for entry in ledger.order() {
                prop_assert!(entry.parents().iter().all(|parent| place[parent] > place[&entry.sha()]));
            }
            // A limit is a prefix; a copy in a second shard changes nothing.
            let twice: Vec<Stamp> = stamps.iter().chain(&stamps).copied().collect();
            let (some, total) = first(twice, 7);
            prop_assert_eq!((&some[..], total), (&listed[..records.min(7)], records));
            prop_assert_eq!(&children_first(&ledger, stamps, 7)[..], &listed[..records.min(7)]);
        }
    }

    #[test]
    fn pages_in_ascending_order_meet_end_to_end() {
        let shas: Vec<Digest> = (0_u8..10).map(|number| Digest::of(&[number])).collect();
        let (all, more) = ascending_after(shas.iter().chain(&shas).copied().collect(), None, 100);
        assert!(!more && all.len() == 10 && all.is_sorted());
        let (page, more) = ascending_after(shas.clone(), None, 4);
        assert_eq!((&page[..], more), (&all[..4], true));
        let (rest, more) = ascending_after(shas, page.last().copied(), 6);
        assert_eq!((&rest[..], more), (&all[4..], false));
    }
}
