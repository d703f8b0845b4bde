//! What a planner needs to know of a shard.

use std::borrow::Cow;

use daybook_core::ShardId;
use daybook_core::known::{KnownLine, KnownShard};

/// A shard, as selection sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts<'a> {
    id: ShardId,
    bytes: u64,
    known: KnownShard<'a>,
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

impl<'a> Facts<'a> {
    /// Looks at every line of a shard.
    #[must_use]
    pub fn of(id: ShardId, shard: impl Into<Cow<'a, [u8]>>) -> Self {
        let shard = shard.into();
        let (bytes, is_empty) = (len(&shard), shard.is_empty());
        let known = KnownShard::of(shard);
        let flaws = [
            (is_empty, Flaw::Empty),
            (known.has_bad_line(), Flaw::BadLine),
            (known.is_torn(), Flaw::TornTail),
            (known.is_too_deep(), Flaw::TooDeep),
        ];
        let flaw = flaws.into_iter().find_map(|(is, flaw)| is.then_some(flaw));
        Self { id, bytes, known, flaw }
    }

    /// The same without the shard's bytes, which are read again where they are needed.
    #[must_use]
    pub fn without_bytes<'b>(self) -> Facts<'b> {
        Facts { id: self.id, bytes: self.bytes, known: self.known.without_bytes(), flaw: self.flaw }
    }

    /// A shard that nothing could be read of.
    #[must_use]
    pub fn unreadable(id: ShardId, bytes: u64) -> Self {
        Self { id, bytes, known: KnownShard::of(Vec::new()), flaw: Some(Flaw::Unreadable) }
    }

    /// Its identity.
    #[must_use]
    pub const fn id(&self) -> ShardId {
        self.id
    }

    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was found in it.
    #[must_use]
    pub const fn known(&self) -> &KnownShard<'a> {
        &self.known
    }

    /// Its records, ascending, each once.
    #[must_use]
    pub fn records(&self) -> &[KnownLine] {
        self.known.lines()
    }

    /// What keeps it from being a source.
    #[must_use]
    pub const fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }
}

pub(crate) fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
