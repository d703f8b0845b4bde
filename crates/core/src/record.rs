//! A record that owns its canonical bytes (§2).

use std::ops::Range;

use crate::digest::{Digest, Hasher};
use crate::ids::RecordId;
use crate::json::{self, JsonFault, Value};
use crate::limits::{Bytes, Limits};
use crate::line::{CheckedLine, LineFault, MAX_PARENTS, MAX_TYPE_UNITS};
use crate::timestamp;

/// Deepest nesting of a payload that writers accept, so that a segment that holds the record stays within the read
/// bound of the reference runtime (FORMATS §1).
pub const MAX_WRITE_NESTING: usize = 29;

/// A checked record. What was hashed, what is stored and what is read are the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    line: Box<[u8]>,
    sha: Digest,
    id: RecordId,
    parents: Vec<Digest>,
    payload: Range<usize>,
    timestamp: Range<usize>,
    kind: String,
}

/// The payload holds text that no Unicode string can represent: a lone surrogate. The record is kept as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the payload holds a lone surrogate")]
pub struct Unrepresentable;

/// A record that the read rules accept and writers must not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFault {
    /// The stored line exceeds `max-record-kb`.
    #[error("the record takes {size}; max-record-kb allows {limit}")]
    RecordTooLarge {
        /// Size of the stored line.
        size: Bytes,
        /// The limit.
        limit: Bytes,
    },
    /// The payload is nested deeper than [`MAX_WRITE_NESTING`].
    #[error("the payload is nested deeper than {MAX_WRITE_NESTING} levels")]
    TooDeep,
    /// The type is empty, longer than 128 UTF-16 units, or holds a control character.
    #[error("the type must have 1 to {MAX_TYPE_UNITS} UTF-16 units and no control character")]
    Type,
    /// The id has no tag.
    #[error("the id must be ldg- and a UUID of version 4")]
    UntaggedId,
    /// The payload holds a lone surrogate.
    #[error("the payload holds a lone surrogate")]
    LoneSurrogate,
    /// More than 64 parents, or not strictly ascending.
    #[error("parents must be at most {MAX_PARENTS} digests in ascending order")]
    Parents,
    /// Not a canonical instant.
    #[error("the timestamp is not canonical")]
    Timestamp,
    /// The payload does not meet the ledger's schema.
    #[error("the payload does not meet this ledger's schema")]
    Schema,
    /// The payload has no canonical form.
    #[error(transparent)]
    Json(#[from] JsonFault),
}

impl WriteFault {
    /// The code by which replies and reports name the fault.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::RecordTooLarge { .. } => "record-too-large",
            Self::TooDeep => "too-deep",
            Self::Type => "invalid-type",
            Self::UntaggedId => "untagged-id",
            Self::LoneSurrogate => "lone-surrogate",
            Self::Parents => "invalid-parents",
            Self::Timestamp => "invalid-timestamp",
            Self::Schema => "invalid-schema",
            Self::Json(fault) => fault.code(),
        }
    }
}

/// What a writer says of a new record; [`Record::build`] adds the digest.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// A fresh identity.
    pub id: RecordId,
    /// The type, 1 to 128 UTF-16 units without control characters.
    pub kind: &'a str,
    /// A canonical instant.
    pub timestamp: &'a str,
    /// Parents in ascending order, at most 64.
    pub parents: &'a [Digest],
    /// The payload.
    pub payload: &'a Value,
}

impl Record {
    /// Reads a stored line (without its newline) by the read rules.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn parse(line: &[u8]) -> Result<Self, LineFault> {
        CheckedLine::check(line).map(|checked| Self::from_checked(&checked))
    }

    /// Takes ownership of a checked line.
    #[must_use]
    pub fn from_checked(checked: &CheckedLine<'_>) -> Self {
        let line = checked.line();
        let kind = json::decode(checked.kind_spelling()).map(std::borrow::Cow::into_owned).unwrap_or_default();
        // The members stand in a fixed order, so lengths from the end give positions.
        let after_kind = checked.kind_spelling().len() + br#"","type":"","version":1}"#.len();
        let time_end = line.len().saturating_sub(after_kind);
        let time_start = time_end.saturating_sub(timestamp::LEN);
        let payload_end = time_start.saturating_sub(br#","sha":"","timestamp":""#.len() + Digest::TEXT_LEN);
        Self {
            sha: checked.sha(),
            id: checked.id(),
            parents: checked.parents().collect(),
            payload: payload_end.saturating_sub(checked.payload().len())..payload_end,
            timestamp: time_start..time_end,
            kind,
            line: line.into(),
        }
    }

    /// Builds a record by the write rules (§2, FORMATS §4).
    ///
    /// # Errors
    /// The [`WriteFault`] for which it was refused; nothing is changed to make it fit.
    ///
    /// ```
    /// use daybook_core::{Draft, Limits, Record, RecordId, json};
    /// let draft = Draft {
    ///     id: RecordId::from_text(b"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52").unwrap(),
    ///     kind: "note",
    ///     timestamp: "2026-03-01T12:00:01.000Z",
    ///     parents: &[],
    ///     payload: &json::parse(br#"{"a":1}"#)?,
    /// };
    /// let record = Record::build(&draft, &Limits::default())?;
    /// assert_eq!(Record::parse(record.line()), Ok(record));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build(draft: &Draft<'_>, limits: &Limits) -> Result<Self, WriteFault> {
        if draft.parents.len() > MAX_PARENTS || !draft.parents.is_sorted_by(|left, right| left < right) {
            return Err(WriteFault::Parents);
        }
        if !timestamp::is_canonical(draft.timestamp.as_bytes()) {
            return Err(WriteFault::Timestamp);
        }
        let kind = json::Text::new(draft.kind);
        if kind.spelling().is_empty() || kind.utf16_len() > MAX_TYPE_UNITS {
            return Err(WriteFault::Type);
        }
        if draft.payload.nesting() > MAX_WRITE_NESTING {
            return Err(WriteFault::TooDeep);
        }
        let mut before_sha = format!(r#"{{"id":"{}","parents":["#, draft.id);
        for (position, parent) in draft.parents.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            before_sha.extend([comma, "\"", &parent.to_string(), "\""]);
        }
        before_sha.push_str(r#"],"payload":"#);
        draft.payload.write(&mut before_sha);
        let after_sha = format!(r#","timestamp":"{}","type":"{}","version":1}}"#, draft.timestamp, kind.spelling());
        let mut hasher = Hasher::new();
        hasher.update(before_sha.as_bytes());
        hasher.update(after_sha.as_bytes());
        let line = format!(r#"{before_sha},"sha":"{}"{after_sha}"#, hasher.finish());
        let record = Self::parse(line.as_bytes()).map_err(|_| WriteFault::LoneSurrogate)?;
        record.check_write_rules(limits)?;
        Ok(record)
    }

    /// Whether a writer may store this record (FORMATS §1, §2, §4).
    ///
    /// # Errors
    /// The first rule that it breaks.
    // DB-2-08, DB-8-07
    pub fn check_write_rules(&self, limits: &Limits) -> Result<(), WriteFault> {
        let (size, limit) = (self.stored_size(), limits.max_record());
        if size > limit {
            return Err(WriteFault::RecordTooLarge { size, limit });
        }
        if !self.id.is_tagged() {
            return Err(WriteFault::UntaggedId);
        }
        if self.kind.chars().any(char::is_control) {
            return Err(WriteFault::Type);
        }
        if json::parse(self.payload_text().as_bytes())?.nesting() > MAX_WRITE_NESTING {
            return Err(WriteFault::TooDeep);
        }
        Ok(())
    }

    /// The canonical bytes, without newline.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Size of the stored line, its newline included.
    #[must_use]
    pub fn stored_size(&self) -> Bytes {
        Bytes::of_len(self.line.len() + 1)
    }

    /// The digest over the record without its `sha` member.
    #[must_use]
    pub const fn sha(&self) -> Digest {
        self.sha
    }

    /// The identity.
    #[must_use]
    pub const fn id(&self) -> RecordId {
        self.id
    }

    /// The type.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The instant, in canonical form.
    #[must_use]
    pub fn timestamp(&self) -> &str {
        self.text(&self.timestamp)
    }

    /// The parents, ascending.
    #[must_use]
    pub fn parents(&self) -> &[Digest] {
        &self.parents
    }

    /// The canonical text of the payload.
    #[must_use]
    pub fn payload_text(&self) -> &str {
        self.text(&self.payload)
    }

    /// The digest of the payload's canonical text, by which audit events name it (§5.2).
    #[must_use]
    pub fn payload_sha(&self) -> Digest {
        Digest::of(self.payload_text().as_bytes())
    }

    /// The payload as a tree.
    ///
    /// # Errors
    /// [`Unrepresentable`] where a string in it holds a lone surrogate.
    pub fn payload(&self) -> Result<serde_json::Value, Unrepresentable> {
        serde_json::from_str(self.payload_text()).map_err(|_| Unrepresentable)
    }

    fn text(&self, range: &Range<usize>) -> &str {
        self.line.get(range.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}
