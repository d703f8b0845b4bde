//! The check of one stored line (§2, FORMATS §2, §3): the only place where bytes become a record.
//!
//! A good line is accepted in one walk over its bytes. Because keys are ordered, the text that was hashed is the line
//! with the `sha` member cut out. Only a line that fails is read a second time, as a tree, to say what is wrong with it.

use crate::digest::{Digest, Hasher};
use crate::ids::RecordId;
use crate::json::{self, Value, walk};
use crate::segment::PAYLOAD_DEPTH;
use crate::timestamp;

/// Most parents of a record.
pub const MAX_PARENTS: usize = 64;
/// Most UTF-16 units of a record's type.
pub const MAX_TYPE_UNITS: usize = 128;

/// Length of one entry of `parents`: the digest in quotes.
const PARENT_LEN: usize = Digest::TEXT_LEN + 2;

/// What is wrong with a line; the first that holds in the order of FORMATS §3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LineFault {
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Not JSON.
    #[error("not JSON")]
    InvalidJson,
    /// A version other than 1.
    #[error("a version that is not supported")]
    UnsupportedVersion,
    /// Members missing, unknown, or not of their syntax; or nested too deep.
    #[error("not the shape of a record")]
    Shape,
    /// The digest is not that of the content.
    #[error("the digest does not match the content")]
    InvalidSha,
    /// A right record, not in canonical form.
    #[error("not in canonical form")]
    NotCanonical,
}

/// A checked line, borrowed: every member has been verified, nothing has been copied.
#[derive(Debug, Clone, Copy)]
pub struct CheckedLine<'a> {
    line: &'a [u8],
    id: RecordId,
    /// The entries of `parents` with their commas.
    parents: &'a [u8],
    payload: &'a [u8],
    is_too_deep: bool,
    sha: Digest,
    timestamp: &'a [u8],
    /// The canonical spelling of `type`.
    kind: &'a [u8],
}

impl<'a> CheckedLine<'a> {
    /// Checks a line (without its newline) by the read rules.
    ///
    /// # Errors
    /// The [`LineFault`] that is reported for the line.
    pub fn check(line: &'a [u8]) -> Result<Self, LineFault> {
        if simdutf8::basic::from_utf8(line).is_err() {
            return Err(LineFault::NotUtf8);
        }
        Self::check_utf8(line)
    }

    /// As [`CheckedLine::check`], for a line that is known to be UTF-8.
    pub(crate) fn check_utf8(line: &'a [u8]) -> Result<Self, LineFault> {
        Self::accept(line).ok_or_else(|| explain(line))
    }

    /// The one walk.
    // DB-2-02, DB-2-03, DB-9-05
    fn accept(line: &'a [u8]) -> Option<Self> {
        let (id, rest) = line.strip_prefix(b"{\"id\":\"")?.split_at_checked(40)?;
        let (id, rest) = match rest.strip_prefix(b"\"") {
            Some(rest) => (id, rest),
            // Without the tag the id is four bytes shorter.
            None => line.get(7..43).zip(line.get(43..)?.strip_prefix(b"\""))?,
        };
        let id = RecordId::from_text(id)?;
        let (parents, rest) = take_parents(rest.strip_prefix(b",\"parents\":[")?)?;
        let payload_start = rest.strip_prefix(b",\"payload\":")?;
        let (before_sha, is_too_deep) = match walk::value(payload_start, PAYLOAD_DEPTH) {
            Some(rest) => (rest, false),
            None => (walk::value(payload_start, 1)?, true),
        };
        let payload = payload_start.get(..payload_start.len() - before_sha.len())?;
        let (sha, after_sha) = before_sha.strip_prefix(b",\"sha\":\"")?.split_at_checked(Digest::TEXT_LEN)?;
        let sha = Digest::from_text(sha)?;
        let after_sha = after_sha.strip_prefix(b"\"")?;
        let (time, rest) = after_sha.strip_prefix(b",\"timestamp\":\"")?.split_at_checked(timestamp::LEN)?;
        let kind_start = rest.strip_prefix(b"\",\"type\":\"")?;
        let rest = walk::string(kind_start)?;
        let kind = kind_start.get(..kind_start.len() - rest.len() - 1)?;
        if rest != b",\"version\":1}" || !timestamp::is_canonical(time) || !is_type(kind) {
            return None;
        }
        let mut hasher = Hasher::new();
        hasher.update(line.get(..line.len() - before_sha.len())?);
        hasher.update(after_sha);
        (hasher.finish() == sha).then_some(Self { line, id, parents, payload, is_too_deep, sha, timestamp: time, kind })
    }

    /// The canonical bytes, without newline.
    #[must_use]
    pub const fn line(&self) -> &'a [u8] {
        self.line
    }

    /// The record's id.
    #[must_use]
    pub const fn id(&self) -> RecordId {
        self.id
    }

    /// The record's digest.
    #[must_use]
    pub const fn sha(&self) -> Digest {
        self.sha
    }

    /// The record's parents, ascending.
    pub fn parents(&self) -> impl Iterator<Item = Digest> + use<'a> {
        parent_entries(self.parents)
    }

    /// The canonical text of the payload.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Whether the payload is nested deeper than a segment may hold.
    pub(crate) const fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// The instant, in canonical form.
    #[must_use]
    pub fn timestamp(&self) -> &'a str {
        std::str::from_utf8(self.timestamp).unwrap_or_default()
    }

    /// The canonical spelling of the record's type.
    #[must_use]
    pub fn kind_spelling(&self) -> &'a str {
        std::str::from_utf8(self.kind).unwrap_or_default()
    }
}

/// The digests in the entries of a checked `parents` array.
fn parent_entries(entries: &[u8]) -> impl Iterator<Item = Digest> + '_ {
    entries.chunks(PARENT_LEN + 1).filter_map(|entry| Digest::from_text(entry.get(1..=Digest::TEXT_LEN)?))
}

/// Splits the entries of `parents` and the closing bracket off: at most 64 digests, strictly ascending.
// DB-2-06
fn take_parents(input: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(rest) = input.strip_prefix(b"]") {
        return Some((&[], rest));
    }
    let mut rest = input;
    let mut previous: Option<&[u8]> = None;
    for _ in 0..MAX_PARENTS {
        let (entry, tail) = rest.split_at_checked(PARENT_LEN)?;
        Digest::from_text(entry.strip_prefix(b"\"")?.strip_suffix(b"\"")?)?;
        if previous.is_some_and(|previous| previous >= entry) {
            return None;
        }
        previous = Some(entry);
        match tail {
            [b',', tail @ ..] => rest = tail,
            [b']', tail @ ..] => return Some((input.get(..input.len() - tail.len() - 1)?, tail)),
            _ => return None,
        }
    }
    None
}

/// Whether a canonical spelling is that of a record type: 1 to 128 units and no lone surrogate.
fn is_type(spelling: &[u8]) -> bool {
    let short_ascii = spelling.len() <= MAX_TYPE_UNITS && spelling.iter().all(|byte| byte.is_ascii() && *byte != b'\\');
    if short_ascii {
        return !spelling.is_empty();
    }
    let units = json::units(spelling).take(MAX_TYPE_UNITS + 1).count();
    (1..=MAX_TYPE_UNITS).contains(&units)
        && std::str::from_utf8(spelling).is_ok_and(|spelling| json::decode(spelling).is_some())
}

/// What is wrong with a line that was not accepted. Reads it as ECMAScript would, so that the answers agree with those
/// of the reference runtime.
fn explain(line: &[u8]) -> LineFault {
    let parsed = match json::parse_as_ecmascript(line) {
        Ok(parsed) => parsed,
        Err(json::JsonFault::TooDeep) => return LineFault::Shape,
        Err(_) => return LineFault::InvalidJson,
    };
    let finite = parsed.is_finite();
    let Value::Object(mut members) = parsed else { return LineFault::Shape };
    let version = members.iter().find(|(key, _)| key.spelling() == "version").map(|(_, value)| value);
    if version.is_some_and(|version| *version != Value::Number(1.0)) {
        return LineFault::UnsupportedVersion;
    }
    if !finite {
        return LineFault::Shape;
    }
    let Some(claimed) = claimed_sha(&members) else { return LineFault::Shape };
    members.retain(|(key, _)| key.spelling() != "sha");
    if Digest::of(Value::Object(members).to_canonical().as_bytes()) == claimed {
        LineFault::NotCanonical
    } else {
        LineFault::InvalidSha
    }
}

/// The digest that a tree of the right shape claims.
fn claimed_sha(members: &[(json::Text, Value)]) -> Option<Digest> {
    let [
        (id_key, id),
        (parents_key, parents),
        (payload_key, _),
        (sha_key, sha),
        (time_key, time),
        (type_key, kind),
        (version_key, _),
    ] = members
    else {
        return None;
    };
    let keys = [id_key, parents_key, payload_key, sha_key, time_key, type_key, version_key].map(json::Text::spelling);
    if keys != ["id", "parents", "payload", "sha", "timestamp", "type", "version"] {
        return None;
    }
    let (Value::String(id), Value::Array(parents), Value::String(sha), Value::String(time), Value::String(kind)) =
        (id, parents, sha, time, kind)
    else {
        return None;
    };
    RecordId::from_text(id.spelling().as_bytes())?;
    let parents = parents
        .iter()
        .map(|parent| match parent {
            Value::String(text) => Digest::from_text(text.spelling().as_bytes()),
            _ => None,
        })
        .collect::<Option<Vec<_>>>()?;
    let well_formed = parents.len() <= MAX_PARENTS
        && parents.is_sorted_by(|left, right| left < right)
        && timestamp::is_canonical(time.spelling().as_bytes())
        && is_type(kind.spelling().as_bytes());
    if well_formed { Digest::from_text(sha.spelling().as_bytes()) } else { None }
}
