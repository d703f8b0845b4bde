//! Content-addressed shards: the same records under the same metadata always get the same identity (§6, FORMATS §6).

use crate::digest::{Digest, Hasher};
use crate::ids::ShardId;
use crate::json::{Text, walk};
use crate::known::KnownLines;
use crate::limits::Bytes;
use crate::record::{MAX_WRITE_NESTING, Record};

/// Metadata of shards that persistence writes.
pub const PERSIST_METADATA: &str = r#"{"daybook":"persist/v1"}"#;
/// Metadata of compaction replacements.
pub const COMPACTION_METADATA: &str = r#"{"compaction":"gh-aw/ledger-compaction-plan/v1"}"#;

/// Depth of a payload in the text whose digest is the identity: below the record, the list and the root.
pub(crate) const PAYLOAD_DEPTH: usize = 3;

/// A shard built from records, with the identity that follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    identity: SegmentIdentity,
    bytes: Vec<u8>,
}

/// What a segment is, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentIdentity {
    id: ShardId,
    sha256: Digest,
    size: Bytes,
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
        let mut deep = false;
        let lines = records.into_iter().map(|record| {
            deep |= is_too_deep(record.payload_text().as_bytes());
            (record.sha(), record.line())
        });
        let lines = lines.collect();
        Ok(Self::from_lines(metadata, &Lines::new(lines, deep, limit)?))
    }

    /// As [`Segment::build`], from shards that were checked before.
    ///
    /// # Errors
    /// As [`Segment::build`].
    pub fn build_from_known<'a>(
        metadata: &str,
        shards: impl IntoIterator<Item = KnownLines<'a>>,
        limit: Bytes,
    ) -> Result<Self, SegmentFault> {
        Ok(Self::from_lines(metadata, &Lines::of_known(shards, limit)?))
    }

    fn from_lines(metadata: &str, lines: &Lines<'_>) -> Self {
        Self { identity: lines.identity(metadata), bytes: lines.bytes() }
    }

    /// What it is.
    #[must_use]
    pub const fn identity(&self) -> &SegmentIdentity {
        &self.identity
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> ShardId {
        self.identity.id
    }

    /// The bytes of the shard.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Digest of the bytes.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.identity.sha256
    }

    /// The records, ascending.
    #[must_use]
    pub fn records(&self) -> &[Digest] {
        &self.identity.records
    }
}

impl SegmentIdentity {
    /// The identity of the segment that [`Segment::build`] makes of the records of shards that were checked before.
    ///
    /// # Errors
    /// As [`Segment::build`].
    pub fn of_known<'a>(
        metadata: &str,
        shards: impl IntoIterator<Item = KnownLines<'a>>,
        limit: Bytes,
    ) -> Result<Self, SegmentFault> {
        Ok(Lines::of_known(shards, limit)?.identity(metadata))
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> ShardId {
        self.id
    }

    /// Digest of the bytes.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// Size of the shard.
    #[must_use]
    pub const fn size(&self) -> Bytes {
        self.size
    }

    /// The records, ascending.
    #[must_use]
    pub fn records(&self) -> &[Digest] {
        &self.records
    }
}

/// The lines of a segment: ascending by digest, each record once, within the limit.
struct Lines<'a> {
    lines: Vec<(Digest, &'a [u8])>,
    size: Bytes,
}

impl<'a> Lines<'a> {
    fn of_known(shards: impl IntoIterator<Item = KnownLines<'a>>, limit: Bytes) -> Result<Self, SegmentFault> {
        let (mut lines, mut deep) = (Vec::new(), false);
        for shard in shards {
            deep |= shard.is_too_deep();
            lines.extend(shard.iter());
        }
        Self::new(lines, deep, limit)
    }

    fn new(mut lines: Vec<(Digest, &'a [u8])>, is_too_deep: bool, limit: Bytes) -> Result<Self, SegmentFault> {
        lines.sort_unstable_by_key(|(sha, _)| *sha);
        lines.dedup_by_key(|(sha, _)| *sha);
        let size = Bytes::new(lines.iter().map(|(_, line)| Bytes::of_len(line.len() + 1).get()).sum());
        if size > limit {
            return Err(SegmentFault::TooLarge { size, limit });
        }
        if is_too_deep { Err(SegmentFault::TooDeep) } else { Ok(Self { lines, size }) }
    }

    // DB-6-03
    fn identity(&self, metadata: &str) -> SegmentIdentity {
        let mut twin = Twin::new(metadata);
        for (_, line) in &self.lines {
            twin.line(line);
        }
        let (identity, sha256) = twin.finish();
        SegmentIdentity {
            id: ShardId::from_digest(&identity),
            sha256,
            size: self.size,
            records: self.lines.iter().map(|(sha, _)| *sha).collect(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.size.get()).unwrap_or(0));
        for (_, line) in &self.lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        bytes
    }
}

/// Length of a block of SHA-256.
const BLOCK: usize = 64;
/// How much text is gathered before it is hashed.
const GATHERED: usize = 16 * 1024;

/// The two digests of a segment: that of its bytes, and that of the canonical text of which it is made, which is the same
/// lines between commas. Whole blocks of both are hashed in turn: neither waits for the other, so that a processor works
/// on both at once, and the pair takes three quarters of the time of one after the other (`cargo bench -p
/// daybook-compaction`).
struct Twin {
    text: Hasher,
    bytes: Hasher,
    /// Lines with their newlines: all that the bytes' hasher has not seen.
    gathered: Vec<u8>,
    /// How many bytes of them the text's hasher has seen; then it stands at the start of a block, too.
    ahead: usize,
    /// How many bytes are missing to the start of a block.
    lead: usize,
}

impl Twin {
    fn new(metadata: &str) -> Self {
        let opening = format!("{{\"metadata\":\"{}\",\"records\":[", Text::new(metadata).spelling());
        let mut text = Hasher::new();
        text.update(opening.as_bytes());
        let lead = opening.len().next_multiple_of(BLOCK) - opening.len();
        Self { text, bytes: Hasher::new(), gathered: Vec::with_capacity(2 * GATHERED), ahead: 0, lead }
    }

    fn line(&mut self, line: &[u8]) {
        self.gathered.extend_from_slice(line);
        self.gathered.push(b'\n');
        if self.gathered.len() > GATHERED {
            self.hash();
        }
    }

    /// Hashes all whole blocks of both but the last byte, which may turn out to be the last of all.
    fn hash(&mut self) {
        if self.ahead < self.lead {
            // No line is shorter than a block.
            let lead = self.gathered.get(..self.lead).unwrap_or_default();
            self.text.update(&between_commas(lead));
            self.ahead = self.lead;
        }
        let own = self.gathered.as_chunks::<BLOCK>().0;
        let shifted = self.gathered.get(self.ahead..self.gathered.len().saturating_sub(1)).unwrap_or_default();
        let mut done = 0;
        for (own, shifted) in own.iter().zip(shifted.as_chunks::<BLOCK>().0) {
            self.bytes.update(own);
            self.text.update(&shifted.map(comma_for_newline));
            done += BLOCK;
        }
        self.gathered.drain(..done);
    }

    /// The digest of the text, and that of the bytes.
    fn finish(mut self) -> (Digest, Digest) {
        let rest = self.gathered.get(self.ahead..self.gathered.len().saturating_sub(1)).unwrap_or_default();
        self.text.update(&between_commas(rest));
        self.text.update(b"]}");
        self.bytes.update(&self.gathered);
        (self.text.finish(), self.bytes.finish())
    }
}

/// In canonical lines a newline stands at their ends only.
const fn comma_for_newline(byte: u8) -> u8 {
    if byte == b'\n' { b',' } else { byte }
}

fn between_commas(lines: &[u8]) -> Vec<u8> {
    lines.iter().copied().map(comma_for_newline).collect()
}

/// Whether a canonical payload is nested beyond what a segment may hold. Text with no more opening brackets than that
/// cannot be, which spares nearly every payload the walk.
fn is_too_deep(payload: &[u8]) -> bool {
    let brackets = memchr::memchr2_iter(b'[', b'{', payload).take(MAX_WRITE_NESTING + 1).count();
    brackets > MAX_WRITE_NESTING && walk::value(payload, PAYLOAD_DEPTH).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The identity of segments of every length around the blocks and the gathered text, against the plain definition.
    #[test]
    fn both_digests_are_those_of_the_whole_texts() {
        let line = |number: usize| format!("{number:0>width$}", width = 80 + number * 7 % 130).into_bytes();
        for metadata in [COMPACTION_METADATA, PERSIST_METADATA, "{}"] {
            for count in (1..40).chain([150, 151, 152, 500, 1000]) {
                let lines: Vec<Vec<u8>> = (0..count).map(line).collect();
                let mut twin = Twin::new(metadata);
                for line in &lines {
                    twin.line(line);
                }
                let bytes = [lines.join(&b'\n'), b"\n".to_vec()].concat();
                let opening = format!("{{\"metadata\":\"{}\",\"records\":[", Text::new(metadata).spelling());
                let text = [opening.as_bytes(), &lines.join(&b','), b"]}"].concat();
                assert_eq!(twin.finish(), (Digest::of(&text), Digest::of(&bytes)), "{count} lines under {metadata}");
            }
        }
    }
}
