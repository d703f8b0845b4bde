//! The candidate tree: files of a memory as they would be after a commit, written out for a validation script (§4.1,
//! DESIGN §2). It is the one place where a path that an agent chose becomes a path of the file system.

use std::path::Path;

use daybook_core::MemoryPath;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Dir, Mode, OFlags, mkdirat, open};
use rustix::io::{Errno, retry_on_intr};

use crate::verbs::write_at;
use crate::{StoreError, open as beneath};

/// Writes files into an empty folder, which nobody else uses: regular files of mode 0600, in folders of mode 0700. No
/// link is followed, nothing is replaced, and nothing is synchronised, as the tree is thrown away. Returns the number
/// of bytes written.
///
/// ```
/// use daybook_core::MemoryPath;
/// use daybook_store::write_candidate;
///
/// let folder = tempfile::tempdir()?;
/// let path = MemoryPath::parse("facts/one.json").unwrap();
/// assert_eq!(write_candidate(folder.path(), [(&path, b"{}".as_slice())]), Ok(2));
/// assert_eq!(std::fs::read(folder.path().join("facts/one.json"))?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`StoreError::NotEmpty`] where something is in the folder, [`StoreError::Conflict`] where two of the paths cannot both
/// be files (also because the file system takes their names for the same), or what the system answered. The folder is
/// of no use then.
pub fn write_candidate<'a>(
    folder: &Path,
    files: impl IntoIterator<Item = (&'a MemoryPath, &'a [u8])>,
) -> Result<u64, StoreError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = retry_on_intr(|| open(folder, flags, Mode::empty()))?;
    for entry in Dir::read_from(&root)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Err(StoreError::NotEmpty);
        }
    }
    let mut total = 0;
    for (path, content) in files {
        write_one(root.as_fd(), path, content)?;
        total += content.len() as u64;
    }
    Ok(total)
}

fn write_one(root: BorrowedFd<'_>, path: &MemoryPath, content: &[u8]) -> Result<(), StoreError> {
    let mut folder: Option<OwnedFd> = None;
    let mut parts = path.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        let parent = folder.as_ref().map_or(root, AsFd::as_fd);
        if parts.peek().is_none() {
            let file = beneath::create_exclusive(parent, part).map_err(conflict)?;
            return Ok(write_at(&file, content, 0)?);
        }
        match retry_on_intr(|| mkdirat(parent, part, Mode::RWXU)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let next = beneath::directory(parent, &[part]).map_err(|error| match error {
            StoreError::NotAFolder => StoreError::Conflict,
            other => other,
        })?;
        folder = Some(next);
    }
    Ok(())
}

fn conflict(errno: Errno) -> StoreError {
    match errno {
        Errno::EXIST => StoreError::Conflict,
        other => other.into(),
    }
}
