//! What a store cannot do.

use rustix::io::Errno;

/// A folder or file could not be used. `Display` never shows a path; [`StoreError::errno`] is for trusted logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A directory, or one above it, is a symbolic link or not a directory.
    #[error("the ledger folder is not a plain directory")]
    NotAFolder,
    /// Something else than a regular file stands where a shard should be.
    #[error("a shard is not a regular file")]
    NotRegular,
    /// A shard is larger than any shard may be.
    #[error("a shard is larger than the read bound")]
    Oversized,
    /// There is no such file or folder.
    #[error("not found")]
    NotFound,
    /// The folder's permissions refuse the operation, or the file system is read-only.
    #[error("the ledger folder cannot be written")]
    Denied,
    /// The disk, or a quota, is full.
    #[error("no space is left")]
    NoSpace,
    /// The folder holds more names than are looked at, so that what is not seen may be there all the same.
    #[error("the ledger folder holds more names than are looked at")]
    Crowded,
    /// Another writer holds the folder, and went on holding it.
    #[error("the ledger folder is in use")]
    Busy,
    /// A shard with this name exists with other bytes.
    #[error("another shard has this name")]
    Collision,
    /// The folder for a candidate tree has something in it.
    #[error("the folder is not empty")]
    NotEmpty,
    /// Two paths of a candidate tree cannot both be files.
    #[error("two paths cannot both be files")]
    Conflict,
    /// A file changed under a writer that owns it.
    #[error("the writer's shard was changed by someone else")]
    Changed,
    /// Anything else the system answered.
    #[error("the system refused a file operation")]
    Io(Errno),
}

impl StoreError {
    /// The code by which replies and reports name the error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAFolder => "not-a-folder",
            Self::NotRegular => "not-regular",
            Self::Oversized => "oversized",
            Self::NotFound => "not-found",
            Self::Denied => "store-denied",
            Self::NoSpace => "no-space",
            Self::Crowded => "store-crowded",
            Self::Busy => "store-busy",
            Self::Collision => "shard-collision",
            Self::NotEmpty => "folder-not-empty",
            Self::Conflict => "path-conflict",
            Self::Changed => "shard-changed",
            Self::Io(_) => "store-io",
        }
    }

    /// What the system said, for the log of a trusted job.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Io(errno) => Some(*errno),
            _ => None,
        }
    }
}

impl From<Errno> for StoreError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::XDEV => Self::NotAFolder,
            Errno::NOENT => Self::NotFound,
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::Denied,
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::NoSpace,
            Errno::ISDIR | Errno::NXIO | Errno::NODEV => Self::NotRegular,
            other => Self::Io(other),
        }
    }
}
