//! Appending: limits, rotation, heads, batches, writers beside each other.

mod common;

use common::{append, note, open, read, shard_id, small_limits};
use daybook_core::limits::Configured;
use daybook_core::{Digest, Limits, ShardId, WriteFault};
use daybook_store::{AppendError, MemoryFolder, Published, StoreError, Writer};
use daybook_testkit::ledgers::{self, Shape};
use daybook_testkit::random::Random;
use daybook_testkit::said;

// DB-6-02, DB-2-08
#[test]
fn each_record_names_the_one_before_and_survives_a_fresh_reader() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(1);
    let mut writer = open(memory.path(), small_limits());
    let written: Vec<Digest> = (0..40).map(|_| append(&mut writer, &mut random, 200)).collect();
    let ledger = read(memory.path());
    let order: Vec<Digest> = ledger.order().map(daybook_core::shard::Entry::sha).collect();
    assert_eq!(order, written);
    assert_eq!(ledger.diagnostics().total(), 0);
    // 40 records of about 450 bytes at 2 KiB a shard.
    assert!(ledger.shards() > 5 && ledger.shards() < 20, "{}", ledger.shards());
    let folder = MemoryFolder::open(memory.path()).unwrap().shards().unwrap().unwrap();
    for shard in folder.list().unwrap().shards {
        assert!(folder.read(shard).unwrap().len() <= 2048);
    }
}

// DB-2-08, DB-9-06, DB-10-05
#[test]
fn limits_are_checked_in_order_and_nothing_is_written_over_them() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(2);
    let configured =
        Configured { max_shards: Some(2), max_segment_kb: Some(1), max_record_kb: Some(1), max_patch_kb: Some(2) };
    let mut writer = open(memory.path(), Limits::new(configured).unwrap());
    // A record above its limit is told before the budget, which it would exceed too.
    let refused = writer.append(&note(&mut random, 4000), shard_id(&mut random)).unwrap_err();
    assert!(matches!(refused, AppendError::Record(WriteFault::RecordTooLarge { .. })), "{refused}");
    append(&mut writer, &mut random, 600);
    append(&mut writer, &mut random, 300);
    // The third takes a third shard, but the budget comes first.
    let refused = writer.append(&note(&mut random, 600), shard_id(&mut random)).unwrap_err();
    assert!(matches!(refused, AppendError::Patch { .. }), "{refused}");
    assert_eq!(read(memory.path()).len(), 2);
    // A new run has a new budget; now the shard count holds.
    let baseline: Vec<Digest> = read(memory.path()).order().map(daybook_core::shard::Entry::sha).collect();
    let folder = MemoryFolder::open(memory.path()).unwrap();
    let mut writer = Writer::open(&folder, Limits::new(configured).unwrap(), baseline).unwrap();
    let refused = writer.append(&note(&mut random, 600), shard_id(&mut random)).unwrap_err();
    assert!(matches!(refused, AppendError::ShardBound { .. }), "{refused}");
    assert_eq!(read(memory.path()).len(), 2);
}

// DB-2-08
#[test]
fn a_restarted_or_second_writer_shares_the_budget() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(3);
    let limits = Limits::new(Configured { max_patch_kb: Some(2), ..Configured::default() }).unwrap();
    let mut first = open(memory.path(), limits);
    append(&mut first, &mut random, 700);
    let mut second = open(memory.path(), limits);
    append(&mut second, &mut random, 500);
    for writer in [&mut first, &mut second, &mut open(memory.path(), limits)] {
        let refused = writer.append(&note(&mut random, 500), shard_id(&mut random)).unwrap_err();
        assert!(matches!(refused, AppendError::Patch { .. }), "{refused}");
    }
    assert_eq!(read(memory.path()).len(), 2);
}

/// CASES 39: of 65 heads an append takes 64.
// DB-6-02, DB-10-04
#[test]
fn sixty_five_heads_do_not_stop_an_append() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(4);
    let roots: Vec<_> = (0..65).map(|number| ledgers::record(&mut random, number, &[], 200)).collect();
    let bytes: Vec<u8> = roots.iter().flat_map(|root| [root.line(), b"\n"].concat()).collect();
    ledgers::write(memory.path(), &[(shard_id(&mut random), bytes)]).unwrap();
    let mut heads: Vec<Digest> = roots.iter().map(daybook_core::Record::sha).collect();
    heads.sort_unstable();
    let mut writer = open(memory.path(), Limits::default());
    let appended = writer.append(&note(&mut random, 50), shard_id(&mut random)).unwrap();
    assert_eq!(appended.records[0].parents(), &heads[..64]);
    let next = writer.append(&note(&mut random, 50), shard_id(&mut random)).unwrap();
    let mut left = vec![heads[64], appended.records[0].sha()];
    left.sort_unstable();
    assert_eq!(next.records[0].parents(), left);
    assert_eq!(read(memory.path()).heads(), [next.records[0].sha()]);
}

#[test]
fn two_writers_see_each_other_and_never_damage_a_shard() {
    let memory = tempfile::tempdir().unwrap();
    let path = memory.path();
    let written: Vec<Digest> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|seed| {
                scope.spawn(move || {
                    let mut random = Random::new(100 + seed);
                    let mut writer = open(path, small_limits());
                    (0..60).map(|_| append(&mut writer, &mut random, 150)).collect::<Vec<_>>()
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let ledger = read(path);
    assert_eq!(ledger.diagnostics().total(), 0);
    assert_eq!(ledger.len(), 240);
    assert!(written.iter().all(|sha| ledger.contains(sha)));
    // Each append saw all that was durable before it: the records form one chain.
    assert_eq!(ledger.heads().len(), 1);
    assert!(ledger.order().skip(1).all(|entry| entry.parents().len() == 1));
}

#[test]
fn a_batch_is_one_shard_in_a_chain_or_nothing() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(5);
    let mut writer = open(memory.path(), small_limits());
    let head = append(&mut writer, &mut random, 100);
    let batch: Vec<_> = (0..4).map(|_| note(&mut random, 100)).collect();
    let appended = writer.append_batch(&batch, shard_id(&mut random)).unwrap();
    assert_eq!(appended.records[0].parents(), [head]);
    for pair in appended.records.windows(2) {
        assert_eq!(pair[1].parents(), [pair[0].sha()]);
    }
    let before = read(memory.path()).len();
    let too_large: Vec<_> = (0..10).map(|_| note(&mut random, 200)).collect();
    let refused = writer.append_batch(&too_large, shard_id(&mut random)).unwrap_err();
    assert_eq!(said::code(&refused, AppendError::code), "batch-too-large");
    let one_bad = [note(&mut random, 10), note(&mut random, 40_000)];
    assert!(matches!(writer.append_batch(&one_bad, shard_id(&mut random)), Err(AppendError::Record(_))));
    assert_eq!(read(memory.path()).len(), before);
    append(&mut writer, &mut random, 100);
}

#[test]
fn what_others_change_is_noticed_and_folded_in() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(6);
    let mut writer = open(memory.path(), small_limits());
    let own = append(&mut writer, &mut random, 100);
    // Somebody puts a shard there, without a lock and without telling.
    let foreign = ledgers::record(&mut random, 0, &[], 100);
    let shard = shard_id(&mut random);
    ledgers::write(memory.path(), &[(shard, [foreign.line(), b"\n"].concat())]).unwrap();
    let mut heads = vec![own, foreign.sha()];
    heads.sort_unstable();
    let joined = writer.append(&note(&mut random, 100), shard_id(&mut random)).unwrap();
    assert_eq!(joined.records[0].parents(), heads);
    // Takes it away again: what was appended since stays known.
    std::fs::remove_file(memory.path().join(shard.path())).unwrap();
    let last = append(&mut writer, &mut random, 100);
    writer.refresh().unwrap();
    assert_eq!(writer.index().records().heads().collect::<Vec<_>>(), [last]);
    assert_eq!(writer.index().records().len(), 3);
    assert_eq!(writer.index().ledger().heads(), read(memory.path()).heads());
}

#[test]
fn a_changed_writer_shard_is_left_alone_and_read_like_any_other() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(7);
    let mut writer = open(memory.path(), small_limits());
    let first = append(&mut writer, &mut random, 100);
    let folder = MemoryFolder::open(memory.path()).unwrap().shards().unwrap().unwrap();
    let shard = folder.list().unwrap().shards[0];
    let path = memory.path().join(shard.path());
    let mut bytes = std::fs::read(&path).unwrap();
    let foreign = ledgers::record(&mut random, 0, &[], 100);
    bytes.extend_from_slice(&[foreign.line(), b"\n{\"torn\":"].concat());
    std::fs::write(&path, &bytes).unwrap();
    let second = writer.append(&note(&mut random, 100), shard_id(&mut random)).unwrap();
    let mut heads = vec![first, foreign.sha()];
    heads.sort_unstable();
    assert_eq!(second.records[0].parents(), heads);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let ledger = read(memory.path());
    assert_eq!((ledger.len(), ledger.heads()), (3, [second.records[0].sha()].as_slice()));
}

// DB-2-10
#[test]
fn the_three_verbs_keep_their_contracts() {
    let memory = tempfile::tempdir().unwrap();
    let folder = MemoryFolder::open(memory.path()).unwrap().shards_or_create().unwrap();
    let lock = folder.lock().unwrap();
    let (_, bytes) = ledgers::shards(Shape::new(3, 1, false), 8).remove(0);
    let shard = ShardId::from_digest(&Digest::of(&bytes));
    folder.publish_new(&lock, shard, &bytes).unwrap();
    let refused = folder.publish_new(&lock, shard, &bytes).unwrap_err();
    assert_eq!(said::code(&refused, StoreError::code), "shard-collision");
    assert_eq!(folder.publish_identical(&lock, shard, &bytes), Ok(Published::AlreadyThere));
    assert_eq!(folder.publish_identical(&lock, shard, b"other\n"), Err(StoreError::Collision));
    assert_eq!(folder.read(shard).unwrap(), bytes);
    let listing = folder.list().unwrap();
    assert_eq!((listing.shards.len(), listing.pending.len()), (1, 0));
}

#[test]
fn a_pending_file_is_swept_when_its_writer_is_gone_and_kept_while_it_lives() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(9);
    let folder = MemoryFolder::open(memory.path()).unwrap().shards_or_create().unwrap();
    let pending = |shard: ShardId| memory.path().join("ledger/shards").join(format!("{shard}.pending"));
    let (dead, alive) = (shard_id(&mut random), shard_id(&mut random));
    std::fs::write(pending(dead), b"half").unwrap();
    std::fs::write(pending(alive), b"half").unwrap();
    let held = std::fs::File::open(pending(alive)).unwrap();
    held.lock().unwrap();
    // The same name again, as a content-addressed shard would have it: the left-over does not block it.
    {
        let lock = folder.lock().unwrap();
        folder.publish_new(&lock, dead, b"whole\n").unwrap();
        let refused = folder.publish_new(&lock, alive, b"whole\n").unwrap_err();
        assert_eq!(said::code(&refused, StoreError::code), "store-busy");
        assert_eq!(folder.sweep(&lock), Ok(0));
    }
    drop(held);
    open(memory.path(), small_limits());
    assert_eq!(folder.list().unwrap().pending, Vec::<String>::new());
    let lock = folder.lock().unwrap();
    folder.publish_new(&lock, alive, b"whole\n").unwrap();
}
