//! Rescue: the good records of a damaged shard in a fresh one, so that the slot of the damaged one comes back.

use daybook_core::ShardId;
use daybook_core::known::KnownLine;
use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::segment::{COMPACTION_METADATA, Segment, SegmentFault};

use crate::coverage::AuthorizedCoverage;
use crate::facts::{Facts, len};

/// What is saved of a damaged shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescue {
    damaged: ShardId,
    replacement: Option<Segment>,
    bytes_left: u64,
}

/// Why a shard is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unrescued {
    /// Every byte of it is a record.
    #[error("the shard is not damaged")]
    Sound,
    /// Its good records make no segment.
    #[error("the good records make no segment: {0}")]
    NoSegment(#[from] SegmentFault),
}

/// Takes the good records out of a damaged shard. What is no record stays in the history of the branch only.
///
/// # Errors
/// [`Unrescued`] for a shard that is sound, or whose records no segment may hold.
pub fn rescue(damaged: ShardId, shard: &[u8]) -> Result<Rescue, Unrescued> {
    let facts = Facts::of(damaged, shard);
    if facts.flaw().is_none() {
        return Err(Unrescued::Sound);
    }
    let good: u64 = facts.records().iter().map(KnownLine::stored_len).sum();
    let bytes_left = len(shard).saturating_sub(good);
    let replacement = match facts.known().kept() {
        Some(lines) if good > 0 => Some(Segment::build_from_known(COMPACTION_METADATA, [lines], READ_SHARD_BYTES)?),
        _ => None,
    };
    Ok(Rescue { damaged, replacement, bytes_left })
}

impl Rescue {
    /// The damaged shard.
    #[must_use]
    pub const fn damaged(&self) -> ShardId {
        self.damaged
    }

    /// The fresh one; `None` where the damaged one held no record.
    #[must_use]
    pub const fn replacement(&self) -> Option<&Segment> {
        self.replacement.as_ref()
    }

    /// How many bytes are no record.
    #[must_use]
    pub const fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    /// The right to retire the damaged shard, under the same proof as any other (§5.4).
    #[must_use]
    pub fn coverage(&self) -> AuthorizedCoverage {
        AuthorizedCoverage::new(self.replacement.as_ref(), vec![self.damaged])
    }
}
