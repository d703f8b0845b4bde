//! Ledgers made to measure: the same parameters give the same bytes.

use std::fmt::Write as _;
use std::path::Path;

use daybook_core::json::Value;
use daybook_core::{Digest, Draft, Limits, Record, RecordId, ShardId, json, timestamp};

use crate::random::Random;

/// 2026-03-01T12:00:00.000Z
const EPOCH_MILLIS: i64 = 1_772_366_400_000;

/// What kind of ledger to make.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// How many records.
    pub records: usize,
    /// How many shards they lie in.
    pub shards: usize,
    /// Whether there are forks and merges, or one long chain.
    pub forks: bool,
    /// Size of a payload in bytes, about.
    pub payload: usize,
}

impl Shape {
    /// Records with payloads of about 700 bytes.
    #[must_use]
    pub const fn new(records: usize, shards: usize, forks: bool) -> Self {
        Self { records, shards, forks, payload: 700 }
    }
}

/// A new record with a payload that looks like an agent's note.
///
/// # Panics
/// Never for the arguments that this crate passes: the record is valid by construction.
#[must_use]
pub fn record(random: &mut Random, number: usize, parents: &[Digest], payload: usize) -> Record {
    let payload = payload_of(random, number, payload);
    build(random, number, parents, &payload)
}

/// A new record with this payload.
///
/// # Panics
/// Where a writer would refuse the record.
#[must_use]
pub fn build(random: &mut Random, number: usize, parents: &[Digest], payload: &Value) -> Record {
    let mut parents = parents.to_vec();
    parents.sort_unstable();
    parents.dedup();
    let millis = EPOCH_MILLIS + i64::try_from(number).expect("a small number");
    let draft = Draft {
        id: RecordId::new(random.uuid()).expect("version 4"),
        kind: ["decision", "observation", "note", "label"][number % 4],
        timestamp: &timestamp::from_unix_millis(millis).expect("a year of four digits"),
        parents: &parents,
        payload,
    };
    Record::build(&draft, &Limits::default()).expect("a record within the limits")
}

fn payload_of(random: &mut Random, number: usize, size: usize) -> Value {
    let mut text = String::new();
    while text.len() < size.saturating_sub(180) {
        let word = ["issue", "label", "crash", "größe", "“quoted”", "path\\\\to", "retry", "because", "同じ", "done"];
        let _ = write!(text, "{} ", word[random.below(word.len())]);
    }
    let source = format!(
        r#"{{"issue":{number},"confidence":{}.{},"labels":["bug","area/{}"],"summary":"{text}","seen":true,"links":{{"10":"a","9":"b","pr":null}},"score":{}}}"#,
        random.below(9),
        random.below(99) + 1,
        random.below(40),
        random.below(1_000_000),
    );
    json::parse(source.as_bytes()).expect("JSON by construction")
}

/// Makes the shards of a ledger, each with its bytes.
#[must_use]
pub fn shards(shape: Shape, seed: u64) -> Vec<(ShardId, Vec<u8>)> {
    let mut random = Random::new(seed);
    let mut shards: Vec<(ShardId, Vec<u8>)> =
        (0..shape.shards).map(|_| (ShardId::new(random.uuid()).expect("version 4"), Vec::new())).collect();
    let mut heads: Vec<Digest> = Vec::new();
    for number in 0..shape.records {
        // Most records continue one head; some start a fork, some join what is open.
        let parents = match number % 32 {
            _ if heads.is_empty() => Vec::new(),
            7 | 19 if shape.forks => vec![heads[random.below(heads.len())]],
            30 if shape.forks => std::mem::take(&mut heads),
            _ => vec![heads.swap_remove(random.below(heads.len()))],
        };
        let record = record(&mut random, number, &parents, shape.payload);
        heads.push(record.sha());
        let (_, bytes) = &mut shards[number * shape.shards / shape.records.max(1)];
        bytes.extend_from_slice(record.line());
        bytes.push(b'\n');
    }
    shards
}

/// Writes shards into the ledger of a memory folder.
///
/// # Errors
/// What the file system answers.
pub fn write(memory: &Path, shards: &[(ShardId, Vec<u8>)]) -> std::io::Result<()> {
    for (shard, bytes) in shards {
        let path = memory.join(shard.path());
        std::fs::create_dir_all(path.parent().unwrap_or(memory))?;
        std::fs::write(path, bytes)?;
    }
    Ok(())
}
