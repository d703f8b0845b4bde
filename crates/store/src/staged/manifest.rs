//! The last entry of a staged memory.

use daybook_core::json::canonical;

/// Largest manifest that is read, in bytes: [`MAX_REFUSED`](super::MAX_REFUSED) paths of the longest kind, escaped.
pub(super) const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// What the writer of a tar says about it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    version: u32,
    /// The memory's id.
    pub memory: String,
    /// Whether every file is either in the tar or among the refused.
    pub complete: bool,
    /// How many files the tar holds.
    pub entries: u64,
    /// How many bytes they have together.
    pub bytes: u64,
    /// What was not taken along.
    pub refused: Vec<Refused>,
}

/// A file or folder that was not taken along. The path is what the file system said, and no more than a text.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// Its path inside the memory.
    pub path: String,
    /// Why, as a code.
    pub reason: String,
}

impl Manifest {
    pub(super) fn new(memory: &str, complete: bool, entries: u64, bytes: u64, refused: Vec<Refused>) -> Self {
        Self { version: 1, memory: memory.to_owned(), complete, entries, bytes, refused }
    }

    pub(super) fn to_bytes(&self) -> std::io::Result<Vec<u8>> {
        let text = serde_json::to_vec(self)?;
        canonical(&text).map(String::into_bytes).map_err(std::io::Error::other)
    }

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let manifest: Self = serde_json::from_slice(text).ok()?;
        (manifest.version == 1 && manifest.refused.len() <= super::MAX_REFUSED).then_some(manifest)
    }
}
