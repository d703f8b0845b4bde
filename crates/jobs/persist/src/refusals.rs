//! What was not kept, and why: counted by code, with a few ids to look for.

use std::collections::BTreeMap;

use daybook_core::RecordId;

/// Most ids kept for one code.
const MAX_IDS: usize = 10;

/// Refusals by code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals {
    by_code: BTreeMap<&'static str, (u64, Vec<RecordId>)>,
}

impl Refusals {
    /// Adds one that has no record id to name.
    pub(crate) fn add(&mut self, code: &'static str) {
        self.add_many(code, 1);
    }

    /// Adds several that have none.
    pub(crate) fn add_many(&mut self, code: &'static str, count: u64) {
        if count > 0 {
            self.by_code.entry(code).or_default().0 += count;
        }
    }

    /// Adds a record.
    pub(crate) fn add_record(&mut self, code: &'static str, id: RecordId) {
        let (count, ids) = self.by_code.entry(code).or_default();
        *count += 1;
        if ids.len() < MAX_IDS {
            ids.push(id);
        }
    }

    /// Adds everything of another.
    pub(crate) fn append(&mut self, other: &Self) {
        for (code, (count, ids)) in &other.by_code {
            let (total, kept) = self.by_code.entry(code).or_default();
            *total += count;
            let room = MAX_IDS.saturating_sub(kept.len());
            kept.extend(ids.iter().take(room));
        }
    }

    /// Code, count and ids, by code.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64, &[RecordId])> {
        self.by_code.iter().map(|(code, (count, ids))| (*code, *count, ids.as_slice()))
    }
}
