//! A shard that was looked at once, so that nobody has to check its lines again to cut them out.

use std::borrow::Cow;

use crate::digest::Digest;
use crate::shard::placed_lines;

/// What was found in a shard, and its bytes until they are forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownShard<'a> {
    bytes: Option<Cow<'a, [u8]>>,
    sha256: Digest,
    lines: Vec<KnownLine>,
    has_bad_line: bool,
    is_torn: bool,
    is_too_deep: bool,
}

/// Where a record's line lies in a known shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownLine {
    sha: Digest,
    offset: u32,
    length: u32,
}

/// The lines of a known shard, cut out of the bytes that it was known by.
#[derive(Debug, Clone, Copy)]
pub struct KnownLines<'a> {
    lines: &'a [KnownLine],
    is_too_deep: bool,
    bytes: &'a [u8],
}

impl<'a> KnownShard<'a> {
    /// Checks every line of a shard by the read rules. Of a shard beyond 4 GiB only what lies before is known.
    #[must_use]
    pub fn of(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let bytes = bytes.into();
        let shard = bytes.as_ref();
        let mut known = Self {
            bytes: None,
            sha256: Digest::of(shard),
            lines: Vec::new(),
            has_bad_line: false,
            is_torn: shard.last().is_some_and(|last| *last != b'\n'),
            is_too_deep: false,
        };
        for (place, line) in placed_lines(shard) {
            let length = u32::try_from(place.len()).ok();
            match (line, u32::try_from(place.start).ok().zip(length)) {
                (Ok(line), Some((offset, length))) => {
                    known.is_too_deep |= line.is_too_deep();
                    known.lines.push(KnownLine { sha: line.sha(), offset, length });
                }
                _ => known.has_bad_line = true,
            }
        }
        known.lines.sort_unstable_by_key(|line| line.sha);
        known.lines.dedup_by_key(|line| line.sha);
        known.bytes = Some(bytes);
        known
    }

    /// The same without the bytes, for whoever looks at more shards than fit in memory.
    #[must_use]
    pub fn without_bytes<'b>(self) -> KnownShard<'b> {
        KnownShard { bytes: None, ..self }
    }

    /// Digest of the bytes.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// The records' lines, ascending by digest, each record once.
    #[must_use]
    pub fn lines(&self) -> &[KnownLine] {
        &self.lines
    }

    /// Whether a line is no record.
    #[must_use]
    pub const fn has_bad_line(&self) -> bool {
        self.has_bad_line
    }

    /// Whether the last line has no newline.
    #[must_use]
    pub const fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Whether a payload is nested deeper than a segment may hold.
    #[must_use]
    pub const fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// The lines, where the bytes are still known.
    #[must_use]
    pub fn kept(&self) -> Option<KnownLines<'_>> {
        self.bytes.as_deref().map(|bytes| self.cut(bytes))
    }

    /// The lines in the bytes of this shard, read again; `None` where the bytes are others.
    #[must_use]
    pub fn found_in<'b>(&'b self, bytes: &'b [u8]) -> Option<KnownLines<'b>> {
        (Digest::of(bytes) == self.sha256).then(|| self.cut(bytes))
    }

    fn cut<'b>(&'b self, bytes: &'b [u8]) -> KnownLines<'b> {
        KnownLines { lines: &self.lines, is_too_deep: self.is_too_deep, bytes }
    }
}

impl KnownLine {
    /// The record's digest.
    #[must_use]
    pub const fn sha(&self) -> Digest {
        self.sha
    }

    /// Length of the line with its newline, in bytes.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        u64::from(self.length).saturating_add(1)
    }
}

impl<'a> KnownLines<'a> {
    /// Whether a payload is nested deeper than a segment may hold.
    pub(crate) const fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// Each record's digest and line, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Digest, &'a [u8])> + use<'a> {
        let bytes = self.bytes;
        self.lines.iter().filter_map(move |line| {
            let start = usize::try_from(line.offset).ok()?;
            let end = start.checked_add(usize::try_from(line.length).ok()?)?;
            Some((line.sha, bytes.get(start..end)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Bytes;
    use crate::segment::{COMPACTION_METADATA, SegmentIdentity};

    const LINE: &[u8] = br#"{"id":"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52","parents":[],"payload":{"a":1},"sha":"sha256:77fa2bb1e26b49905c9d410de2d5edde34320a6470619115ba246372f99384f1","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":1}"#;

    #[test]
    fn lines_are_cut_only_out_of_the_bytes_that_were_checked() {
        let shard = [b"no record\n", LINE, b"\n", LINE, b"\n{"].concat();
        let known = KnownShard::of(shard.as_slice());
        assert_eq!((known.lines().len(), known.has_bad_line(), known.is_torn()), (1, true, true));
        let lines = known.kept().unwrap();
        assert_eq!(lines.iter().map(|(_, line)| line).collect::<Vec<_>>(), [LINE]);
        let segment = SegmentIdentity::of_known(COMPACTION_METADATA, [lines], Bytes::new(1000)).unwrap();
        assert_eq!(segment.sha256(), Digest::of(&[LINE, b"\n"].concat()));
        let mut other = shard.clone();
        other[0] = b'N';
        let forgetful = known.clone().without_bytes();
        assert!(forgetful.kept().is_none() && forgetful.found_in(&other).is_none());
        assert_eq!(forgetful.found_in(&shard).unwrap().iter().count(), 1);
    }
}
