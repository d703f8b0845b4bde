//! The three ways to write, each with its contract:
//!
//! * *publish new*: a shard appears whole, under a name that nothing had; otherwise nothing changes.
//! * *publish identical*: as publish new, and a shard that is there already with the same bytes is success.
//! * *append*: bytes are added to a shard that this process created; otherwise its previous bytes stand.
//!
//! On success the bytes and the name are on disk. All three need the folder's lock.

use daybook_core::ShardId;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, FlockOperation, RenameFlags, flock, fstat, fsync, ftruncate, linkat, renameat_with, unlinkat,
};
use rustix::io::{Errno, pwrite, retry_on_intr};

use crate::folder::FolderLock;
use crate::shards::FileState;
use crate::{ShardFolder, StoreError, open};

/// What publishing an identical shard did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The shard is new.
    New,
    /// It was there, byte for byte.
    AlreadyThere,
}

/// A shard that this process created and may append to.
#[derive(Debug)]
pub(crate) struct OwnShard {
    id: ShardId,
    file: OwnedFd,
    state: FileState,
}

impl OwnShard {
    pub(crate) const fn id(&self) -> ShardId {
        self.id
    }

    pub(crate) const fn length(&self) -> u64 {
        self.state.size()
    }

    pub(crate) const fn state(&self) -> FileState {
        self.state
    }
}

impl ShardFolder {
    /// Publishes a shard under a name that must be free.
    ///
    /// # Errors
    /// [`StoreError::Collision`] where the name is taken, or what the system answered; nothing is left behind.
    pub fn publish_new(&self, lock: &FolderLock<'_>, shard: ShardId, bytes: &[u8]) -> Result<(), StoreError> {
        self.publish(lock, shard, bytes).map(|_| ())
    }

    /// Publishes a shard whose name follows from its bytes.
    ///
    /// # Errors
    /// [`StoreError::Collision`] where the name is taken by other bytes, or what the system answered.
    pub fn publish_identical(
        &self,
        lock: &FolderLock<'_>,
        shard: ShardId,
        bytes: &[u8],
    ) -> Result<Published, StoreError> {
        match self.publish(lock, shard, bytes) {
            Ok(_) => Ok(Published::New),
            Err(StoreError::Collision) if self.read(shard)? == bytes => {
                // Whoever wrote it may not have synchronised the directory.
                retry_on_intr(|| fsync(self.directory()))?;
                Ok(Published::AlreadyThere)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes `<id>.pending`, synchronises it, gives it its name without replacing anything, synchronises the folder.
    pub(crate) fn publish(&self, _lock: &FolderLock<'_>, id: ShardId, bytes: &[u8]) -> Result<OwnShard, StoreError> {
        let pending = format!("{id}.pending");
        let file = self.create_pending(&pending)?;
        let published = self.fill_and_name(&file, &pending, &id.file_name(), bytes);
        if let Err(error) = published {
            let _ = unlinkat(self.directory(), pending.as_str(), AtFlags::empty());
            return Err(error);
        }
        if let Err(errno) = retry_on_intr(|| fsync(self.directory())) {
            // The name may not survive a crash, so the shard must not be acknowledged: take it back.
            let _ = unlinkat(self.directory(), id.file_name(), AtFlags::empty());
            return Err(errno.into());
        }
        let state = FileState::of(&fstat(&file)?);
        Ok(OwnShard { id, file, state })
    }

    fn create_pending(&self, pending: &str) -> Result<OwnedFd, StoreError> {
        let create = || open::create_exclusive(self.directory().as_fd(), pending);
        let file = match create() {
            Err(Errno::EXIST) if self.sweep_one(pending)? => create()?,
            Err(Errno::EXIST) => return Err(StoreError::Busy),
            created => created?,
        };
        // Tells a sweeper that the writer lives.
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    }

    // DB-2-10, DB-2-11
    fn fill_and_name(&self, file: &OwnedFd, pending: &str, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        write_at(file, bytes, 0)?;
        retry_on_intr(|| fsync(file))?;
        let directory = self.directory();
        match renameat_with(directory, pending, directory, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(StoreError::Collision),
            // File systems without that flag: a hard link does not replace either.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match linkat(directory, pending, directory, name, AtFlags::empty()) {
                    Err(Errno::EXIST) => return Err(StoreError::Collision),
                    linked => linked?,
                }
                Ok(unlinkat(directory, pending, AtFlags::empty())?)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes what crashed writers left behind; a file whose writer lives stays. Returns how many were removed.
    ///
    /// # Errors
    /// Where the folder cannot be read or changed.
    pub fn sweep(&self, _lock: &FolderLock<'_>) -> Result<usize, StoreError> {
        let mut swept = 0;
        for name in self.list()?.pending {
            swept += usize::from(self.sweep_one(&name)?);
        }
        Ok(swept)
    }

    fn sweep_one(&self, pending: &str) -> Result<bool, StoreError> {
        match open::regular(self.directory().as_fd(), pending) {
            Ok((file, _)) => {
                if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                    return Ok(false);
                }
            }
            Err(StoreError::NotFound) => return Ok(true),
            // A link or a pipe under such a name has no writer; removing the name does not touch what it points to.
            Err(StoreError::NotRegular) => {}
            Err(error) => return Err(error),
        }
        match unlinkat(self.directory(), pending, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            // A directory under such a name is not ours to remove.
            Err(Errno::ISDIR | Errno::PERM) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether a shard of this process still stands under its name as this process left it.
    pub(crate) fn is_untouched(&self, own: &OwnShard) -> bool {
        self.state(own.id).is_ok_and(|state| state == own.state)
    }

    /// Appends to a shard of this process. After an error the shard has its previous bytes, as far as the system
    /// allows, and must not be appended to again.
    ///
    /// # Errors
    /// [`StoreError::Changed`] where somebody else changed or replaced the file, or what the system answered.
    // DB-2-11
    pub(crate) fn append(&self, _lock: &FolderLock<'_>, own: &mut OwnShard, bytes: &[u8]) -> Result<(), StoreError> {
        if !self.is_untouched(own) {
            return Err(StoreError::Changed);
        }
        let length = own.length();
        let written = write_at(&own.file, bytes, length).and_then(|()| retry_on_intr(|| fsync(&own.file)));
        if let Err(errno) = written {
            let _ = ftruncate(&own.file, length);
            let _ = fsync(&own.file);
            return Err(errno.into());
        }
        own.state = FileState::of(&fstat(&own.file)?);
        Ok(())
    }
}

pub(crate) fn write_at(file: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match retry_on_intr(|| pwrite(file, bytes, offset))? {
            0 => return Err(Errno::IO),
            written => {
                bytes = bytes.get(written..).unwrap_or_default();
                offset += u64::try_from(written).map_err(|_| Errno::FBIG)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use daybook_core::{Digest, ShardId};
    use daybook_testkit::said;

    use crate::{MemoryFolder, StoreError};

    #[test]
    fn a_shard_that_somebody_else_wrote_to_is_not_appended_to() {
        let memory = tempfile::tempdir().unwrap();
        let folder = MemoryFolder::open(memory.path()).unwrap().shards_or_create().unwrap();
        let lock = folder.lock().unwrap();
        let id = ShardId::from_digest(&Digest::of(b"x"));
        let path = memory.path().join(id.path());
        let changes: [&dyn Fn(); 3] =
            [&|| std::fs::write(&path, b"one\nforeign\n").unwrap(), &|| std::fs::remove_file(&path).unwrap(), &|| {
                std::fs::write(path.with_extension("other"), b"one\n").unwrap();
                std::fs::rename(path.with_extension("other"), &path).unwrap();
            }];
        for change in changes {
            let mut own = folder.publish(&lock, id, b"one\n").unwrap();
            change();
            let left = std::fs::read(&path).ok();
            let refused = folder.append(&lock, &mut own, b"two\n").unwrap_err();
            assert_eq!(said::code(&refused, StoreError::code), "shard-changed");
            assert_eq!(std::fs::read(&path).ok(), left);
            let _ = std::fs::remove_file(&path);
        }
        let mut own = folder.publish(&lock, id, b"one\n").unwrap();
        folder.append(&lock, &mut own, b"two\n").unwrap();
        assert_eq!(folder.read(id).unwrap(), b"one\ntwo\n");
    }
}
