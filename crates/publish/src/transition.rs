//! From changes to one commit, without a working copy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use daybook_branch::{Oid, RemoteFault, Snapshot};
use daybook_core::MemoryPath;
use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Repository, Signature};

/// Who commits: the account under which GitHub shows what workflows do.
const BOT: (&str, &str) = ("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com");

/// Longest commit message in bytes.
const MAX_MESSAGE: usize = 16 * 1024;

/// Why nothing was pushed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishFault {
    /// The transition was decided on another head than the snapshot has.
    #[error("the change was decided on another head than the one fetched")]
    OtherBase,
    /// A path of the change meets a file where it needs a folder, or the other way round.
    #[error("{0} meets a file where a folder is needed, or a folder where a file is")]
    Occupied(MemoryPath),
    /// The commit could not be built.
    #[error("the commit could not be built: {0}")]
    Build(#[from] git2::Error),
    /// The remote could not be reached, and nothing was sent.
    #[error(transparent)]
    Remote(#[from] RemoteFault),
}

/// What one commit changes. Files always get mode 100644.
#[derive(Clone, Debug)]
pub struct Transition {
    base: Option<Oid>,
    puts: BTreeMap<MemoryPath, Vec<u8>>,
    deletes: BTreeSet<MemoryPath>,
    message: String,
}

impl Transition {
    /// A change of nothing yet, decided on this head (`None`: the branch does not exist).
    #[must_use]
    pub fn on(base: Option<Oid>, message: &str) -> Self {
        let mut end = message.len().min(MAX_MESSAGE);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        let message = message[..end].to_owned();
        Self { base, puts: BTreeMap::new(), deletes: BTreeSet::new(), message }
    }

    /// Writes a file, new or not.
    pub fn put(&mut self, path: MemoryPath, content: Vec<u8>) -> &mut Self {
        self.deletes.remove(&path);
        self.puts.insert(path, content);
        self
    }

    /// Takes a file away; one that is not there is no error.
    pub fn delete(&mut self, path: MemoryPath) -> &mut Self {
        self.puts.remove(&path);
        self.deletes.insert(path);
        self
    }

    /// The expected head.
    #[must_use]
    pub fn base(&self) -> Option<Oid> {
        self.base
    }

    /// Builds the commit in the snapshot's repository: the base as its one parent, and everything that is not named
    /// stays as it is. The tree depends on the base and the changes only.
    ///
    /// # Errors
    /// [`PublishFault`]; the remote is not asked.
    pub fn build(&self, snapshot: &Snapshot) -> Result<Oid, PublishFault> {
        if self.base != snapshot.head() {
            return Err(PublishFault::OtherBase);
        }
        let repository = snapshot.repository();
        let parent = self.base.map(|base| repository.find_commit(base.raw())).transpose()?;
        let tree = match &parent {
            Some(parent) => parent.tree()?,
            None => repository.find_tree(repository.treebuilder(None)?.write()?)?,
        };
        let tree = repository.find_tree(self.change(repository, &tree)?)?;
        let bot = Signature::now(BOT.0, BOT.1)?;
        let parents: Vec<_> = parent.iter().collect();
        Ok(repository.commit(None, &bot, &bot, &self.message, &tree, &parents)?.into())
    }

    fn change(&self, repository: &Repository, tree: &git2::Tree<'_>) -> Result<git2::Oid, PublishFault> {
        let mut update = TreeUpdateBuilder::new();
        for (path, content) in &self.puts {
            if occupied(tree, path) {
                return Err(PublishFault::Occupied(path.clone()));
            }
            update.upsert(path.as_str(), repository.blob(content)?, FileMode::Blob);
        }
        for path in &self.deletes {
            if tree.get_path(Path::new(path.as_str())).is_ok() {
                update.remove(path.as_str());
            }
        }
        Ok(update.create_updated(repository, tree)?)
    }
}

/// Whether a folder stands where the file goes, or something else than a folder where one of its folders goes.
fn occupied(tree: &git2::Tree<'_>, path: &MemoryPath) -> bool {
    let kind = |path: &str| tree.get_path(Path::new(path)).ok().map(|entry| entry.filemode_raw() & 0o170_000);
    let folder = 0o040_000;
    let above = path.as_str().match_indices('/').map(|(at, _)| &path.as_str()[..at]);
    above.into_iter().any(|above| kind(above).is_some_and(|kind| kind != folder)) || kind(path.as_str()) == Some(folder)
}
