//! What is wrong with data: bounded, and never a reason to stop reading (§2, FORMATS §3).

use serde::Serialize;

use crate::ids::{RecordId, ShardId};
use crate::line::LineFault;

/// Most diagnostics that are kept; the rest is counted.
pub const MAX_KEPT: usize = 256;

/// Kind of a diagnostic (FORMATS §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// A line is not JSON.
    InvalidJson,
    /// A record of a version we do not know.
    UnsupportedVersion,
    /// A line or a file that is not what a ledger holds; [`Detail`] says how.
    InvalidEnvelope,
    /// A record whose digest is not that of its content.
    InvalidSha,
    /// A payload that its ledger's schema refuses.
    InvalidSchema,
    /// A last line without newline: a write that did not finish.
    TruncatedRecord,
    /// An identical record met twice.
    DuplicateRecord,
    /// Two different records with one id.
    DuplicateIdConflict,
    /// A record names a parent that is not here.
    MissingParent,
    /// Records that name each other as ancestors.
    Cycle,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 10] = [
        Self::InvalidJson,
        Self::UnsupportedVersion,
        Self::InvalidEnvelope,
        Self::InvalidSha,
        Self::InvalidSchema,
        Self::TruncatedRecord,
        Self::DuplicateRecord,
        Self::DuplicateIdConflict,
        Self::MissingParent,
        Self::Cycle,
    ];

    /// The code as it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid-json",
            Self::UnsupportedVersion => "unsupported-version",
            Self::InvalidEnvelope => "invalid-envelope",
            Self::InvalidSha => "invalid-sha",
            Self::InvalidSchema => "invalid-schema",
            Self::TruncatedRecord => "truncated-record",
            Self::DuplicateRecord => "duplicate-record",
            Self::DuplicateIdConflict => "duplicate-id-conflict",
            Self::MissingParent => "missing-parent",
            Self::Cycle => "cycle",
        }
    }

    /// How much it matters.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::DuplicateRecord | Self::MissingParent => Severity::Note,
            _ => Severity::Error,
        }
    }
}

/// How much a diagnostic matters; it belongs to the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Legal, worth knowing.
    Note,
    /// Something is lost, forged or broken.
    Error,
}

/// What is wrong with an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// Members missing, unknown or malformed.
    Shape,
    /// Not in canonical form.
    NotCanonical,
    /// Not UTF-8.
    NotUtf8,
    /// Not a regular file.
    NotRegular,
    /// A file name that is not `<uuid-v4>.jsonl`.
    BadName,
    /// Larger than any shard may be.
    Oversized,
    /// More shards than are read.
    ShardBound,
}

/// One finding: a code and where it was found; never a path, never payload text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// Kind.
    pub code: Code,
    /// What about the envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// The shard, where it has a name that may be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardId>,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The record.
    #[serde(rename = "id", skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
}

impl Diagnostic {
    /// A finding about a line of a shard.
    #[must_use]
    pub fn at_line(shard: ShardId, line: u64, fault: LineFault) -> Self {
        let (code, detail) = match fault {
            LineFault::NotUtf8 => (Code::InvalidEnvelope, Some(Detail::NotUtf8)),
            LineFault::InvalidJson => (Code::InvalidJson, None),
            LineFault::UnsupportedVersion => (Code::UnsupportedVersion, None),
            LineFault::Shape => (Code::InvalidEnvelope, Some(Detail::Shape)),
            LineFault::InvalidSha => (Code::InvalidSha, None),
            LineFault::NotCanonical => (Code::InvalidEnvelope, Some(Detail::NotCanonical)),
        };
        Self { code, detail, shard: Some(shard), line: Some(line), record: None }
    }

    /// A finding about a file or the folder as a whole.
    #[must_use]
    pub const fn about_file(shard: Option<ShardId>, detail: Detail) -> Self {
        Self { code: Code::InvalidEnvelope, detail: Some(detail), shard, line: None, record: None }
    }

    /// A finding about a record.
    #[must_use]
    pub const fn about_record(code: Code, record: RecordId) -> Self {
        Self { code, detail: None, shard: None, line: None, record: Some(record) }
    }

    /// How much it matters.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// A bounded list of findings with a full count for each code.
// DB-B-17
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    counts: std::collections::BTreeMap<Code, u64>,
}

impl Diagnostics {
    /// Adds a finding; above [`MAX_KEPT`] it is only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        *self.counts.entry(diagnostic.code).or_default() += 1;
        if self.kept.len() < MAX_KEPT {
            self.kept.push(diagnostic);
        }
    }

    /// Adds all findings of another list.
    pub fn append(&mut self, other: &Self) {
        for (code, count) in &other.counts {
            *self.counts.entry(*code).or_default() += count;
        }
        let room = MAX_KEPT.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.iter().take(room));
    }

    /// The findings that were kept.
    #[must_use]
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// How many of each code there were.
    pub fn counts(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.counts.iter().map(|(code, count)| (*code, *count))
    }

    /// How many there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many were counted and not kept.
    #[must_use]
    pub fn not_kept(&self) -> u64 {
        self.total().saturating_sub(u64::try_from(self.kept.len()).unwrap_or(u64::MAX))
    }

    /// Whether any finding is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.counts.keys().any(|code| code.severity() == Severity::Error)
    }
}
