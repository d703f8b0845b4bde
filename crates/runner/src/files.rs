//! Reading files that somebody untrusted may have put there.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// Largest safe-output file that any job reads, in bytes.
pub const MAX_SAFE_OUTPUT_BYTES: u64 = 64 * 1024 * 1024;

/// What was read of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The leading bytes, at most the bound.
    pub bytes: Vec<u8>,
    /// Whether the file has more.
    pub more: bool,
    /// The permission bits.
    pub mode: u32,
}

/// Why a file was not read. No message names a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// There is none.
    Missing,
    /// A folder, a link, a pipe or another thing that is no file.
    NotRegular,
    /// It cannot be opened or read.
    Unreadable,
}

impl std::fmt::Display for FileFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Missing => "missing",
            Self::NotRegular => "not a regular file",
            Self::Unreadable => "not readable",
        })
    }
}

impl std::error::Error for FileFault {}

/// Opens a regular file for reading. A link in its last place is not followed, and a pipe is not waited for.
///
/// # Errors
///
/// [`FileFault`] for whatever is not a readable regular file.
pub fn open(path: &Path) -> Result<File, FileFault> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT => FileFault::Missing,
        Errno::LOOP | Errno::NXIO | Errno::NODEV => FileFault::NotRegular,
        _ => FileFault::Unreadable,
    })?);
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(FileFault::NotRegular),
        Err(_) => Err(FileFault::Unreadable),
    }
}

/// Reads a file as [`open`] opens it, up to `bound` bytes.
///
/// # Errors
///
/// As [`open`]; a file that is longer than the bound is no error.
pub fn read(path: &Path, bound: u64) -> Result<Content, FileFault> {
    let file = open(path)?;
    let mode = file.metadata().map_err(|_| FileFault::Unreadable)?.mode() & 0o777;
    let mut bytes = Vec::new();
    file.take(bound.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| FileFault::Unreadable)?;
    let more = bytes.len() as u64 > bound;
    if more {
        bytes.pop();
    }
    Ok(Content { bytes, more, mode })
}
