//! A git tree, listed under bounds and without trust in its names.

use std::collections::HashSet;

use git2::{ObjectType, Odb, Repository};

use crate::oid::Oid;
use crate::snapshot::ReadFault;

/// How much of a tree is walked. Shared subtrees make a tiny repository list as an endless one.
#[derive(Clone, Copy, Debug)]
pub struct TreeBounds {
    /// Most entries met, folders included.
    pub entries: usize,
    /// Deepest folder; the root is 0.
    pub depth: usize,
}

impl Default for TreeBounds {
    fn default() -> Self {
        Self { entries: 100_000, depth: 32 }
    }
}

/// What an entry of a tree is. Only the first two have content that is ever handed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A regular file with the execute bit.
    Executable,
    /// A symbolic link.
    Symlink,
    /// A commit of another repository.
    Submodule,
    /// A name that hides a path (a slash in it, empty) or repeats one of the same folder.
    BadName,
}

impl EntryKind {
    /// Whether the entry is a regular file.
    #[must_use]
    pub fn is_regular(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }
}

/// One leaf of a tree. The path is as the tree has it: bytes, not yet checked against any rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// `/`-separated bytes.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
    /// The object.
    pub oid: Oid,
    /// Size of the content; 0 for what is not a regular file.
    pub bytes: u64,
}

/// Lists the leaves of a tree in the order of its folders.
pub(crate) fn leaves(repository: &Repository, root: git2::Oid, bounds: TreeBounds) -> Result<Vec<Entry>, ReadFault> {
    let odb = repository.odb()?;
    let mut leaves = Vec::new();
    let mut met = 0_usize;
    let mut folders = vec![(Vec::new(), root, 0_usize)];
    while let Some((prefix, tree, depth)) = folders.pop() {
        if depth > bounds.depth {
            return Err(ReadFault::TooDeep { max: bounds.depth });
        }
        let mut names = HashSet::new();
        let mut below = Vec::new();
        for entry in &repository.find_tree(tree)? {
            met += 1;
            if met > bounds.entries {
                return Err(ReadFault::TooManyEntries { max: bounds.entries });
            }
            let name = entry.name_bytes();
            let mut path = prefix.clone();
            path.extend_from_slice(name);
            if name.is_empty() || name.contains(&b'/') || !names.insert(name.to_vec()) {
                leaves.push(Entry { path, kind: EntryKind::BadName, oid: entry.id().into(), bytes: 0 });
            } else if entry.kind() == Some(ObjectType::Tree) {
                path.push(b'/');
                below.push((path, entry.id(), depth + 1));
            } else {
                leaves.push(leaf(&odb, path, entry.filemode_raw(), entry.id())?);
            }
        }
        folders.extend(below.into_iter().rev());
    }
    Ok(leaves)
}

fn leaf(odb: &Odb<'_>, path: Vec<u8>, mode: i32, oid: git2::Oid) -> Result<Entry, ReadFault> {
    let kind = match mode & 0o170_000 {
        0o100_000 if mode & 0o111 != 0 => EntryKind::Executable,
        0o100_000 => EntryKind::File,
        0o120_000 => EntryKind::Symlink,
        _ => EntryKind::Submodule,
    };
    let bytes = if kind.is_regular() { odb.read_header(oid)?.0 as u64 } else { 0 };
    Ok(Entry { path, kind, oid: oid.into(), bytes })
}
