//! Content-addressed shards: the same records under the same metadata always get the same identity (§6, FORMATS §6).

use crate::digest::{Digest, Hasher};
use crate::ids::ShardId;
use crate::json::{Text, walk};
use crate::limits::Bytes;
use crate::line::CheckedLine;
use crate::record::{MAX_WRITE_NESTING, Record};

/// Metadata of shards that persistence writes.
pub const PERSIST_METADATA: &str = r#"{"daybook":"persist/v1"}"#;
/// Metadata of compaction replacements.
pub const COMPACTION_METADATA: &str = r#"{"compaction":"gh-aw/ledger-compaction-plan/v1"}"#;

/// Depth of a payload in the text whose digest is the identity: below the record, the list and the root.
const PAYLOAD_DEPTH: usize = 3;

/// A shard built from records, with the identity that follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    id: ShardId,
    bytes: Vec<u8>,
    sha256: Digest,
    records: Vec<Digest>,
}

/// The records cannot form a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SegmentFault {
    /// The segment would exceed its limit.
    #[error("the segment takes {size}, more than {limit}")]
    TooLarge {
        /// Size of the segment.
        size: Bytes,
        /// The limit.
        limit: Bytes,
    },
    /// A payload is nested so deep that the reference runtime could not compute the identity.
    #[error("a payload is nested deeper than {MAX_WRITE_NESTING} levels")]
    TooDeep,
}

impl Segment {
    /// Builds the segment of a set of records; order and repetition do not matter.
    ///
    /// `metadata` is canonical JSON; it enters the identity as a string.
    ///
    /// # Errors
    /// [`SegmentFault`] where the result would break a bound.
    pub fn build<'a>(
        metadata: &str,
        records: impl IntoIterator<Item = &'a Record>,
        limit: Bytes,
    ) -> Result<Self, SegmentFault> {
        Self::from_lines(
            metadata,
            records.into_iter().map(|record| (record.sha(), record.line(), record.payload_text().as_bytes())).collect(),
            limit,
        )
    }

    /// As [`Segment::build`], from checked lines.
    ///
    /// # Errors
    /// As [`Segment::build`].
    pub fn build_from_checked<'a>(
        metadata: &str,
        lines: impl IntoIterator<Item = CheckedLine<'a>>,
        limit: Bytes,
    ) -> Result<Self, SegmentFault> {
        Self::from_lines(
            metadata,
            lines.into_iter().map(|line| (line.sha(), line.line(), line.payload())).collect(),
            limit,
        )
    }

    // DB-6-03
    fn from_lines(metadata: &str, mut lines: Vec<(Digest, &[u8], &[u8])>, limit: Bytes) -> Result<Self, SegmentFault> {
        lines.sort_unstable_by_key(|(sha, ..)| *sha);
        lines.dedup_by_key(|(sha, ..)| *sha);
        let size = Bytes::new(lines.iter().map(|(_, line, _)| Bytes::of_len(line.len() + 1).get()).sum());
        if size > limit {
            return Err(SegmentFault::TooLarge { size, limit });
        }
        if lines.iter().any(|(.., payload)| is_too_deep(payload)) {
            return Err(SegmentFault::TooDeep);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size.get()).unwrap_or(0));
        let mut identity = Hasher::new();
        identity.update(b"{\"metadata\":\"");
        identity.update(Text::new(metadata).spelling().as_bytes());
        identity.update(b"\",\"records\":[");
        for (position, (_, line, _)) in lines.iter().enumerate() {
            if position > 0 {
                identity.update(b",");
            }
            identity.update(line);
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        identity.update(b"]}");
        Ok(Self {
            id: ShardId::from_digest(&identity.finish()),
            sha256: Digest::of(&bytes),
            records: lines.into_iter().map(|(sha, ..)| sha).collect(),
            bytes,
        })
    }

    /// The identity.
    #[must_use]
    pub const fn id(&self) -> ShardId {
        self.id
    }

    /// The bytes of the shard.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Digest of the bytes.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// The records, ascending.
    #[must_use]
    pub fn records(&self) -> &[Digest] {
        &self.records
    }
}

/// Whether a canonical payload is nested beyond what a segment may hold. Text with no more opening brackets than that
/// cannot be, which spares nearly every payload the walk.
#[must_use]
pub fn is_too_deep(payload: &[u8]) -> bool {
    let brackets = memchr::memchr2_iter(b'[', b'{', payload).take(MAX_WRITE_NESTING + 1).count();
    brackets > MAX_WRITE_NESTING && walk::value(payload, PAYLOAD_DEPTH).is_none()
}
