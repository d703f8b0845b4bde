//! Record and shard identities: UUID version 4 (§2), in lower case.

use std::fmt;

use serde::{Serialize, Serializer};
use uuid::{Uuid, Variant};

use crate::digest::Digest;

const TAG: &str = "ldg-";
const SHARD_FOLDER: &str = "ledger/shards/";
const SHARD_SUFFIX: &str = ".jsonl";

/// Reads a hyphenated lower-case UUID of version 4 and the RFC variant.
fn uuid_v4(text: &[u8]) -> Option<Uuid> {
    // The parser also takes braces, URNs and upper case; only the canonical spelling is an identity.
    if text.len() != 36 || text.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let uuid = Uuid::try_parse_ascii(text).ok()?;
    (uuid.get_version_num() == 4 && uuid.get_variant() == Variant::RFC4122).then_some(uuid)
}

/// Identity of a record (FORMATS §2): written as `ldg-<uuid>`, read with or without the tag.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    uuid: Uuid,
    tagged: bool,
}

impl RecordId {
    /// The id as a writer spells it; `None` where `uuid` is not of version 4.
    #[must_use]
    pub fn new(uuid: Uuid) -> Option<Self> {
        uuid_v4(uuid.hyphenated().to_string().as_bytes()).map(|uuid| Self { uuid, tagged: true })
    }

    /// Reads either spelling.
    // DB-2-04
    #[must_use]
    pub fn from_text(text: &[u8]) -> Option<Self> {
        match text.strip_prefix(TAG.as_bytes()) {
            Some(rest) => uuid_v4(rest).map(|uuid| Self { uuid, tagged: true }),
            None => uuid_v4(text).map(|uuid| Self { uuid, tagged: false }),
        }
    }

    /// The UUID; two spellings of one UUID are one identity.
    #[must_use]
    pub const fn uuid(&self) -> Uuid {
        self.uuid
    }

    /// Whether the id carries the tag that writers must give it.
    #[must_use]
    pub const fn is_tagged(&self) -> bool {
        self.tagged
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", if self.tagged { TAG } else { "" }, self.uuid.hyphenated())
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for RecordId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Identity of a shard: names its file, and nothing else names it (§9, paths derive from validated UUIDs).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(Uuid);

impl ShardId {
    /// The identity of a shard; `None` where `uuid` is not of version 4.
    #[must_use]
    pub fn new(uuid: Uuid) -> Option<Self> {
        uuid_v4(uuid.hyphenated().to_string().as_bytes()).map(Self)
    }

    /// Folds the first 16 bytes of a digest into the form of a UUID version 4 (FORMATS §6).
    #[must_use]
    pub fn from_digest(digest: &Digest) -> Self {
        let (first, _) = digest.as_bytes().split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        Self(uuid::Builder::from_random_bytes(*first).into_uuid())
    }

    /// Reads the bare UUID, as plans spell it.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        uuid_v4(text.as_bytes()).map(Self)
    }

    /// Reads a file name `<uuid>.jsonl`.
    #[must_use]
    pub fn from_file_name(name: &str) -> Option<Self> {
        Self::from_text(name.strip_suffix(SHARD_SUFFIX)?)
    }

    /// Reads a memory path `ledger/shards/<uuid>.jsonl`.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        Self::from_file_name(path.strip_prefix(SHARD_FOLDER)?)
    }

    /// The file name of the shard.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{self}{SHARD_SUFFIX}")
    }

    /// The path of the shard inside its memory, separated by `/`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{SHARD_FOLDER}{self}{SHARD_SUFFIX}")
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.hyphenated(), formatter)
    }
}

impl fmt::Debug for ShardId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for ShardId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // DB-2-04, DB-9-07
    #[test]
    fn only_lower_case_version_four_is_an_identity() {
        let good = "7f5a2681-9f2d-48be-80a3-0e78d2c7cf52";
        assert_eq!(ShardId::from_text(good).unwrap().path(), format!("ledger/shards/{good}.jsonl"));
        assert_eq!(RecordId::from_text(good.as_bytes()).unwrap().to_string(), good);
        assert_eq!(RecordId::from_text(format!("ldg-{good}").as_bytes()).unwrap().to_string(), format!("ldg-{good}"));
        for wrong in [
            good.to_uppercase(),
            good.replace("-48be", "-18be"),
            good.replace("-80a3", "-c0a3"),
            good.replace('-', ""),
            format!("{{{good}}}"),
            format!("../{good}"),
            format!("{good}\n"),
        ] {
            assert_eq!(ShardId::from_text(&wrong), None, "{wrong}");
        }
    }
}
