//! What the memories held before the agent started (DESIGN §3): the measure of what a run has changed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::json;
use crate::name::is_name;
use crate::path::MemoryPath;

/// Largest baseline that is read, in bytes.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The state of every memory of a run at restore.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Baseline {
    memories: Vec<MemoryBaseline>,
}

/// The state of one memory at restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBaseline {
    /// The memory's id.
    pub id: String,
    /// The branch it was restored from.
    pub branch: String,
    /// The commit it was restored from; empty where the branch did not exist.
    pub base: String,
    /// Every restored file.
    pub files: BTreeMap<MemoryPath, FileBaseline>,
    /// Every record of the restored ledger.
    pub records: BTreeSet<Digest>,
}

/// The state of one file at restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileBaseline {
    /// Digest of its bytes.
    pub sha256: Digest,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A text is not a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a baseline of version 1")]
pub struct BaselineFault;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    memories: Vec<WireMemory>,
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireMemory {
    base: String,
    branch: String,
    files: Vec<WireFile>,
    id: String,
    records: Vec<Digest>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFile {
    bytes: u64,
    path: String,
    sha256: Digest,
}

impl Baseline {
    /// A baseline of these memories.
    #[must_use]
    pub const fn new(memories: Vec<MemoryBaseline>) -> Self {
        Self { memories }
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// [`BaselineFault`] where the text is anything else, repeats a memory or a file, or names a path that no memory
    /// file may have.
    pub fn parse(text: &[u8]) -> Result<Self, BaselineFault> {
        if text.len() > MAX_BYTES {
            return Err(BaselineFault);
        }
        let wire: Wire = serde_json::from_slice(text).map_err(|_| BaselineFault)?;
        if wire.version != 1 {
            return Err(BaselineFault);
        }
        let memories = wire.memories.into_iter().map(memory_from_wire).collect::<Result<Vec<_>, _>>()?;
        let ids: BTreeSet<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
        if ids.len() == memories.len() { Ok(Self { memories }) } else { Err(BaselineFault) }
    }

    /// The canonical text.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let wire = Wire { version: 1, memories: self.memories.iter().map(memory_to_wire).collect() };
        let text = serde_json::to_vec(&wire).unwrap_or_default();
        // Members are declared in canonical order; numbers and digests need no respelling, texts may.
        json::canonical(&text).unwrap_or_default().into_bytes()
    }

    /// The memories, in the order of the configuration.
    #[must_use]
    pub fn memories(&self) -> &[MemoryBaseline] {
        &self.memories
    }

    /// The state of one memory.
    #[must_use]
    pub fn memory(&self, id: &str) -> Option<&MemoryBaseline> {
        self.memories.iter().find(|memory| memory.id == id)
    }
}

fn memory_from_wire(wire: WireMemory) -> Result<MemoryBaseline, BaselineFault> {
    let is_oid = matches!(wire.base.len(), 0 | 40 | 64)
        && wire.base.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_name(&wire.id) || !is_oid {
        return Err(BaselineFault);
    }
    let mut files = BTreeMap::new();
    for file in wire.files {
        let path = MemoryPath::parse(&file.path).map_err(|_| BaselineFault)?;
        if files.insert(path, FileBaseline { sha256: file.sha256, bytes: file.bytes }).is_some() {
            return Err(BaselineFault);
        }
    }
    let records = wire.records.into_iter().collect();
    Ok(MemoryBaseline { id: wire.id, branch: wire.branch, base: wire.base, files, records })
}

fn memory_to_wire(memory: &MemoryBaseline) -> WireMemory {
    let file = |(path, file): (&MemoryPath, &FileBaseline)| WireFile {
        bytes: file.bytes,
        path: path.to_string(),
        sha256: file.sha256,
    };
    WireMemory {
        base: memory.base.clone(),
        branch: memory.branch.clone(),
        files: memory.files.iter().map(file).collect(),
        id: memory.id.clone(),
        records: memory.records.iter().copied().collect(),
    }
}
