//! What a planner needs to know of a shard; its bytes stay where they are.

use daybook_core::segment::is_too_deep;
use daybook_core::shard::checked_lines;
use daybook_core::{CheckedLine, Digest, ShardId};

/// A shard, as selection sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    id: ShardId,
    sha256: Digest,
    bytes: u64,
    records: Vec<(Digest, u64)>,
    flaw: Option<Flaw>,
}

/// Why a shard cannot be a source: its bytes are not all records that a segment may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// It holds nothing.
    Empty,
    /// A line of it is no record.
    BadLine,
    /// Its last line has no newline.
    TornTail,
    /// A payload is nested deeper than a segment may hold.
    TooDeep,
    /// Not a regular file, or larger than any shard.
    Unreadable,
}

impl Flaw {
    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::BadLine => "bad-line",
            Self::TornTail => "torn-tail",
            Self::TooDeep => "too-deep",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether good records may be taken out of such a shard.
    #[must_use]
    pub const fn is_rescuable(self) -> bool {
        matches!(self, Self::Empty | Self::BadLine | Self::TornTail)
    }
}

impl Facts {
    /// Looks at every line of a shard.
    #[must_use]
    pub fn of(id: ShardId, shard: &[u8]) -> Self {
        let mut flaw = (shard.is_empty()).then_some(Flaw::Empty);
        let mut records = Vec::new();
        for line in checked_lines(shard) {
            match line {
                Ok(line) => {
                    if is_too_deep(line.payload()) {
                        flaw = flaw.or(Some(Flaw::TooDeep));
                    }
                    records.push((line.sha(), stored_len(&line)));
                }
                Err(_) => flaw = flaw.or(Some(Flaw::BadLine)),
            }
        }
        if shard.last().is_some_and(|last| *last != b'\n') {
            flaw = flaw.or(Some(Flaw::TornTail));
        }
        records.sort_unstable();
        records.dedup();
        Self { id, sha256: Digest::of(shard), bytes: len(shard), records, flaw }
    }

    /// A shard that nothing could be read of.
    #[must_use]
    pub fn unreadable(id: ShardId, bytes: u64) -> Self {
        Self { id, sha256: Digest::of(b""), bytes, records: Vec::new(), flaw: Some(Flaw::Unreadable) }
    }

    /// Its identity.
    #[must_use]
    pub const fn id(&self) -> ShardId {
        self.id
    }

    /// Digest of its bytes.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its records, ascending, each once, with the length of its stored line.
    #[must_use]
    pub fn records(&self) -> &[(Digest, u64)] {
        &self.records
    }

    /// What keeps it from being a source.
    #[must_use]
    pub const fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }
}

/// Length of a line with its newline.
fn stored_len(line: &CheckedLine<'_>) -> u64 {
    len(line.line()).saturating_add(1)
}

pub(crate) fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
