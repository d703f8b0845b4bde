//! Any bytes in any shards: no panic, every good line found, the answer independent of the order of reading.
#![no_main]

use daybook_core::index::LedgerIndex;
use daybook_core::limits::Count;
use daybook_core::segment::{PERSIST_METADATA, Segment};
use daybook_core::shard::ShardScan;
use daybook_core::{CheckedLine, Digest, Ledger, ShardId};
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
    let mut lines = Vec::new();
    for (shard, bytes) in &shards {
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        lines.extend(bytes[..complete].split(|byte| *byte == b'\n').filter_map(|line| CheckedLine::check(line).ok()));
        for entry in ShardScan::new(*shard, bytes).entries() {
            index.add(entry);
        }
    }
    assert!(index.heads().eq(forth.heads().iter().copied()));
    assert!(lines.iter().all(|line| forth.contains(&line.sha())));
    if let Ok(segment) =
        Segment::build_from_checked(PERSIST_METADATA, lines, daybook_core::limits::Bytes::new(u64::MAX))
    {
        let mut builder = Ledger::builder(Count::new(1));
        builder.add_shard(segment.id(), segment.bytes());
        assert_eq!(builder.finish().len(), forth.len());
    }
});
