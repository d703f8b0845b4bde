//! Any bytes in any shards: no panic, every good line found, the answer independent of the order of reading.
#![no_main]

use daybook_core::index::LedgerIndex;
use daybook_core::known::KnownShard;
use daybook_core::limits::{Bytes, Count};
use daybook_core::segment::{PERSIST_METADATA, Segment};
use daybook_core::shard::ShardScan;
use daybook_core::{Digest, Ledger, ShardId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // A zero byte is a seam between shards.
    let shards: Vec<(ShardId, &[u8])> = bytes
        .split(|byte| *byte == 0)
        .take(8)
        .enumerate()
        .map(|(number, bytes)| (ShardId::from_digest(&Digest::of(&number.to_le_bytes())), bytes))
        .collect();
    let read = |shards: &mut dyn Iterator<Item = &(ShardId, &[u8])>| {
        let mut builder = Ledger::builder(Count::new(1024));
        for (shard, bytes) in shards {
            builder.add_scan(ShardScan::new(*shard, bytes));
        }
        builder.finish()
    };
    let (forth, back) = (read(&mut shards.iter()), read(&mut shards.iter().rev()));
    assert_eq!(forth.heads(), back.heads());
    assert_eq!(forth.diagnostics(), back.diagnostics());
    assert!(forth.order().map(|entry| entry.sha()).eq(back.order().map(|entry| entry.sha())));

    let mut index = LedgerIndex::new([]);
    for (shard, bytes) in &shards {
        for entry in ShardScan::new(*shard, bytes).entries() {
            index.add(entry);
        }
    }
    assert!(index.heads().eq(forth.heads().iter().copied()));
    let known: Vec<KnownShard<'_>> = shards.iter().map(|(_, bytes)| KnownShard::of(*bytes)).collect();
    assert!(known.iter().flat_map(KnownShard::lines).all(|line| forth.contains(&line.sha())));
    let lines = known.iter().filter_map(KnownShard::kept);
    if let Ok(segment) = Segment::build_from_known(PERSIST_METADATA, lines, Bytes::new(u64::MAX)) {
        let mut builder = Ledger::builder(Count::new(1));
        builder.add_shard(segment.id(), segment.bytes());
        assert_eq!(builder.finish().len(), forth.len());
    }
});
