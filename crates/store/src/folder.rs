//! The folder of a memory, and the way down to its shards.

use std::path::Path;
use std::time::{Duration, Instant};

use daybook_core::state::MAX_STATE_BYTES;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fsync, mkdirat, open};
use rustix::io::{Errno, retry_on_intr};

use crate::open;
use crate::shards::read_range;
use crate::{ShardFolder, StoreError};

const SHARDS: [&str; 2] = ["ledger", "shards"];
const STATE_FOLDER: [&str; 2] = ["ledger", "compaction"];
const STATE_FILE: &str = "state.json";
const DIRECTORY_MODE: Mode = Mode::RWXU;

/// How long a writer waits for another one to leave the folder.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);
const LOCK_PAUSE: Duration = Duration::from_micros(200);

/// The folder of one memory, held open.
#[derive(Debug)]
pub struct MemoryFolder {
    directory: OwnedFd,
}

impl MemoryFolder {
    /// Opens a memory folder that a person or a trusted step named; the path itself is theirs to choose.
    ///
    /// # Errors
    /// Where it is not a directory that can be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { directory: retry_on_intr(|| open(path, flags, Mode::empty()))? })
    }

    /// Opens the folder of memory `id` below `root`, without following a link from `root` on.
    ///
    /// # Errors
    /// As [`MemoryFolder::open`]; [`StoreError::NotAFolder`] where a symbolic link stands in its place.
    pub fn open_in(root: &Path, id: &str) -> Result<Self, StoreError> {
        let root = Self::open(root)?;
        Ok(Self { directory: open::directory(root.directory.as_fd(), &[id])? })
    }

    /// The folder of shards; `None` where the ledger has none yet.
    ///
    /// # Errors
    /// Where the way down is not made of plain directories, or cannot be read.
    pub fn shards(&self) -> Result<Option<ShardFolder>, StoreError> {
        match open::directory(self.directory.as_fd(), &SHARDS) {
            Ok(directory) => Ok(Some(ShardFolder::new(directory))),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The bytes of the compaction state (FORMATS §6); `None` where there is none.
    ///
    /// # Errors
    /// Where something else than a readable regular file of at most [`MAX_STATE_BYTES`] is in its place.
    pub fn compaction_state(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let found = open::directory(self.directory.as_fd(), &STATE_FOLDER)
            .and_then(|folder| open::regular(folder.as_fd(), STATE_FILE));
        let (file, stat) = match found {
            Err(StoreError::NotFound) => return Ok(None),
            found => found?,
        };
        let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
        if size > MAX_STATE_BYTES {
            return Err(StoreError::Oversized);
        }
        let mut bytes = Vec::new();
        read_range(&file, 0..size, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// The folder of shards, made where it is missing. Each directory made is on disk, in its parent, on return (§2).
    ///
    /// # Errors
    /// As [`MemoryFolder::shards`], or where a directory cannot be made or synchronised.
    // DB-2-11
    pub fn shards_or_create(&self) -> Result<ShardFolder, StoreError> {
        let mut current: Option<OwnedFd> = None;
        for name in SHARDS {
            let parent: BorrowedFd<'_> = current.as_ref().map_or(self.directory.as_fd(), AsFd::as_fd);
            match retry_on_intr(|| mkdirat(parent, name, DIRECTORY_MODE)) {
                // Who made it may not have synchronised it yet.
                Ok(()) | Err(Errno::EXIST) => retry_on_intr(|| fsync(parent))?,
                Err(errno) => return Err(errno.into()),
            }
            let next = open::directory(parent, &[name])?;
            current = Some(next);
        }
        current.map(ShardFolder::new).ok_or(StoreError::NotFound)
    }
}

/// The right to write into a folder: held by one process at a time, given back on drop or when the process dies.
#[derive(Debug)]
pub struct FolderLock<'a> {
    directory: BorrowedFd<'a>,
}

impl<'a> FolderLock<'a> {
    pub(crate) fn take(directory: BorrowedFd<'a>) -> Result<Self, StoreError> {
        let give_up = Instant::now() + LOCK_PATIENCE;
        loop {
            match flock(directory, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { directory }),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if Instant::now() < give_up => std::thread::sleep(LOCK_PAUSE),
                Err(Errno::WOULDBLOCK) => return Err(StoreError::Busy),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Drop for FolderLock<'_> {
    fn drop(&mut self) {
        // The kernel gives the lock back when the descriptor closes, should this fail.
        let _ = flock(self.directory, FlockOperation::Unlock);
    }
}
