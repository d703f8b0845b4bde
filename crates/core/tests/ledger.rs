//! Reconstruction does not depend on how records are spread over shards and lines, nor on the order of reading.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops where its data is not as expected")]

use std::collections::{BTreeMap, BTreeSet};

use daybook_core::index::LedgerIndex;
use daybook_core::limits::{Bytes, Count};
use daybook_core::segment::{PERSIST_METADATA, Segment};
use daybook_core::shard::{Entry, ShardScan};
use daybook_core::{Digest, Draft, Ledger, Limits, Record, RecordId, ShardId, json};
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;
use daybook_testkit::said;
use proptest::prelude::*;

/// A random graph: each record names up to three earlier ones; some parents are then left out.
fn graph(seed: u64, records: usize, left_out: usize) -> Vec<Record> {
    let mut random = Random::new(seed);
    let mut all: Vec<Record> = Vec::new();
    for number in 0..records {
        let count = if all.is_empty() { 0 } else { random.below(4) };
        let parents: Vec<Digest> = (0..count).map(|_| all[random.below(all.len())].sha()).collect();
        all.push(ledgers::record(&mut random, number, &parents, 60));
    }
    for _ in 0..left_out.min(all.len()) {
        all.remove(random.below(all.len()));
    }
    all
}

/// Deals records out to shards, in any order, some of them twice.
fn spread(records: &[Record], seed: u64, shards: usize) -> Vec<(ShardId, Vec<u8>)> {
    let mut random = Random::new(seed);
    let mut dealt: Vec<(ShardId, Vec<u8>)> =
        (0..shards).map(|_| (ShardId::new(random.uuid()).unwrap(), Vec::new())).collect();
    let mut order: Vec<usize> = (0..records.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    for record in order {
        for _ in 0..=usize::from(random.below(8) == 0) {
            let (_, bytes) = &mut dealt[random.below(shards)];
            bytes.extend_from_slice(records[record].line());
            bytes.push(b'\n');
        }
    }
    dealt
}

fn read<'a>(shards: impl IntoIterator<Item = &'a (ShardId, Vec<u8>)>) -> Ledger {
    let mut builder = Ledger::builder(Count::new(1024));
    for (shard, bytes) in shards {
        builder.add_shard(*shard, bytes);
    }
    builder.finish()
}

fn order(ledger: &Ledger) -> Vec<Digest> {
    ledger.order().map(Entry::sha).collect()
}

/// The rule of FORMATS §3 as it stands: again and again, take all whose known parents are taken, by ascending SHA.
fn obvious_order(records: &[Record]) -> Vec<Digest> {
    let known: BTreeMap<Digest, &Record> = records.iter().map(|record| (record.sha(), record)).collect();
    let mut taken: BTreeSet<Digest> = BTreeSet::new();
    let mut order = Vec::new();
    while order.len() < known.len() {
        let ready = |record: &Record| {
            record.parents().iter().all(|parent| taken.contains(parent) || !known.contains_key(parent))
        };
        let layer: Vec<Digest> =
            known.iter().filter(|(sha, record)| !taken.contains(sha) && ready(record)).map(|(sha, _)| *sha).collect();
        taken.extend(&layer);
        order.extend(layer);
    }
    order
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // DB-5.1-01, DB-6-01, DB-6-04, DB-6-06, DB-10-04
    #[test]
    fn any_spread_over_shards_gives_the_same_ledger(
        seed in any::<u64>(), records in 0_usize..60, left_out in 0_usize..6, shards in 1_usize..9, deal in any::<u64>(),
    ) {
        let records = graph(seed, records, left_out);
        let one = read(&spread(&records, deal, shards));
        let other = read(&spread(&records, deal ^ 1, shards + 3));
        prop_assert_eq!(order(&one), obvious_order(&records));
        prop_assert_eq!(order(&one), order(&other));
        prop_assert_eq!(one.heads(), other.heads());
        let named: BTreeSet<&Digest> = records.iter().flat_map(Record::parents).collect();
        let heads: BTreeSet<Digest> = records.iter().map(Record::sha).filter(|sha| !named.contains(sha)).collect();
        prop_assert_eq!(one.heads().to_vec(), heads.into_iter().collect::<Vec<_>>());
        let incomplete = records.iter().filter(|record| record.parents().iter().any(|parent| !one.contains(parent))).count();
        prop_assert_eq!(usize::try_from(one.incomplete()), Ok(incomplete));
    }

    // DB-6-06
    #[test]
    fn the_order_of_reading_changes_nothing_at_all(seed in any::<u64>(), deal in any::<u64>()) {
        let mut shards = spread(&graph(seed, 40, 3), deal, 6);
        shards[2].1.extend_from_slice(b"not a record\n\n{}");
        let (forth, back) = (read(&shards), read(shards.iter().rev()));
        prop_assert_eq!(order(&forth), order(&back));
        prop_assert_eq!(forth.diagnostics(), back.diagnostics());
    }

    #[test]
    fn the_writers_index_agrees_after_every_record(seed in any::<u64>(), deal in any::<u64>()) {
        let mut index = LedgerIndex::new([]);
        let mut seen: Vec<(ShardId, Vec<u8>)> = Vec::new();
        for (shard, bytes) in spread(&graph(seed, 30, 2), deal, 4) {
            for entry in ShardScan::new(shard, &bytes).entries() {
                index.add(entry);
            }
            seen.push((shard, bytes));
            let ledger = read(&seen);
            prop_assert_eq!(index.heads().collect::<Vec<_>>(), ledger.heads().to_vec());
            prop_assert_eq!(index.len(), ledger.len());
        }
    }

    // DB-6-03
    #[test]
    fn a_segment_depends_on_the_set_of_its_records_alone(seed in any::<u64>(), deal in any::<u64>()) {
        let records = graph(seed, 20, 0);
        let forth = Segment::build(PERSIST_METADATA, &records, Bytes::new(u64::MAX)).unwrap();
        let back = Segment::build(PERSIST_METADATA, records.iter().rev().chain(&records), Bytes::new(u64::MAX)).unwrap();
        prop_assert_eq!(&forth, &back);
        let read_back = read(&[(forth.id(), forth.bytes().to_vec())]);
        prop_assert_eq!(order(&read_back), order(&read(&spread(&records, deal, 3))));
    }

    /// §2: readers ignore malformed lines without discarding valid records, wherever the damage is.
    // DB-2-07, DB-10-03
    #[test]
    fn a_bad_line_hides_no_good_one(seed in any::<u64>(), at in any::<prop::sample::Index>(), junk in "[ -~]{0,40}") {
        let records = graph(seed, 12, 0);
        let mut lines: Vec<Vec<u8>> = records.iter().map(|record| record.line().to_vec()).collect();
        lines.insert(at.index(lines.len() + 1), junk.into_bytes());
        let bytes: Vec<u8> = lines.into_iter().flat_map(|line| [line, b"\n".to_vec()].concat()).collect();
        let ledger = read(&[(ShardId::from_text("00000000-0000-4000-8000-000000000001").unwrap(), bytes)]);
        prop_assert_eq!(order(&ledger), obvious_order(&records));
        prop_assert_eq!(ledger.diagnostics().total(), 1);
    }
}

/// A writer is refused what every reader would refuse.
#[test]
fn a_draft_with_parents_or_an_instant_that_no_record_has_makes_none() {
    let digests: Vec<Digest> = {
        let all: BTreeSet<Digest> = (0..65_u8).map(|number| Digest::of(&[number])).collect();
        all.into_iter().collect()
    };
    let id = RecordId::from_text(b"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52").unwrap();
    let payload = json::parse(b"{}").unwrap();
    let build = |parents: &[Digest], timestamp: &str| {
        let draft = Draft { id, kind: "note", timestamp, parents, payload: &payload };
        Record::build(&draft, &Limits::default()).map_err(|fault| said::code(&fault, daybook_core::WriteFault::code))
    };
    let now = "2028-02-29T23:59:59.999Z";
    let backwards: Vec<Digest> = digests[..2].iter().rev().copied().collect();
    for wrong in [&digests[..], &backwards, &[digests[0], digests[0]]] {
        assert_eq!(build(wrong, now).unwrap_err(), "invalid-parents");
    }
    for wrong in
        ["", "2027-02-29T23:59:59.999Z", "2028-02-29T23:59:59Z", "2028-02-29T24:00:00.000Z", "2028-02-29t23:59:59.999z"]
    {
        assert_eq!(build(&digests[..1], wrong).unwrap_err(), "invalid-timestamp", "{wrong}");
    }
    let record = build(&digests[..64], now).unwrap();
    assert_eq!(Record::parse(record.line()), Ok(record));
}
