//! Lists the files of a memory folder that an agent could do anything to.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use daybook_core::MemoryPath;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

/// Most names that are looked at; a folder with more is listed in part.
const MAX_NAMES: u64 = 100_000;

/// What a memory folder holds.
#[derive(Debug, Default)]
pub struct Walk {
    /// Regular files with acceptable names, ascending.
    pub files: Vec<Found>,
    /// Everything else: its path as text, and a code.
    pub refused: Vec<(String, &'static str)>,
    /// Whether everything in the folder is in one of the two lists.
    pub complete: bool,
    root: Option<OwnedFd>,
}

/// A regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its path inside the memory.
    pub path: MemoryPath,
    /// Its size when it was listed, in bytes.
    pub bytes: u64,
}

/// Lists a memory folder. No link is followed, neither to a file nor on the way to one. A folder that does not exist or
/// is none gives an empty list that is not complete.
#[must_use]
pub fn walk(folder: &Path) -> Walk {
    let Ok(root) = openat(rustix::fs::CWD, folder, folder_flags(), Mode::empty()) else {
        return Walk::default();
    };
    let mut walk = Walk { complete: true, ..Walk::default() };
    let mut seen = 0;
    walk.list(root.as_fd(), "", &mut seen);
    walk.files.sort_by(|left, right| left.path.cmp(&right.path));
    walk.root = Some(root);
    walk
}

impl Walk {
    /// Reads a listed file, no more than `bound` bytes of it. `None` means that it has more.
    ///
    /// # Errors
    ///
    /// The file is no longer a regular file behind real folders, or cannot be read.
    pub fn read(&self, path: &MemoryPath, bound: u64) -> io::Result<Option<Vec<u8>>> {
        let root = self.root.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut folder = root.as_fd().try_clone_to_owned()?;
        let mut parts = path.as_str().split('/').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_some() {
                folder = openat(&folder, part, folder_flags(), Mode::empty())?;
                continue;
            }
            // Without blocking: what was a file when it was listed may be a pipe now.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let file = File::from(openat(&folder, part, flags, Mode::empty())?);
            if !file.metadata()?.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let mut content = Vec::new();
            file.take(bound.saturating_add(1)).read_to_end(&mut content)?;
            return Ok((content.len() as u64 <= bound).then_some(content));
        }
        Err(io::ErrorKind::InvalidInput.into())
    }

    fn list(&mut self, folder: BorrowedFd<'_>, prefix: &str, seen: &mut u64) {
        let Ok(names) = names(folder, seen) else {
            self.refuse(prefix.trim_end_matches('/').to_owned(), "unreadable");
            return;
        };
        if *seen > MAX_NAMES {
            self.complete = false;
        }
        for name in names {
            let text = String::from_utf8_lossy(&name);
            let path = match MemoryPath::parse_bytes(&[prefix.as_bytes(), &name].concat()) {
                Ok(path) => path,
                Err(fault) => {
                    self.refuse(format!("{prefix}{text}"), fault.code());
                    continue;
                }
            };
            match statat(folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
                Err(_) => self.refuse(path.to_string(), "unreadable"),
                Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                    FileType::RegularFile => {
                        self.files.push(Found { path, bytes: u64::try_from(stat.st_size).unwrap_or(u64::MAX) });
                    }
                    FileType::Directory => match openat(folder, name.as_slice(), folder_flags(), Mode::empty()) {
                        Ok(inner) => self.list(inner.as_fd(), &format!("{path}/"), seen),
                        Err(_) => self.refuse(path.to_string(), "unreadable"),
                    },
                    FileType::Symlink => self.refuse(path.to_string(), "link"),
                    _ => self.refuse(path.to_string(), "not-regular"),
                },
            }
        }
    }

    /// The list of refusals is as bounded as the names that were looked at; the root itself cannot be named.
    fn refuse(&mut self, path: String, reason: &'static str) {
        if path.is_empty() {
            self.complete = false;
        } else {
            self.refused.push((path, reason));
        }
    }
}

/// The names in a folder, ascending, as long as the bound on all names is kept.
fn names(folder: BorrowedFd<'_>, seen: &mut u64) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        *seen += 1;
        if *seen > MAX_NAMES {
            break;
        }
        names.push(name.to_vec());
    }
    names.sort();
    Ok(names)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
