//! Paths of memory files, checked by one rule wherever they come from: restored, packed, or read back from a tar.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::ids::ShardId;

/// Longest path in bytes.
pub const MAX_PATH_BYTES: usize = 1024;
/// Longest component in bytes, the bound of common file systems.
pub const MAX_COMPONENT_BYTES: usize = 255;
/// Most components.
pub const MAX_COMPONENTS: usize = 32;

/// The folder of the ledger inside a memory, with its slash.
const LEDGER: &str = "ledger/";

/// A relative path of a memory file that is safe to join to a folder and to put into a git tree (§9).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryPath(Box<str>);

/// The parts of a ledger's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerPart {
    /// A shard.
    Shard(ShardId),
    /// A coverage declaration, which only the process that made it may act on.
    Coverage,
    /// The state of compaction, which only maintenance writes.
    State,
    /// Nothing that a ledger has.
    Other,
}

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum PathFault {
    /// Not UTF-8.
    #[error("the name is not UTF-8")]
    NotUtf8,
    /// Empty, too long, or too many components.
    #[error("the name is empty, too long, or too deep")]
    Length,
    /// Absolute, or with an empty, `.` or `..` component.
    #[error("the name leaves its folder")]
    Traversal,
    /// A control character or a backslash.
    #[error("the name holds a control character or a backslash")]
    Character,
    /// A name that git or a forge gives a meaning to.
    #[error("the name is reserved by git")]
    Reserved,
}

impl PathFault {
    /// The code by which reports name the fault.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotUtf8 => "path-not-utf8",
            Self::Length => "path-too-long",
            Self::Traversal => "path-traversal",
            Self::Character => "path-character",
            Self::Reserved => "path-reserved",
        }
    }
}

impl MemoryPath {
    /// Checks a path.
    ///
    /// # Errors
    /// Why it is refused.
    ///
    /// ```
    /// use daybook_core::path::{MemoryPath, PathFault};
    /// assert!(MemoryPath::parse("notes/2026-07-01T10:00:00Z.json").is_ok());
    /// assert_eq!(MemoryPath::parse("notes/../../etc/passwd"), Err(PathFault::Traversal));
    /// assert_eq!(MemoryPath::parse(".GIT/config"), Err(PathFault::Reserved));
    /// ```
    // DB-8-01
    pub fn parse(path: &str) -> Result<Self, PathFault> {
        if path.is_empty() || path.len() > MAX_PATH_BYTES || path.split('/').count() > MAX_COMPONENTS {
            return Err(PathFault::Length);
        }
        if path.chars().any(|character| character.is_control() || character == '\\') {
            return Err(PathFault::Character);
        }
        for component in path.split('/') {
            if matches!(component, "" | "." | "..") {
                return Err(PathFault::Traversal);
            }
            if component.len() > MAX_COMPONENT_BYTES {
                return Err(PathFault::Length);
            }
            if is_reserved(component) {
                return Err(PathFault::Reserved);
            }
        }
        Ok(Self(path.into()))
    }

    /// Checks a path given as bytes.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn parse_bytes(path: &[u8]) -> Result<Self, PathFault> {
        Self::parse(std::str::from_utf8(path).map_err(|_| PathFault::NotUtf8)?)
    }

    /// The path of a shard in a memory.
    #[must_use]
    pub fn of_shard(shard: ShardId) -> Self {
        Self(shard.path().into())
    }

    /// The path, its components separated by `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the path lies in the ledger's folder, under any spelling a file system may fold into it.
    #[must_use]
    pub fn is_ledger(&self) -> bool {
        let first = self.0.split('/').next().unwrap_or_default();
        first.eq_ignore_ascii_case(LEDGER.trim_end_matches('/'))
    }

    /// What the path is to a ledger; `None` outside its folder (§5.4, §9).
    // DB-9-02, DB-9-07
    #[must_use]
    pub fn ledger_part(&self) -> Option<LedgerPart> {
        if !self.is_ledger() {
            return None;
        }
        let folded = self.0.to_ascii_lowercase();
        Some(match self.shard() {
            Some(shard) => LedgerPart::Shard(shard),
            None if folded.starts_with("ledger/coverage/") => LedgerPart::Coverage,
            None if folded.starts_with("ledger/compaction/") => LedgerPart::State,
            None => LedgerPart::Other,
        })
    }

    /// The shard that the path names.
    #[must_use]
    pub fn shard(&self) -> Option<ShardId> {
        ShardId::from_path(&self.0)
    }
}

/// Names by which git, a forge or a file system would find git's own files: `.git*` in any case, with the trailing dots
/// and spaces that Windows drops, with the characters that HFS+ ignores, and as a short name.
// DB-B-09
fn is_reserved(component: &str) -> bool {
    let visible: String = component.chars().filter(|character| !is_ignorable(*character)).collect();
    let folded = visible.to_ascii_lowercase();
    let trimmed = folded.trim_end_matches(['.', ' ']);
    folded.starts_with(".git") || trimmed.starts_with("git~") || trimmed.is_empty()
}

/// Characters that HFS+ drops when it compares names.
const fn is_ignorable(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for MemoryPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // DB-8-01, DB-9-07, DB-B-09
    #[test]
    fn refuses_what_leaves_the_folder_or_means_something_to_git() {
        let cases: &[(&str, PathFault)] = &[
            ("", PathFault::Length),
            ("/etc/passwd", PathFault::Traversal),
            ("a//b", PathFault::Traversal),
            ("a/./b", PathFault::Traversal),
            ("a/..", PathFault::Traversal),
            ("a/", PathFault::Traversal),
            ("a\\b", PathFault::Character),
            ("a\nb", PathFault::Character),
            (".git/config", PathFault::Reserved),
            ("a/.GitModules", PathFault::Reserved),
            (".github/workflows/x.yml", PathFault::Reserved),
            ("GIT~1/config", PathFault::Reserved),
            (".g\u{200c}it/config", PathFault::Reserved),
            ("...", PathFault::Reserved),
        ];
        for (path, fault) in cases {
            assert_eq!(MemoryPath::parse(path), Err(*fault), "{path:?}");
        }
        assert_eq!(MemoryPath::parse(&"a/".repeat(40)), Err(PathFault::Length));
        assert_eq!(MemoryPath::parse(&"a".repeat(256)), Err(PathFault::Length));
        assert_eq!(MemoryPath::parse_bytes(b"\xff"), Err(PathFault::NotUtf8));
    }

    #[test]
    fn knows_the_ledger_and_its_shards() {
        let shard = MemoryPath::parse("ledger/shards/7f5a2681-9f2d-48be-80a3-0e78d2c7cf52.jsonl").unwrap();
        assert!(shard.is_ledger() && shard.shard().map(MemoryPath::of_shard).as_ref() == Some(&shard));
        assert!(MemoryPath::parse("LEDGER/compaction/state.json").unwrap().is_ledger());
        for (path, part) in [
            ("ledger/coverage/x.jsonl", Some(LedgerPart::Coverage)),
            ("Ledger/Compaction/state.json", Some(LedgerPart::State)),
            ("ledger/shards/x.jsonl", Some(LedgerPart::Other)),
            ("notes/ledger/coverage/x.jsonl", None),
        ] {
            assert_eq!(MemoryPath::parse(path).unwrap().ledger_part(), part, "{path}");
        }
        let note = MemoryPath::parse("ledgers/shards/7f5a2681-9f2d-48be-80a3-0e78d2c7cf52.jsonl").unwrap();
        assert!(!note.is_ledger() && note.shard().is_none());
    }
}
