//! What detection makes of a run: its verdict, the kinds of findings, and which finding raises the verdict to what
//! (§8, DESIGN §3.4).

use std::collections::BTreeMap;

/// What a run is taken for. The greatest of its findings decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verdict {
    /// Nothing was found.
    #[default]
    Clean,
    /// Passes with a warning.
    Suspicious,
    /// Never passes.
    Threat,
}

impl Verdict {
    /// The word in outputs and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Suspicious => "suspicious",
            Self::Threat => "threat",
        }
    }

    /// The verdict with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Clean, Self::Suspicious, Self::Threat].into_iter().find(|verdict| verdict.name() == name)
    }
}

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingCode {
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
const TABLE: [(FindingCode, &str, &str, Verdict); 21] = {
    use FindingCode as Code;
    use Verdict::{Suspicious, Threat};
    [
        (Code::StagedMissing, "staged-missing", "nothing was staged for a memory", Suspicious),
        (Code::StagedIncomplete, "staged-incomplete", "a staged memory is not complete", Suspicious),
        (Code::EntryRefused, "entry-refused", "a staged entry is not a plain memory file", Suspicious),
        (Code::ShardTampered, "shard-tampered", "a restored ledger file has other content", Threat),
        (Code::ShardMissing, "shard-missing", "a restored ledger file is gone", Suspicious),
        (Code::CoverageFile, "coverage-file", "a coverage declaration was added", Threat),
        (Code::StateFile, "state-file", "a compaction state was added", Threat),
        (Code::LedgerFile, "ledger-file", "the ledger's folder holds a file that no ledger has", Suspicious),
        (Code::BadLine, "bad-line", "a new shard holds a line that is no record", Suspicious),
        (Code::WriteRule, "write-rule", "a new record breaks a rule of writers", Suspicious),
        (Code::DuplicateId, "duplicate-id-conflict", "two records have one id", Suspicious),
        (Code::UnknownParent, "unknown-parent", "a new record names a parent that is nowhere", Suspicious),
        (Code::RecordWithoutEvent, "record-without-event", "no event tells of a new record", Suspicious),
        (Code::EventWithoutRecord, "event-without-record", "an event tells of a record that is nowhere", Suspicious),
        (
            Code::EventForKnownRecord,
            "event-for-known-record",
            "an event claims a record from before the run",
            Suspicious,
        ),
        (Code::EventDisagrees, "event-disagrees", "an event and its record contradict each other", Threat),
        (Code::EventMalformed, "event-malformed", "a line looks like an event and is none", Suspicious),
        (Code::LogUnreadable, "log-unreadable", "the transaction log is missing or cannot be read", Suspicious),
        (Code::Instructions, "instructions", "a text tells its reader what to do", Suspicious),
        (Code::Credential, "credential", "a text looks like a credential", Threat),
        (Code::HiddenCharacters, "hidden-characters", "a text holds characters that hide what it says", Suspicious),
    ]
};

impl FindingCode {
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

    /// What it makes of the verdict where nothing else is configured.
    #[must_use]
    pub fn default_verdict(self) -> Verdict {
        self.row().2
    }

    /// The code with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|code| code.name() == name)
    }

    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(code, ..)| *code)
    }
}

/// How one workflow weighs findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detection {
    /// Findings that weigh otherwise than by default.
    pub findings: BTreeMap<FindingCode, Verdict>,
    /// Whether jobs that act on a run refuse a suspicious one, too.
    pub refuses_suspicious: bool,
}

impl Detection {
    /// What a finding makes of the verdict here.
    ///
    /// ```
    /// use daybook_core::detection::{Detection, FindingCode, Verdict};
    ///
    /// let mut detection = Detection::default();
    /// assert_eq!(detection.verdict_of(FindingCode::Instructions), Verdict::Suspicious);
    /// detection.findings.insert(FindingCode::Instructions, Verdict::Threat);
    /// assert_eq!(detection.verdict_of(FindingCode::Instructions), Verdict::Threat);
    /// ```
    #[must_use]
    pub fn verdict_of(&self, code: FindingCode) -> Verdict {
        self.findings.get(&code).copied().unwrap_or(code.default_verdict())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_row() {
        let names: std::collections::BTreeSet<_> = FindingCode::all().map(FindingCode::name).collect();
        assert_eq!(names.len(), TABLE.len());
        assert!(FindingCode::all().all(|code| FindingCode::from_name(code.name()) == Some(code)));
    }

    #[test]
    fn the_documented_table_is_this_one() {
        let documented = include_str!("../../../docs/sources.md");
        let rows: Vec<String> = FindingCode::all()
            .map(|code| format!("| `{}` | {} | {} |", code.name(), code.sentence(), code.default_verdict().name()))
            .collect();
        assert!(documented.contains(&rows.join("\n")), "docs/sources.md lacks {rows:#?}");
    }
}
