//! Reading and replacing files in folders that an agent can write to.

use std::fs::{File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// What was read.
pub(crate) struct Content {
    /// The leading bytes, at most the bound.
    pub(crate) bytes: Vec<u8>,
    /// Whether the file has more.
    pub(crate) more: bool,
    /// The permission bits.
    pub(crate) mode: u32,
}

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    NotRegular,
    Unreadable,
}

impl Fault {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::NotRegular => "not a regular file",
            Self::Unreadable => "not readable",
        }
    }

    /// The code of the diagnostic about the file called `subject`.
    pub(crate) fn code(self, subject: &str) -> &'static str {
        match (subject, self) {
            ("log", Self::Missing) => "log-missing",
            ("log", Self::NotRegular) => "log-not-regular",
            ("log", Self::Unreadable) => "log-unreadable",
            (_, Self::Missing) => "safe-outputs-missing",
            (_, Self::NotRegular) => "safe-outputs-not-regular",
            (_, Self::Unreadable) => "safe-outputs-unreadable",
        }
    }
}

/// Reads a regular file, following no link and waiting for nobody, up to `bound` bytes.
pub(crate) fn read(path: &Path, bound: u64) -> Result<Content, Fault> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT => Fault::Missing,
        Errno::LOOP | Errno::NXIO | Errno::NODEV => Fault::NotRegular,
        _ => Fault::Unreadable,
    })?);
    let metadata = file.metadata().map_err(|_| Fault::Unreadable)?;
    if !metadata.is_file() {
        return Err(Fault::NotRegular);
    }
    let mut bytes = Vec::new();
    file.take(bound.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| Fault::Unreadable)?;
    let more = bytes.len() as u64 > bound;
    if more {
        bytes.pop();
    }
    Ok(Content { bytes, more, mode: metadata.mode() & 0o777 })
}

/// Replaces what `path` names by a new file, as a whole or not at all. A link at that name is replaced, not followed.
pub(crate) fn replace<T>(
    path: &Path,
    mode: Option<u32>,
    write: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".daybook-").tempfile_in(folder)?;
    let result = write(file.as_file_mut())?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()?;
    Ok(result)
}
