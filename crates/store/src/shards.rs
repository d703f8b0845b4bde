//! The shards of a folder: list and read.

use std::ops::Range;

use daybook_core::ShardId;
use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::shard::Location;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, Stat, statat};
use rustix::io::{Errno, pread, retry_on_intr};

use crate::folder::FolderLock;
use crate::{StoreError, open};

/// Most directory entries that are looked at: names that are no shards must not make a reader work without end.
const MAX_ENTRIES: usize = 65_536;

/// The folder `ledger/shards` of a memory, held open.
#[derive(Debug)]
pub struct ShardFolder {
    directory: OwnedFd,
}

/// The names in a shard folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The shards, in byte order of their names.
    pub shards: Vec<ShardId>,
    /// How many names end in `.jsonl` and are no shard names.
    pub bad_names: u64,
    /// Names ending in `.pending`: shards that were being written, now or before a crash.
    pub pending: Vec<String>,
    /// More entries than are looked at.
    pub truncated: bool,
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileState {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileState {
    pub(crate) fn of(stat: &Stat) -> Self {
        #[expect(clippy::useless_conversion, reason = "field types differ between platforms")]
        Self {
            inode: u64::from(stat.st_ino),
            size: u64::try_from(stat.st_size).unwrap_or(u64::MAX),
            modified: (i64::from(stat.st_mtime), i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            changed: (i64::from(stat.st_ctime), i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        }
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }
}

impl ShardFolder {
    pub(crate) const fn new(directory: OwnedFd) -> Self {
        Self { directory }
    }

    pub(crate) const fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    /// Waits for the right to write into the folder.
    ///
    /// # Errors
    /// [`StoreError::Busy`] where another writer keeps it.
    pub fn lock(&self) -> Result<FolderLock<'_>, StoreError> {
        FolderLock::take(self.directory.as_fd())
    }

    /// Lists the folder.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let mut listing = Listing::default();
        let mut directory = Dir::read_from(&self.directory)?;
        for seen in 0.. {
            let Some(entry) = directory.read() else { break };
            if seen >= MAX_ENTRIES {
                listing.truncated = true;
                break;
            }
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name.ends_with(b".jsonl") {
                match std::str::from_utf8(name).ok().and_then(ShardId::from_file_name) {
                    Some(shard) => listing.shards.push(shard),
                    None => listing.bad_names += 1,
                }
            } else if name.ends_with(b".pending") {
                listing.pending.extend(std::str::from_utf8(name).ok().map(str::to_owned));
            }
        }
        listing.shards.sort_unstable();
        Ok(listing)
    }

    /// Reads a whole shard into `buffer`, which it replaces.
    ///
    /// # Errors
    /// [`StoreError::NotRegular`], [`StoreError::Oversized`], or what the system answered.
    pub fn read_into(&self, shard: ShardId, buffer: &mut Vec<u8>) -> Result<(), StoreError> {
        self.read_with_state(shard, buffer).map(|_| ())
    }

    pub(crate) fn read_with_state(&self, shard: ShardId, buffer: &mut Vec<u8>) -> Result<FileState, StoreError> {
        let (file, stat) = open::regular(self.directory.as_fd(), &shard.file_name())?;
        let state = FileState::of(&stat);
        if state.size > READ_SHARD_BYTES.get() {
            return Err(StoreError::Oversized);
        }
        // The size is what the file had when it was opened; what a writer adds meanwhile is read next time.
        read_range(&file, 0..usize::try_from(state.size).map_err(|_| StoreError::Oversized)?, buffer)?;
        Ok(state)
    }

    /// Reads a whole shard.
    ///
    /// # Errors
    /// As [`ShardFolder::read_into`].
    pub fn read(&self, shard: ShardId) -> Result<Vec<u8>, StoreError> {
        let mut buffer = Vec::new();
        self.read_into(shard, &mut buffer)?;
        Ok(buffer)
    }

    /// Reads the line at a location. The caller checks it again: the file may have changed since it was scanned.
    ///
    /// # Errors
    /// As [`ShardFolder::read_into`].
    pub fn read_line(&self, location: Location) -> Result<Vec<u8>, StoreError> {
        let (file, _) = open::regular(self.directory.as_fd(), &location.shard.file_name())?;
        let start = usize::try_from(location.offset).map_err(|_| StoreError::Oversized)?;
        let length = usize::try_from(location.length).map_err(|_| StoreError::Oversized)?;
        let mut buffer = Vec::new();
        read_range(&file, start..start + length, &mut buffer)?;
        Ok(buffer)
    }

    pub(crate) fn state(&self, shard: ShardId) -> Result<FileState, StoreError> {
        let stat = retry_on_intr(|| statat(&self.directory, shard.file_name(), AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(FileState::of(&stat))
    }
}

/// Reads a range of a file into `buffer`, less where the file ends before.
pub(crate) fn read_range(file: &OwnedFd, range: Range<usize>, buffer: &mut Vec<u8>) -> Result<(), Errno> {
    buffer.clear();
    buffer.resize(range.len(), 0);
    let mut filled = 0;
    while let Some(rest @ [_, ..]) = buffer.get_mut(filled..) {
        match retry_on_intr(|| pread(file, &mut *rest, u64::try_from(range.start + filled).unwrap_or(u64::MAX)))? {
            0 => break,
            read => filled += read,
        }
    }
    buffer.truncate(filled);
    Ok(())
}
