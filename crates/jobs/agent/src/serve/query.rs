//! Pages of records in ascending order of their digests (§5.2).

use std::collections::BTreeMap;

use daybook_core::{CheckedLine, Digest, Record};
use daybook_store::{FolderIndex, ShardFolder};
use serde_json::{Value, json};

use super::failure::Failure;

/// Most rows of a page.
pub(super) const MAX_LIMIT: usize = 500;
/// Rows of a page where the call names no limit.
pub(super) const DEFAULT_LIMIT: usize = 100;

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) kind: Option<String>,
    pub(super) after: Option<Digest>,
    pub(super) limit: usize,
}

/// One page.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) rows: Vec<Value>,
    /// The digest of the last row, where more rows match.
    pub(super) next_cursor: Option<Digest>,
}

/// A record as results show it. A payload that no Unicode text can hold is said to be so.
pub(super) fn row(record: &Record) -> Value {
    let (payload, unrepresentable) = match record.payload() {
        Ok(payload) => (payload, false),
        Err(_) => (Value::Null, true),
    };
    let mut row = json!({
        "id": record.id(),
        "parents": record.parents(),
        "payload": payload,
        "sha": record.sha(),
        "timestamp": record.timestamp(),
        "type": record.kind(),
        "version": 1,
    });
    if unrepresentable {
        row["unrepresentable"] = true.into();
    }
    row
}

/// Reads the matching records and keeps the first of them by digest: one more than a page, to know whether more match.
pub(super) fn run(folder: &ShardFolder, index: &FolderIndex, query: &Query) -> Result<Page, Failure> {
    let mut matching: BTreeMap<Digest, Record> = BTreeMap::new();
    for shard in index.shards() {
        let Ok(bytes) = folder.read(shard) else { continue };
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(checked) = CheckedLine::check(line) else { continue };
            let sha = checked.sha();
            let wanted = query.after.is_none_or(|after| sha > after)
                && index.records().location(&sha).is_some()
                && matching.last_key_value().is_none_or(|(last, _)| matching.len() <= query.limit || sha < *last);
            if !wanted {
                continue;
            }
            let record = Record::from_checked(&checked);
            if query.kind.as_deref().is_none_or(|kind| record.kind() == kind) {
                matching.insert(sha, record);
                if matching.len() > query.limit + 1 {
                    matching.pop_last();
                }
            }
        }
    }
    let more = matching.len() > query.limit;
    let page: Vec<&Record> = matching.values().take(query.limit).collect();
    Ok(Page {
        next_cursor: page.last().filter(|_| more).map(|record| record.sha()),
        rows: page.into_iter().map(row).collect(),
    })
}
