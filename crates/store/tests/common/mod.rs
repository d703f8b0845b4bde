//! What the tests of the store share.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::num::NonZeroUsize;
use std::path::Path;

use daybook_core::limits::{Configured, Count};
use daybook_core::{Digest, Ledger, Limits, RecordId, ShardId, json};
use daybook_store::{MemoryFolder, NewRecord, Writer, scan_folder};
use daybook_testkit::random::Random;

pub(crate) fn small_limits() -> Limits {
    Limits::new(Configured { max_segment_kb: Some(2), ..Configured::default() }).unwrap()
}

pub(crate) fn open(memory: &Path, limits: Limits) -> Writer {
    Writer::open(&MemoryFolder::open(memory).unwrap(), limits, []).unwrap()
}

pub(crate) fn note(random: &mut Random, size: usize) -> NewRecord {
    NewRecord {
        id: RecordId::new(random.uuid()).unwrap(),
        kind: "note".to_owned(),
        timestamp: "2026-11-29T12:00:00.000Z".to_owned(),
        payload: json::parse(format!(r#"{{"text":"{}"}}"#, "x".repeat(size)).as_bytes()).unwrap(),
    }
}

pub(crate) fn shard_id(random: &mut Random) -> ShardId {
    ShardId::new(random.uuid()).unwrap()
}

/// Appends a note of about `size` bytes and returns its digest.
pub(crate) fn append(writer: &mut Writer, random: &mut Random, size: usize) -> Digest {
    writer.append(&note(random, size), shard_id(random)).unwrap().records[0].sha()
}

/// Reads the folder as a fresh process would.
pub(crate) fn read(memory: &Path) -> Ledger {
    match MemoryFolder::open(memory).unwrap().shards().unwrap() {
        Some(shards) => scan_folder(&shards, Count::new(1024), NonZeroUsize::MIN, &|_| {}).unwrap(),
        None => Ledger::builder(Count::new(1024)).finish(),
    }
}
