//! Bounds of a ledger that the bounds of its memory make unreachable (§7).

use daybook_core::config::{Config, LedgerConfig, MemoryConfig};

use crate::problem::Problem;
use crate::shape::Shape;

/// What is allowed and worth a word.
// DB-7-04
pub(crate) fn warnings(shape: &Shape<'_>, config: &Config) -> Vec<Problem> {
    let pairs = config.ledgers().iter().filter_map(|ledger| Some((ledger, config.memory_of(ledger)?)));
    let mut warnings: Vec<_> = pairs.flat_map(|(ledger, memory)| of_ledger(shape, ledger, memory)).collect();
    warnings.sort_by_key(Problem::place);
    warnings
}

fn of_ledger(shape: &Shape<'_>, ledger: &LedgerConfig, memory: &MemoryConfig) -> Vec<Problem> {
    let limits = ledger.limits;
    let (segment, patch) = (limits.max_segment().get(), limits.max_patch().get());
    let (file, run) = (memory.max_file_size.get(), memory.max_patch_size.get());
    let (shards, files) = (limits.max_shards().get(), memory.max_file_count.get());
    let mut found = Vec::new();
    let mut warn = |key: &str, above: &str, values: String, hint: String| {
        let member = format!("ledgers[{}].{key}", ledger.name);
        let message =
            format!("{key} of ledger {} is above {above} of its memory {} ({values})", ledger.name, memory.id);
        found.push(Problem::new("limit-unreachable", shape.place_of(&member), message).with_hint(Some(hint)));
    };
    if patch > run {
        let values = format!("{patch} and {run} bytes");
        warn("max-patch-kb", "max-patch-size", values, "raise max-patch-size of the memory".to_owned());
    }
    // The others bind only runtimes that count shards among a memory's files: said where an author chose both.
    let chosen = |key: &str, other: &str| {
        shape.is_set(&format!("ledgers[{}].{key}", ledger.name))
            && shape.is_set(&format!("memories[{}].{other}", memory.id))
    };
    let hint = |key: &str, other: &str| {
        format!("lower {key} or raise {other}: a runtime that counts shards as files refuses what is above it")
    };
    if segment > file && chosen("max-segment-kb", "max-file-size") {
        let values = format!("{segment} and {file} bytes");
        warn("max-segment-kb", "max-file-size", values, hint("max-segment-kb", "max-file-size"));
    }
    if shards > files && chosen("max-shards", "max-file-count") {
        let values = format!("{shards} and {files}");
        warn("max-shards", "max-file-count", values, hint("max-shards", "max-file-count"));
    }
    found
}
