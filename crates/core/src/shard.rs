//! One shard: a file of stored lines (FORMATS §3).

use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::digest::Digest;
use crate::ids::{RecordId, ShardId};
use crate::line::{CheckedLine, LineFault};

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The shard.
    pub shard: ShardId,
    /// The line, counted from 1.
    pub line: u64,
    /// First byte of the line in the shard.
    pub offset: u32,
    /// Length of the line without its newline, in bytes.
    pub length: u32,
}

impl Location {
    /// The line of the record in the bytes of its shard.
    #[must_use]
    pub fn line_of<'a>(&self, shard: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(self.offset).ok()?;
        shard.get(start..start.checked_add(usize::try_from(self.length).ok()?)?)
    }
}

/// What reconstruction needs to know of a record; its text stays in the shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    sha: Digest,
    id: RecordId,
    location: Location,
    parents: Parents,
}

/// Nearly every record has one parent, which needs no allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Parents {
    One(Digest),
    Many(Box<[Digest]>),
}

impl Parents {
    fn of(checked: &CheckedLine<'_>) -> Self {
        let mut parents = checked.parents();
        match (parents.next(), parents.next()) {
            (Some(only), None) => Self::One(only),
            _ => Self::Many(checked.parents().collect()),
        }
    }
}

impl Entry {
    /// The entry of a checked line at `location`.
    #[must_use]
    pub fn new(checked: &CheckedLine<'_>, location: Location) -> Self {
        Self { sha: checked.sha(), id: checked.id(), location, parents: Parents::of(checked) }
    }

    /// The record's digest.
    #[must_use]
    pub const fn sha(&self) -> Digest {
        self.sha
    }

    /// The record's id.
    #[must_use]
    pub const fn id(&self) -> RecordId {
        self.id
    }

    /// The record's parents, ascending.
    #[must_use]
    pub const fn parents(&self) -> &[Digest] {
        match &self.parents {
            Parents::One(only) => std::slice::from_ref(only),
            Parents::Many(all) => all,
        }
    }

    /// Where the record lies.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.location
    }
}

/// Checks the lines of a shard one by one, in order; a last line without newline is left out.
pub fn checked_lines(shard: &[u8]) -> impl Iterator<Item = Result<CheckedLine<'_>, LineFault>> + '_ {
    placed_lines(shard).map(|(_, line)| line)
}

/// As [`checked_lines`], each with where its bytes are.
pub(crate) fn placed_lines(
    shard: &[u8],
) -> impl Iterator<Item = (Range<usize>, Result<CheckedLine<'_>, LineFault>)> + '_ {
    let utf8 = simdutf8::basic::from_utf8(shard).is_ok();
    let mut start = 0;
    memchr::memchr_iter(b'\n', shard).map(move |end| {
        let place = start..end;
        let line = shard.get(place.clone()).unwrap_or_default();
        start = end + 1;
        (place, if utf8 { CheckedLine::check_utf8(line) } else { CheckedLine::check(line) })
    })
}

/// A shard after every line of it was checked. Scanning needs nothing but the bytes, so shards are scanned in parallel.
#[derive(Debug, Clone)]
pub struct ShardScan {
    shard: ShardId,
    bytes: u64,
    lines: u64,
    entries: Vec<Entry>,
    diagnostics: Diagnostics,
}

impl ShardScan {
    /// Checks every line of a shard. A bad line becomes a diagnostic and hides no good one (§2).
    ///
    /// The caller bounds the size of a shard ([`crate::limits::READ_SHARD_BYTES`]); time is linear in it.
    #[must_use]
    pub fn new(shard: ShardId, bytes: &[u8]) -> Self {
        Self::noting(shard, bytes, |_| ())
    }

    /// As [`ShardScan::new`]; `note` is shown each record while its members are at hand, in the order of
    /// [`ShardScan::entries`].
    #[must_use]
    pub fn noting(shard: ShardId, bytes: &[u8], note: impl FnMut(&CheckedLine<'_>)) -> Self {
        let mut scan = Self { shard, bytes: 0, lines: 0, entries: Vec::new(), diagnostics: Diagnostics::default() };
        scan.read(bytes, note);
        scan
    }

    /// Checks what was appended to a shard whose bytes so far ended with a newline. Returns the records found in it.
    // DB-2-07, DB-8-04
    pub fn append(&mut self, bytes: &[u8]) -> &[Entry] {
        let known = self.entries.len();
        self.read(bytes, |_| ());
        self.entries.get(known..).unwrap_or_default()
    }

    fn read(&mut self, bytes: &[u8], mut note: impl FnMut(&CheckedLine<'_>)) {
        let origin = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let mut start = 0;
        for (place, checked) in placed_lines(bytes) {
            let known = self.entries.len();
            start = place.end + 1;
            self.line(checked, origin.saturating_add(place.start), place.len());
            if let (Ok(line), true) = (&checked, self.entries.len() > known) {
                note(line);
            }
        }
        if start < bytes.len() {
            self.lines += 1;
            self.diagnostics.push(Diagnostic {
                code: Code::TruncatedRecord,
                detail: None,
                shard: Some(self.shard),
                line: Some(self.lines),
                record: None,
            });
        }
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    }

    fn line(&mut self, checked: Result<CheckedLine<'_>, LineFault>, start: usize, length: usize) {
        self.lines += 1;
        let position = u32::try_from(start).ok().zip(u32::try_from(length).ok());
        match (checked, position) {
            (Ok(checked), Some((offset, length))) => {
                let location = Location { shard: self.shard, line: self.lines, offset, length };
                self.entries.push(Entry::new(&checked, location));
            }
            (Ok(_), None) => self.fault(LineFault::Shape),
            (Err(fault), _) => self.fault(fault),
        }
    }

    fn fault(&mut self, fault: LineFault) {
        self.diagnostics.push(Diagnostic::at_line(self.shard, self.lines, fault));
    }

    /// Which shard.
    #[must_use]
    pub const fn shard(&self) -> ShardId {
        self.shard
    }

    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many lines it has, a torn last one included.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// The records found, in the order of their lines.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The findings about its lines.
    #[must_use]
    pub const fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    pub(crate) fn into_parts(self) -> (Vec<Entry>, Diagnostics) {
        (self.entries, self.diagnostics)
    }
}
