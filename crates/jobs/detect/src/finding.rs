//! What detection can find, as a table: code, severity, and what it makes of the verdict.

use std::collections::BTreeMap;

pub use daybook_core::Verdict;
use daybook_core::{Digest, RecordId};

/// Most findings that are listed; the rest is counted.
pub(crate) const MAX_LISTED: usize = 500;

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// A memory's tar is missing.
    StagedMissing,
    /// A tar does not say of every file what became of it.
    StagedIncomplete,
    /// A tar entry that persistence will refuse.
    EntryRefused,
    /// Other content under the name of a restored ledger file.
    ShardTampered,
    /// A restored ledger file is gone.
    ShardMissing,
    /// A coverage declaration; only a trusted process makes those.
    CoverageFile,
    /// A compaction state; only maintenance writes it.
    StateFile,
    /// Another file in the ledger's folder that no ledger has.
    LedgerFile,
    /// A line of a new shard that is no record.
    BadLine,
    /// A record that no writer may store.
    WriteRule,
    /// Two records with one id.
    DuplicateId,
    /// A new record names a parent that is nowhere.
    UnknownParent,
    /// A new record that no event tells of.
    RecordWithoutEvent,
    /// An event about a record that is nowhere.
    EventWithoutRecord,
    /// An event that claims the append of a record from before the run.
    EventForKnownRecord,
    /// An event that says of its record what the record does not say of itself.
    EventDisagrees,
    /// A line that looks like an event and is none.
    EventMalformed,
    /// The transaction log cannot be read.
    LogUnreadable,
    /// Text that tells a reader what to do.
    Instructions,
    /// Text that looks like a credential.
    Credential,
    /// Characters that hide what a text says.
    HiddenCharacters,
}

/// One row for each code: its name, what it is, and what it makes of the verdict.
const TABLE: [(Code, &str, &str, Verdict); 21] = {
    use Code::*;
    use Verdict::*;
    [
        (StagedMissing, "staged-missing", "nothing was staged for a memory", Suspicious),
        (StagedIncomplete, "staged-incomplete", "a staged memory is not complete", Suspicious),
        (EntryRefused, "entry-refused", "a staged entry is not a plain memory file", Suspicious),
        (ShardTampered, "shard-tampered", "a restored ledger file has other content", Threat),
        (ShardMissing, "shard-missing", "a restored ledger file is gone", Suspicious),
        (CoverageFile, "coverage-file", "a coverage declaration was added", Threat),
        (StateFile, "state-file", "a compaction state was added", Threat),
        (LedgerFile, "ledger-file", "the ledger's folder holds a file that no ledger has", Suspicious),
        (BadLine, "bad-line", "a new shard holds a line that is no record", Suspicious),
        (WriteRule, "write-rule", "a new record breaks a rule of writers", Suspicious),
        (DuplicateId, "duplicate-id-conflict", "two records have one id", Suspicious),
        (UnknownParent, "unknown-parent", "a new record names a parent that is nowhere", Suspicious),
        (RecordWithoutEvent, "record-without-event", "no event tells of a new record", Suspicious),
        (EventWithoutRecord, "event-without-record", "an event tells of a record that is nowhere", Suspicious),
        (EventForKnownRecord, "event-for-known-record", "an event claims a record from before the run", Suspicious),
        (EventDisagrees, "event-disagrees", "an event and its record contradict each other", Threat),
        (EventMalformed, "event-malformed", "a line looks like an event and is none", Suspicious),
        (LogUnreadable, "log-unreadable", "the transaction log is missing or cannot be read", Suspicious),
        (Instructions, "instructions", "a text tells its reader what to do", Suspicious),
        (Credential, "credential", "a text looks like a credential", Threat),
        (HiddenCharacters, "hidden-characters", "a text holds characters that hide what it says", Suspicious),
    ]
};

impl Code {
    fn row(self) -> (&'static str, &'static str, Verdict) {
        let row = TABLE.iter().find(|(code, ..)| *code == self);
        row.map_or(("unknown", "unknown", Verdict::Threat), |(_, name, sentence, verdict)| (name, sentence, *verdict))
    }

    /// The code as it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it means, in a fixed sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        self.row().1
    }

    /// What it makes of the verdict.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        self.row().2
    }

    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(code, ..)| *code)
    }
}

/// Where a finding is. No part of it is text that the run wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The memory.
    pub memory: Option<String>,
    /// The record.
    pub record: Option<RecordId>,
    /// The digest of a record that has no other name.
    pub sha: Option<Digest>,
    /// The file of the tar, counted from 1 in its order.
    pub file: Option<u64>,
    /// The line of the log or the safe outputs, counted from 1.
    pub line: Option<u64>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// Where.
    pub place: Place,
}

/// All findings of a run: a bounded list, full counts, and the verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    listed: Vec<Finding>,
    counts: BTreeMap<Code, u64>,
}

impl Findings {
    /// Adds a finding.
    pub fn add(&mut self, code: Code, place: Place) {
        *self.counts.entry(code).or_default() += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(Finding { code, place });
        }
    }

    /// The findings that are listed.
    #[must_use]
    pub fn listed(&self) -> &[Finding] {
        &self.listed
    }

    /// How many of each code there were.
    pub fn counts(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.counts.iter().map(|(code, count)| (*code, *count))
    }

    /// The verdict that follows.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.counts.keys().map(|code| code.verdict()).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_row_and_the_greatest_decides() {
        let names: std::collections::BTreeSet<_> = Code::all().map(Code::name).collect();
        assert_eq!(names.len(), TABLE.len());
        let mut findings = Findings::default();
        assert_eq!(findings.verdict(), Verdict::Clean);
        findings.add(Code::Instructions, Place::default());
        assert_eq!(findings.verdict(), Verdict::Suspicious);
        for _ in 0..MAX_LISTED {
            findings.add(Code::BadLine, Place::default());
        }
        // Not listed any more, and decides all the same.
        findings.add(Code::Credential, Place::default());
        assert_eq!((findings.listed().len(), findings.verdict()), (MAX_LISTED, Verdict::Threat));
    }
}
