//! Which ordinary files of a memory persist (DESIGN §3.6), and how a change of them is measured.
//!
//! The same functions measure on the agent's side and when a run is persisted, so that nobody is warned by one rule and
//! refused by another.

use std::collections::{BTreeSet, HashMap};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::config::MemoryConfig;
use crate::limits::{Bytes, Count};
use crate::path::MemoryPath;

/// From how much of a bound on a warning is given, in percent.
pub const NEARLY_FULL_PERCENT: u64 = 80;

/// Names that Windows gives to devices, whatever ending they have.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Why a file is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetAside {
    /// Its name cannot be checked out on every platform.
    Name,
    /// Its name differs from that of another file only in case.
    NameTaken,
    /// No pattern of `file-glob` takes it.
    Glob,
    /// Its ending is not among `allowed-extensions`.
    Extension,
    /// It is larger than `max-file-size`.
    FileSize,
    /// The memory would have more files than `max-file-count`.
    FileCount,
    /// The run would add more bytes than `max-patch-size`.
    PatchSize,
}

impl SetAside {
    /// The code by which reports name it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Name => "name-not-portable",
            Self::NameTaken => "name-taken",
            Self::Glob => "file-glob",
            Self::Extension => "allowed-extensions",
            Self::FileSize => "max-file-size",
            Self::FileCount => "max-file-count",
            Self::PatchSize => "max-patch-size",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Name => "rename it: no device names, no <>|?*, no dot or space at the end of a name",
            Self::NameTaken => "rename it: another file has the same name in other letters",
            Self::Glob => "no pattern of file-glob takes it",
            Self::Extension => "its ending is not among allowed-extensions",
            Self::FileSize => "it is larger than max-file-size; raise that or split the file",
            Self::FileCount => "the memory would have more files than max-file-count; raise that or remove files",
            Self::PatchSize => {
                "the run would add more than max-patch-size; raise that, and run the job again to land it"
            }
        }
    }
}

/// A pattern of `file-glob` that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("file-glob has {0:?}, which is no pattern")]
pub struct BadPattern(pub String);

/// The policy of one memory.
#[derive(Debug, Clone)]
pub struct FilePolicy {
    patterns: Option<GlobSet>,
    extensions: Vec<String>,
    max_file_size: Bytes,
    max_file_count: Count,
    max_patch_size: Bytes,
}

impl FilePolicy {
    /// The policy that a configuration states.
    ///
    /// # Errors
    /// [`BadPattern`], which a checked configuration does not hold.
    pub fn of(memory: &MemoryConfig) -> Result<Self, BadPattern> {
        let patterns = if memory.file_glob.is_empty() { None } else { Some(patterns(&memory.file_glob)?) };
        Ok(Self {
            patterns,
            extensions: memory.allowed_extensions.iter().map(|ending| ending.to_ascii_lowercase()).collect(),
            max_file_size: memory.max_file_size,
            max_file_count: memory.max_file_count,
            max_patch_size: memory.max_patch_size,
        })
    }

    /// Whether `file-glob` takes a path; without patterns it takes all.
    #[must_use]
    pub fn takes(&self, path: &MemoryPath) -> bool {
        self.patterns.as_ref().is_none_or(|patterns| patterns.is_match(path.as_str()))
    }

    /// Holds one file to everything that can be said of it alone.
    ///
    /// # Errors
    /// Why it is set aside.
    pub fn check(&self, path: &MemoryPath, bytes: u64) -> Result<(), SetAside> {
        if !is_portable(path) {
            return Err(SetAside::Name);
        }
        if !self.takes(path) {
            return Err(SetAside::Glob);
        }
        let folded = path.as_str().to_ascii_lowercase();
        if !self.extensions.is_empty() && !self.extensions.iter().any(|ending| folded.ends_with(ending.as_str())) {
            return Err(SetAside::Extension);
        }
        if bytes > self.max_file_size.get() { Err(SetAside::FileSize) } else { Ok(()) }
    }

    /// Largest file.
    #[must_use]
    pub const fn max_file_size(&self) -> Bytes {
        self.max_file_size
    }

    /// Most files.
    #[must_use]
    pub const fn max_file_count(&self) -> Count {
        self.max_file_count
    }

    /// Most bytes that one run may add.
    #[must_use]
    pub const fn max_patch_size(&self) -> Bytes {
        self.max_patch_size
    }
}

/// Compiles patterns; `*` stays within one folder, `**` does not.
///
/// # Errors
/// [`BadPattern`] names the first that is none.
pub fn patterns(texts: &[String]) -> Result<GlobSet, BadPattern> {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        let pattern = GlobBuilder::new(text).literal_separator(true).build();
        set.add(pattern.map_err(|_| BadPattern(text.clone()))?);
    }
    set.build().map_err(|_| BadPattern(texts.join(" ")))
}

/// How many bytes a change adds: those of lines that the new content has more often than the old one. What is only
/// removed or moved adds nothing, so that a memory over its bound can be trimmed.
///
/// ```
/// use daybook_core::policy::patch_bytes;
///
/// assert_eq!(patch_bytes(b"one\ntwo\n", b"one\nTWO\nthree\n"), 10);
/// assert_eq!(patch_bytes(b"one\ntwo\n", b"two\n"), 0);
/// ```
#[must_use]
pub fn patch_bytes(old: &[u8], new: &[u8]) -> u64 {
    let mut known: HashMap<&[u8], u64> = HashMap::new();
    for line in lines(old) {
        *known.entry(line).or_default() += 1;
    }
    lines(new)
        .filter(|line| match known.get_mut(line) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        })
        .map(|line| u64::try_from(line.len()).unwrap_or(u64::MAX))
        .fold(0, u64::saturating_add)
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

/// Whether `used` is near enough to a bound to be worth a word.
#[must_use]
pub const fn is_nearly_full(used: u64, bound: u64) -> bool {
    used.saturating_mul(100) >= bound.saturating_mul(NEARLY_FULL_PERCENT)
}

/// Whether every platform can check a path out. `:` and `"` are let through: times are common names, and a clone on
/// Windows can leave such a file out.
fn is_portable(path: &MemoryPath) -> bool {
    path.as_str().split('/').all(|name| {
        let folded = name.to_ascii_lowercase();
        let stem = folded.split('.').next().unwrap_or_default();
        let numbered = ["com", "lpt"]
            .iter()
            .any(|port| stem.strip_prefix(port).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9'])));
        !(DEVICES.contains(&stem) || numbered || name.ends_with(['.', ' ']) || name.contains(['<', '>', '|', '?', '*']))
    })
}

/// Paths that are taken, in any letters.
#[derive(Debug, Clone, Default)]
pub struct TakenNames(BTreeSet<String>);

impl TakenNames {
    /// Takes a path; `false` where another path is the same but for case, or one of the two is a folder of the other.
    pub fn take(&mut self, path: &MemoryPath) -> bool {
        let folded = path.as_str().to_lowercase();
        let mut above = folded.match_indices('/').filter_map(|(at, _)| folded.get(..at));
        let inside = format!("{folded}/");
        let below = self.0.range(inside.clone()..).next().is_some_and(|other| other.starts_with(&inside));
        if below || above.any(|folder| self.0.contains(folder)) {
            return false;
        }
        self.0.insert(folded)
    }

    /// Frees a path that goes away.
    pub fn release(&mut self, path: &MemoryPath) {
        self.0.remove(&path.as_str().to_lowercase());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{BranchName, Name};

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    fn policy(globs: &[&str]) -> FilePolicy {
        let mut memory = MemoryConfig::with_defaults(Name::parse("m").unwrap(), BranchName::parse("memory/m").unwrap());
        memory.file_glob = globs.iter().map(|glob| (*glob).to_owned()).collect();
        memory.max_file_size = Bytes::new(10);
        FilePolicy::of(&memory).unwrap()
    }

    #[test]
    fn each_rule_has_its_own_answer() {
        let plain = policy(&[]);
        for (name, bytes, answer) in [
            ("a.md", 10, Ok(())),
            ("a.md", 11, Err(SetAside::FileSize)),
            ("deep/er/A.MD", 1, Ok(())),
            ("2026-07-01T10:00:00Z.json", 1, Ok(())),
            ("he said \"x\".txt", 1, Ok(())),
            ("run.sh", 1, Err(SetAside::Extension)),
            ("noending", 1, Err(SetAside::Extension)),
            ("aux.md", 1, Err(SetAside::Name)),
            ("x/COM7.json", 1, Err(SetAside::Name)),
            ("x /a.md", 1, Err(SetAside::Name)),
            ("what?.md", 1, Err(SetAside::Name)),
            ("com10.md", 1, Ok(())),
        ] {
            assert_eq!(plain.check(&path(name), bytes), answer, "{name}");
        }
        let narrow = policy(&["*.md", "facts/**/*.json"]);
        for (name, taken) in
            [("a.md", true), ("x/a.md", false), ("facts/a.json", true), ("facts/x/y/a.json", true), ("a.json", false)]
        {
            assert_eq!(narrow.takes(&path(name)), taken, "{name}");
        }
        assert_eq!(narrow.check(&path("x/a.md"), 1), Err(SetAside::Glob));
        assert_eq!(patterns(&["[".to_owned()]).unwrap_err(), BadPattern("[".to_owned()));
    }

    /// CASES 3: a large memory with a one-line change is a small change.
    #[test]
    fn a_change_is_what_it_adds() {
        let old = "a line of text\n".repeat(20_000);
        let new = format!("{old}one more\n");
        assert_eq!(patch_bytes(old.as_bytes(), new.as_bytes()), 9);
        assert_eq!(patch_bytes(b"", b"no newline"), 10);
        assert_eq!(patch_bytes(b"x\nx\n", b"x\nx\nx\n"), 2);
        assert!(is_nearly_full(80, 100) && !is_nearly_full(79, 100) && is_nearly_full(0, 0));
    }

    #[test]
    fn names_that_differ_in_case_are_one() {
        let mut names = TakenNames::default();
        assert!(names.take(&path("Notes.md")) && !names.take(&path("notes.MD")) && names.take(&path("notes2.md")));
        assert!(!names.take(&path("NOTES.md/inside.md")));
        assert!(names.take(&path("x/y.md")) && !names.take(&path("X")));
        names.release(&path("X/Y.md"));
        assert!(names.take(&path("X")));
    }
}
