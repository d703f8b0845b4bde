//! Opening below a directory descriptor without following a symbolic link at any level.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::{Errno, retry_on_intr};

use crate::StoreError;

const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens the directory that `components` name below `base`.
// DB-2-09, DB-9-07
pub(crate) fn directory(base: BorrowedFd<'_>, components: &[&str]) -> Result<OwnedFd, StoreError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match retry_on_intr(|| openat2(base, components.join("/"), flags, Mode::empty(), resolve)) {
            // Kernels before 5.6, and sandboxes that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            answer => return Ok(answer?),
        }
    }
    let mut current: Option<OwnedFd> = None;
    for component in components {
        let parent = current.as_ref().map_or(base, AsFd::as_fd);
        let next = retry_on_intr(|| openat(parent, *component, flags | OFlags::NOFOLLOW, Mode::empty()))?;
        current = Some(next);
    }
    current.ok_or(StoreError::NotFound)
}

/// Opens a regular file of a directory for reading.
pub(crate) fn regular(directory: BorrowedFd<'_>, name: &str) -> Result<(OwnedFd, Stat), StoreError> {
    // Without O_NONBLOCK a FIFO would hang the reader before it can be recognised.
    open_checked(directory, name, OFlags::RDONLY | OFlags::NONBLOCK)
}

/// Creates a file that must not exist.
pub(crate) fn create_exclusive(directory: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    retry_on_intr(|| openat(directory, name, flags, FILE_MODE))
}

// DB-2-09, DB-8-02
fn open_checked(directory: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<(OwnedFd, Stat), StoreError> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = retry_on_intr(|| openat(directory, name, flags, Mode::empty())).map_err(|errno| match errno {
        Errno::LOOP | Errno::NXIO | Errno::NODEV => StoreError::NotRegular,
        other => other.into(),
    })?;
    let stat = fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        Ok((file, stat))
    } else {
        Err(StoreError::NotRegular)
    }
}
