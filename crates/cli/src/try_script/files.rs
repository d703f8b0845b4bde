//! The ordinary files of a memory, from its folder or its branch. Files of the ledger are not among them.

use std::path::Path;

use daybook_branch::{BranchName, ReadFault, Remote, RemoteFault, Resolved, TreeBounds};
use daybook_core::MemoryPath;
use daybook_runner::Exit;
use daybook_store::staged::{MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES, walk};

use super::Stop;
use crate::remote_fault::{exit_of, told};

/// What a validation script is shown.
pub(super) struct OrdinaryFiles {
    memory: String,
    origin: String,
    files: Vec<(MemoryPath, Vec<u8>)>,
    bytes: u64,
    set_aside: Vec<(String, &'static str)>,
}

impl OrdinaryFiles {
    /// Reads them: from a branch where one is named, from a folder otherwise.
    pub(super) fn of(memory: &str, branch: Option<&str>) -> Result<Self, Stop> {
        match branch {
            Some(branch) => Self::on_branch(memory, branch),
            None => Self::in_folder(memory),
        }
    }

    fn in_folder(memory: &str) -> Result<Self, Stop> {
        let folder = Path::new(memory);
        if !folder.is_dir() {
            let message = format!("there is no folder {memory}; for a repository give --branch NAME, too");
            return Err(Stop::new(Exit::Usage, "no-such-folder", message));
        }
        if folder.join(".git").exists() || (folder.join("HEAD").is_file() && folder.join("objects").is_dir()) {
            let message = format!("{memory} is a repository: give --branch NAME, too");
            return Err(Stop::new(Exit::Usage, "no-branch", message));
        }
        let mut found = Self::new(memory, format!("the folder {memory}"));
        let walk = walk(folder);
        if !walk.complete {
            return Err(Stop::new(Exit::Io, "unreadable", format!("the folder {memory} cannot be read as a whole")));
        }
        for file in walk.files.iter().filter(|file| !file.path.is_ledger()) {
            match walk.read(&file.path, MAX_FILE_BYTES) {
                Ok(Some(content)) => found.add(file.path.clone(), content),
                Ok(None) => found.set_aside.push((file.path.to_string(), "too-large")),
                Err(_) => found.set_aside.push((file.path.to_string(), "unreadable")),
            }
        }
        found.set_aside.extend(walk.refused);
        Ok(found)
    }

    fn on_branch(memory: &str, branch: &str) -> Result<Self, Stop> {
        let unreachable = |fault: RemoteFault| {
            Stop::new(exit_of(&fault), fault.kind().code(), format!("the memory {memory}: {}", told(&fault)))
        };
        let unreadable = |fault: ReadFault| Stop::new(Exit::Io, "unreadable", fault.to_string());
        let branch = BranchName::parse(branch)
            .map_err(|rule| Stop::new(Exit::Usage, "bad-branch", format!("--branch {branch:?}: allowed is {rule}")))?;
        let remote = Remote::new(memory, None).map_err(unreachable)?;
        if remote.resolve(&branch).map_err(unreachable)? == Resolved::Absent {
            return Err(Stop::new(Exit::Usage, "no-such-branch", format!("{memory} has no branch {branch}")));
        }
        let snapshot = remote.fetch(&branch).map_err(unreachable)?;
        let mut found = Self::new(memory, format!("branch {branch}"));
        let mut entries = snapshot.entries(TreeBounds::default()).map_err(unreadable)?;
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        for entry in entries {
            let name = || String::from_utf8_lossy(&entry.path).into_owned();
            match MemoryPath::parse_bytes(&entry.path) {
                Ok(path) if path.is_ledger() => {}
                Err(fault) => found.set_aside.push((name(), fault.code())),
                Ok(_) if !entry.kind.is_regular() => found.set_aside.push((name(), "not-regular")),
                Ok(path) => match snapshot.content(&entry, MAX_FILE_BYTES) {
                    Ok(content) => found.add(path, content),
                    Err(ReadFault::TooLarge { .. }) => found.set_aside.push((name(), "too-large")),
                    Err(fault) => return Err(unreadable(fault)),
                },
            }
        }
        Ok(found)
    }

    fn new(memory: &str, origin: String) -> Self {
        let name = Path::new(memory).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { memory: name, origin, files: Vec::new(), bytes: 0, set_aside: Vec::new() }
    }

    /// The bounds are those of a staged memory.
    fn add(&mut self, path: MemoryPath, content: Vec<u8>) {
        let total = self.bytes + content.len() as u64;
        if self.files.len() as u64 >= MAX_ENTRIES {
            self.set_aside.push((path.to_string(), "too-many-entries"));
        } else if total > MAX_TOTAL_BYTES {
            self.set_aside.push((path.to_string(), "over-total"));
        } else {
            self.bytes = total;
            self.files.push((path, content));
        }
    }

    /// What the memory is called, after its folder.
    pub(super) fn memory(&self) -> &str {
        &self.memory
    }

    /// Where they are from, in words.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// The files, ascending.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&MemoryPath, &[u8])> {
        self.files.iter().map(|(path, content)| (path, content.as_slice()))
    }

    /// Their bytes together.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What else was there: a path, and a code.
    pub(super) fn set_aside(&self) -> &[(String, &'static str)] {
        &self.set_aside
    }
}
