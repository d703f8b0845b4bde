//! The built-in choice: what it writes over many rounds, and what it leaves alone.

use daybook_compaction::{Bounds, Decision, Facts, Flaw, NothingToDo, propose, select};
use daybook_core::limits::{Bytes, Count};
use daybook_core::{Record, ShardId};
use daybook_testkit::{ledgers, random::Random};

use crate::support::{BOUNDS, Folder, carry_out, decide, plan, records, shard};

fn bounds(max_segment_kb: u64, max_shards: u64, min_segments: u64) -> Bounds {
    Bounds {
        max_segment: Bytes::new(max_segment_kb * 1024),
        max_shards: Count::new(max_shards),
        min_segments: Count::new(min_segments),
        max_segments: Count::new(128),
    }
}

/// Shards of one record each, of about these sizes.
fn sized(random: &mut Random, sizes: &[usize]) -> Folder {
    sizes
        .iter()
        .map(|size| {
            let many: Vec<Record> =
                (0..size.div_ceil(800)).map(|number| ledgers::record(random, number, &[], 400)).collect();
            (ShardId::new(random.uuid()).unwrap(), shard(&many.iter().collect::<Vec<_>>()))
        })
        .collect()
}

#[test]
fn records_are_not_written_again_in_every_round() {
    for max_segment_kb in [100, 10 * 1024] {
        let mut random = Random::new(1);
        let bounds = bounds(max_segment_kb, 1024, 32);
        let (mut folder, mut state) = (Folder::new(), None);
        let (mut appended, mut written, mut most) = (0, 0, 0);
        for round in 0..60 {
            for number in 0..32 {
                let record = ledgers::record(&mut random, round * 32 + number, &[], 700);
                let bytes = shard(&[&record]);
                appended += bytes.len();
                folder.insert(ShardId::new(random.uuid()).unwrap(), bytes);
            }
            let before = records(&folder);
            let planned = plan(&folder, bounds).unwrap();
            let Decision::Ready(proven) = decide(&planned.to_bytes(), &folder, None, bounds) else { panic!() };
            written += proven.replacement().bytes().len();
            carry_out(&proven, &mut folder, &mut state);
            most = most.max(folder.len());
            assert_eq!(records(&folder), before);
        }
        println!("{max_segment_kb} KiB: {written} of {appended} bytes written again, at most {most} shards");
        assert!(written <= 4 * appended, "{written} bytes for {appended}");
        assert!(most < 60, "{most} shards after a round");
    }
}

#[test]
fn shards_of_unlike_size_wait_until_the_ledger_is_nearly_full() {
    let mut random = Random::new(2);
    let folder = sized(&mut random, &[800, 9000, 40_000]);
    let facts = crate::support::facts(&folder);
    assert_eq!(select(&facts, &bounds(100, 1024, 2)), Err(NothingToDo::NothingFits));
    assert_eq!(select(&facts, &bounds(100, 1024, 4)), Err(NothingToDo::TooFew { eligible: 3, needed: 4 }));
    for min_segments in [2, 32] {
        assert_eq!(select(&facts, &bounds(100, 3, min_segments)).unwrap().len(), 3);
    }
    // Two shards that are nearly full save nothing, whatever is asked.
    let folder = sized(&mut random, &[90_000, 90_000]);
    let full = crate::support::facts(&folder);
    assert_eq!(select(&full, &bounds(100, 2, 2)), Err(NothingToDo::NothingFits));
}

// DB-5.4-02
#[test]
fn what_is_no_source_is_named_and_blocks_nothing() {
    let mut random = Random::new(4);
    let mut folder = sized(&mut random, &[800; 8]);
    let ids: Vec<ShardId> = folder.keys().copied().collect();
    folder.get_mut(&ids[0]).unwrap().extend_from_slice(b"{\"id\"");
    folder.get_mut(&ids[1]).unwrap().extend_from_slice(b"no record\n");
    folder.insert(ids[2], Vec::new());
    let mut facts = crate::support::facts(&folder);
    facts[3] = Facts::unreadable(ids[3], 1);
    let flaws: Vec<Option<Flaw>> = facts.iter().map(Facts::flaw).collect();
    assert_eq!(
        flaws[..5],
        [Some(Flaw::TornTail), Some(Flaw::BadLine), Some(Flaw::Empty), Some(Flaw::Unreadable), None]
    );
    let chosen: Vec<ShardId> = select(&facts, &BOUNDS).unwrap().iter().map(|shard| shard.id()).collect();
    assert_eq!(chosen, ids[4..]);
}

// DB-4.2-06
#[test]
fn a_proposal_is_taken_whole_or_not_at_all() {
    let mut random = Random::new(6);
    let mut folder = sized(&mut random, &[800, 800, 800, 8000, 8000]);
    let mut ids: Vec<ShardId> = folder.keys().copied().collect();
    ids.sort_by_key(|id| folder[id].len());
    folder.insert(ids[2], b"torn".to_vec());
    let facts = crate::support::facts(&folder);
    let ask = |ids: &[String]| {
        propose(&facts, &BOUNDS, ids).map(|chosen| chosen.iter().map(|one| one.id()).collect::<Vec<_>>())
    };
    let name = |index: usize| ids[index].to_string();
    let sorted = {
        let mut pair = vec![ids[0], ids[1]];
        pair.sort();
        pair
    };
    assert_eq!(ask(&[name(1), name(0)]), Ok(sorted));
    for wrong in [
        vec![],
        vec![name(0)],
        vec![name(0), name(0)],
        vec![name(0), name(2)],
        vec![name(0), "../../etc/passwd".to_owned()],
        vec![name(0), "00000000-0000-4000-8000-000000000001".to_owned()],
        vec![name(3), name(4)],
    ] {
        assert!(matches!(ask(&wrong), Err(NothingToDo::Proposal(_))), "{wrong:?}");
    }
}
