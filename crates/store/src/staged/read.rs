//! Reads a staged memory that an agent's machine wrote: bounded, entry by entry, into no file.

use std::collections::HashSet;
use std::io::Read;

use daybook_core::MemoryPath;
use daybook_core::path::MAX_PATH_BYTES;
use tar::{Archive, Entry, EntryType};

use super::{FILES, MANIFEST, MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES, Manifest, manifest};

/// Most refusals that are kept; the rest are counted.
const MAX_KEPT: usize = 256;

/// How much of a tar is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most entries, of every kind.
    pub entries: u64,
    /// Largest file in bytes.
    pub file_bytes: u64,
    /// Most bytes of all files together.
    pub total_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        // Refused names may take two entries each, and the manifest is one more.
        Self { entries: 2 * MAX_ENTRIES + 1, file_bytes: MAX_FILE_BYTES, total_bytes: MAX_TOTAL_BYTES }
    }
}

/// An entry that was not read: its number in the tar, from 0, and a code. Its name is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagedRefusal {
    /// Which entry.
    pub number: u64,
    /// Why.
    pub reason: &'static str,
}

/// What a tar held, besides the files that were handed out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Staged {
    /// Files handed out.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Entries refused here, at most 256 of them.
    pub refused: Vec<StagedRefusal>,
    /// How many entries were refused here.
    pub refused_total: u64,
    /// The manifest, where the tar ends with one for this memory that agrees with what was read.
    pub manifest: Option<Manifest>,
    complete: bool,
}

impl Staged {
    /// Whether the tar says of every file of the memory what became of it. Only then may an absence mean a deletion.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether a file that was restored, and was not handed out, is gone: the tar is complete, and neither the path nor a
    /// folder around it was refused. What lies under `ledger/` is never deleted.
    // DB-B-08
    #[must_use]
    pub fn is_deleted(&self, path: &MemoryPath) -> bool {
        let Some(manifest) = self.manifest.as_ref().filter(|_| self.complete) else {
            return false;
        };
        let path = path.as_str();
        let around =
            |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        !is_ledger(path) && !manifest.refused.iter().any(|refused| around(refused.path.trim_end_matches('/')))
    }

    fn refuse(&mut self, number: u64, reason: &'static str) {
        self.refused_total += 1;
        if self.refused.len() < MAX_KEPT {
            self.refused.push(StagedRefusal { number, reason });
        }
    }
}

fn is_ledger(path: &str) -> bool {
    MemoryPath::parse(path).is_ok_and(|path| path.is_ledger())
}

/// Reads the tar of one memory and hands out each good file. A bad entry is refused and named by number and reason;
/// the good ones around it are kept. A stream that breaks off or exceeds a bound ends the reading, and what was handed
/// out until then stands.
pub fn read(input: impl Read, memory: &str, bounds: &Bounds, mut each: impl FnMut(MemoryPath, Vec<u8>)) -> Staged {
    let mut staged = Staged::default();
    let mut seen = HashSet::new();
    let mut name = Name::FromHeader;
    let mut archive = Archive::new(input);
    // Raw entries: the archive reader's own handling of long names reads them without a bound.
    let entries = match archive.entries() {
        Ok(entries) => entries.raw(true),
        Err(_) => {
            staged.refuse(0, "unreadable");
            return staged;
        }
    };
    for (number, entry) in (0..).zip(entries) {
        let Ok(mut entry) = entry else {
            staged.refuse(number, "unreadable");
            break;
        };
        if number >= bounds.entries {
            staged.refuse(number, "too-many-entries");
            break;
        }
        if staged.manifest.take().is_some() {
            staged.refuse(number, "manifest-not-last");
        }
        name = match std::mem::replace(&mut name, Name::FromHeader).of(&mut entry) {
            Step::NameOfNext(next) => {
                if let Name::Refused(reason) = next {
                    staged.refuse(number, reason);
                }
                next
            }
            Step::Refused(reason) => {
                staged.refuse(number, reason);
                Name::FromHeader
            }
            Step::AlreadyRefused => Name::FromHeader,
            Step::File(file) => {
                match take(&mut entry, &file, bounds, &staged, &mut seen) {
                    Ok(Taken::Manifest(text)) => staged.manifest = Manifest::parse(&text),
                    Ok(Taken::File(path, content)) => {
                        staged.entries += 1;
                        staged.bytes += content.len() as u64;
                        each(path, content);
                    }
                    Err(reason) => staged.refuse(number, reason),
                }
                Name::FromHeader
            }
        };
    }
    let agrees = |manifest: &Manifest| {
        manifest.memory == memory && manifest.entries == staged.entries && manifest.bytes == staged.bytes
    };
    staged.complete = staged.refused_total == 0
        && staged.manifest.as_ref().is_some_and(|manifest| manifest.complete && agrees(manifest));
    staged
}

/// Where the name of the next entry comes from.
enum Name {
    FromHeader,
    Long(Vec<u8>),
    Refused(&'static str),
}

enum Step {
    NameOfNext(Name),
    Refused(&'static str),
    AlreadyRefused,
    File(Vec<u8>),
}

impl Name {
    fn of<R: Read>(self, entry: &mut Entry<'_, R>) -> Step {
        match (entry.header().entry_type(), self) {
            (EntryType::GNULongName, Self::FromHeader) => Step::NameOfNext(long_name(entry)),
            (EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader, _) => {
                Step::NameOfNext(Self::Refused("extended-header"))
            }
            (EntryType::XGlobalHeader, _) => Step::Refused("extended-header"),
            (_, Self::Refused(_)) => Step::AlreadyRefused,
            (EntryType::Regular, Self::FromHeader) => Step::File(entry.header().path_bytes().into_owned()),
            (EntryType::Regular, Self::Long(name)) => Step::File(name),
            (EntryType::Directory, _) => Step::Refused("folder"),
            (EntryType::Symlink | EntryType::Link, _) => Step::Refused("link"),
            _ => Step::Refused("not-regular"),
        }
    }
}

fn long_name<R: Read>(entry: &mut Entry<'_, R>) -> Name {
    let bound = (FILES.len() + MAX_PATH_BYTES + 1) as u64;
    if entry.size() > bound {
        return Name::Refused("path-too-long");
    }
    let mut name = Vec::new();
    if entry.take(bound).read_to_end(&mut name).is_err() {
        return Name::Refused("unreadable");
    }
    if name.last() == Some(&0) {
        name.pop();
    }
    Name::Long(name)
}

enum Taken {
    Manifest(Vec<u8>),
    File(MemoryPath, Vec<u8>),
}

fn take<R: Read>(
    entry: &mut Entry<'_, R>,
    name: &[u8],
    bounds: &Bounds,
    staged: &Staged,
    seen: &mut HashSet<MemoryPath>,
) -> Result<Taken, &'static str> {
    if name == MANIFEST.as_bytes() {
        return content(entry, manifest::MAX_BYTES).map(Taken::Manifest);
    }
    let path = name.strip_prefix(FILES.as_bytes()).ok_or("outside-files")?;
    let path = MemoryPath::parse_bytes(path).map_err(|fault| fault.code())?;
    if entry.size() > bounds.total_bytes.saturating_sub(staged.bytes) {
        return Err("over-total");
    }
    let content = content(entry, bounds.file_bytes)?;
    if seen.insert(path.clone()) { Ok(Taken::File(path, content)) } else { Err("duplicate") }
}

fn content<R: Read>(entry: &mut Entry<'_, R>, bound: u64) -> Result<Vec<u8>, &'static str> {
    let size = entry.size();
    if size > bound {
        return Err("too-large");
    }
    let mut content = Vec::new();
    match entry.take(bound).read_to_end(&mut content) {
        Ok(read) if read as u64 == size => Ok(content),
        _ => Err("unreadable"),
    }
}
