//! The candidate tree: what is in it, and whether it is still what it was.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use daybook_core::{Digest, Hasher, MemoryPath};
use serde::Serialize;

use crate::Fault;

/// Most files of a tree.
const MAX_FILES: usize = 20_000;
const CHUNK: usize = 256 * 1024;

/// A file, as the script is told of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct TreeFile {
    path: MemoryPath,
    bytes: u64,
}

/// A tree at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Its files, ascending.
    pub(crate) files: Vec<TreeFile>,
    /// Over every path, mode and byte.
    digest: Digest,
}

impl Tree {
    /// Reads a whole tree. Links, pipes, and names that no memory may have are a fault: nobody who made a candidate tree
    /// puts them there.
    pub(crate) fn read(root: &Path) -> Result<Self, Fault> {
        let mut files = Vec::new();
        list(root, "", &mut files)?;
        files.sort();
        let mut hasher = Hasher::new();
        let mut chunk = vec![0; CHUNK];
        for file in &files {
            let read = hash(root, file, &mut hasher, &mut chunk).map_err(|_| Fault::TreeUnusable)?;
            if read != file.bytes {
                return Err(Fault::TreeUnusable);
            }
        }
        Ok(Self { files, digest: hasher.finish() })
    }
}

fn list(root: &Path, prefix: &str, files: &mut Vec<TreeFile>) -> Result<(), Fault> {
    let unusable = |_| Fault::TreeUnusable;
    for entry in fs::read_dir(root.join(prefix)).map_err(unusable)? {
        let entry = entry.map_err(unusable)?;
        let name = entry.file_name().into_string().map_err(|_| Fault::TreeUnusable)?;
        let path = MemoryPath::parse(&format!("{prefix}{name}")).map_err(|_| Fault::TreeUnusable)?;
        // Of the name itself, not of what a link leads to.
        let kind = entry.file_type().map_err(unusable)?;
        if kind.is_dir() {
            list(root, &format!("{path}/"), files)?;
        } else if kind.is_file() && files.len() < MAX_FILES {
            let bytes = entry.metadata().map_err(unusable)?.len();
            files.push(TreeFile { path, bytes });
        } else {
            return Err(Fault::TreeUnusable);
        }
    }
    Ok(())
}

fn hash(root: &Path, file: &TreeFile, hasher: &mut Hasher, chunk: &mut [u8]) -> io::Result<u64> {
    let mut content = File::open(root.join(file.path.as_str()))?;
    let mode = mode(&content.metadata()?);
    hasher.update(format!("{} {mode:o} {}\n", file.path, file.bytes).as_bytes());
    let mut total = 0;
    loop {
        match content.read(chunk)? {
            0 => return Ok(total),
            read => {
                hasher.update(chunk.get(..read).unwrap_or_default());
                total += read as u64;
            }
        }
    }
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode()
}

#[cfg(not(unix))]
fn mode(metadata: &fs::Metadata) -> u32 {
    u32::from(metadata.permissions().readonly())
}
