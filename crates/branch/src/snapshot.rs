//! One commit of a branch, fetched into a private repository that ends with this value.

use std::path::Path;

use daybook_core::config::BranchName;
use git2::{ObjectFormat, ObjectType, Repository, RepositoryInitOptions};
use tempfile::TempDir;

use crate::fault::{FaultKind, RemoteFault};
use crate::oid::Oid;
use crate::remote::{Remote, Resolved, local, reference, succeeded};
use crate::tree::{Entry, TreeBounds, leaves};

/// Where the fetched commit is kept in the private repository.
const HEAD: &str = "refs/daybook/head";

/// Why a fetched object was not handed out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// The tree lists more than the bound.
    #[error("the tree has more than {max} entries")]
    TooManyEntries {
        /// The bound.
        max: usize,
    },
    /// The tree is deeper than the bound.
    #[error("the tree is deeper than {max} folders")]
    TooDeep {
        /// The bound.
        max: usize,
    },
    /// The content is larger than the caller allows.
    #[error("{bytes} bytes, allowed are {max}")]
    TooLarge {
        /// Size in bytes.
        bytes: u64,
        /// The caller's bound in bytes.
        max: u64,
    },
    /// Not a regular file.
    #[error("not a regular file")]
    NotRegular,
    /// libgit2 could not read an object.
    #[error("object not readable: {0}")]
    Object(#[from] git2::Error),
}

/// A branch at one commit, or a branch that was proven absent.
pub struct Snapshot {
    repository: Repository,
    // Removed with everything in it when the snapshot is dropped.
    folder: TempDir,
    remote: Remote,
    branch: BranchName,
    head: Option<Oid>,
}

impl Remote {
    /// Fetches the newest commit of a branch with its tree and blobs, without its history.
    ///
    /// # Errors
    /// [`RemoteFault`]; a branch that does not exist is not an error but a snapshot without head.
    pub fn fetch(&self, branch: &BranchName) -> Result<Snapshot, RemoteFault> {
        // Nearly always the branch is there and of the usual format: then one call of git is enough.
        let mut snapshot = Snapshot::empty(self, branch, ObjectFormat::Sha1)?;
        match snapshot.download(&["--depth=1"]) {
            Ok(head) => {
                snapshot.head = Some(head);
                Ok(snapshot)
            }
            Err(fault) if needs_a_look(&fault) => self.fetch_after_a_look(branch),
            Err(fault) => Err(fault),
        }
    }

    /// Asks what there is before anything is fetched: only this tells a branch that is absent from a failure.
    fn fetch_after_a_look(&self, branch: &BranchName) -> Result<Snapshot, RemoteFault> {
        let mut gone = None;
        // A branch deleted between the two questions is asked for again.
        for _ in 0..3 {
            let (resolved, format) = self.look(branch)?;
            let mut snapshot = Snapshot::empty(self, branch, format)?;
            if resolved == Resolved::Absent {
                return Ok(snapshot);
            }
            match snapshot.download(&["--depth=1"]) {
                Ok(head) => {
                    snapshot.head = Some(head);
                    return Ok(snapshot);
                }
                Err(fault) if fault.private().contains(NO_REFERENCE) => gone = Some(fault),
                Err(fault) => return Err(fault),
            }
        }
        Err(gone.unwrap_or_else(|| RemoteFault::new(FaultKind::Other, String::new())))
    }
}

/// What git says of a branch that the server did not list.
const NO_REFERENCE: &str = "couldn't find remote ref";

/// What git says where the server's object ids are of another kind than those of the private repository.
const OTHER_FORMAT: &str = "mismatched algorithms";

/// Whether a fetch failed for what there is at the other end, and not for the way to it.
fn needs_a_look(fault: &RemoteFault) -> bool {
    [NO_REFERENCE, OTHER_FORMAT].iter().any(|sign| fault.private().contains(sign))
}

impl Snapshot {
    fn empty(remote: &Remote, branch: &BranchName, format: ObjectFormat) -> Result<Self, RemoteFault> {
        let folder = tempfile::Builder::new().prefix("daybook-branch-").tempdir().map_err(local)?;
        let mut options = RepositoryInitOptions::new();
        options.bare(true).external_template(false).object_format(format);
        let repository = Repository::init_opts(folder.path(), &options).map_err(local)?;
        // Objects come in through git's index-pack alone, which names each by the digest that it computes. To compute it
        // once more on every read took as long as everything else that is done with a shard.
        git2::opts::strict_hash_verification(false);
        Ok(Self { repository, folder, remote: remote.clone(), branch: branch.clone(), head: None })
    }

    /// Fetches the branch once more with the given depth options; returns where it is now.
    pub(crate) fn download(&self, depth: &[&str]) -> Result<Oid, RemoteFault> {
        let mut command = self.remote.command("fetch")?.within(self.folder.path());
        for option in ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"].iter().chain(depth) {
            command = command.option(option);
        }
        let refspec = format!("+{}:{HEAD}", reference(&self.branch));
        succeeded(&command.operand(self.remote.url()).operand(refspec).run()?)?;
        let head = self.repository.refname_to_id(HEAD).map_err(local)?;
        self.repository.find_commit(head).map_err(|error| RemoteFault::new(FaultKind::BadAnswer, error.to_string()))?;
        Ok(head.into())
    }

    /// Asks again where the branch is, and fetches what is new into the same private repository. Blobs that are here
    /// already are not sent again.
    ///
    /// # Errors
    /// As [`Remote::fetch`]. The snapshot is used up: what it held may be old by now.
    pub fn refresh(mut self) -> Result<Self, RemoteFault> {
        if self.head.take().is_none() {
            return self.remote.fetch(&self.branch);
        }
        // Onto a known head the few commits since then are fetched whole, so that ancestry stays answered.
        match self.download(&[]) {
            Ok(head) => {
                self.head = Some(head);
                Ok(self)
            }
            Err(fault) if needs_a_look(&fault) => self.remote.fetch_after_a_look(&self.branch),
            Err(fault) => Err(fault),
        }
    }

    /// The fetched commit; `None` when the branch does not exist.
    #[must_use]
    pub fn head(&self) -> Option<Oid> {
        self.head
    }

    /// The branch.
    #[must_use]
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// The remote that was fetched from.
    #[must_use]
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// The private bare repository with the fetched objects.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Where the private repository is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Lists every leaf of the tree; nothing for an absent branch.
    ///
    /// # Errors
    /// [`ReadFault`] for a tree over the bounds or an object that cannot be read.
    pub fn entries(&self, bounds: TreeBounds) -> Result<Vec<Entry>, ReadFault> {
        match self.head {
            None => Ok(Vec::new()),
            Some(head) => self.entries_at(head, bounds),
        }
    }

    /// As [`Snapshot::entries`], of another commit that is here: the head, or one that [`Snapshot::is_ancestor`] or
    /// [`Snapshot::find_commit`] has reached.
    ///
    /// # Errors
    /// As [`Snapshot::entries`].
    pub fn entries_at(&self, commit: Oid, bounds: TreeBounds) -> Result<Vec<Entry>, ReadFault> {
        leaves(&self.repository, self.repository.find_commit(commit.raw())?.tree_id(), bounds)
    }

    /// Reads the content of one listed entry, of at most `max` bytes.
    ///
    /// # Errors
    /// [`ReadFault::NotRegular`] for links and submodules, [`ReadFault::TooLarge`] before anything is read.
    pub fn content(&self, entry: &Entry, max: u64) -> Result<Vec<u8>, ReadFault> {
        if entry.kind.is_regular() { self.blob(entry.oid, max) } else { Err(ReadFault::NotRegular) }
    }

    /// Reads the file at a path; `None` when there is nothing under that name.
    ///
    /// # Errors
    /// As [`Snapshot::content`].
    pub fn read(&self, path: &str, max: u64) -> Result<Option<Vec<u8>>, ReadFault> {
        self.head.map_or(Ok(None), |head| self.read_at(head, path, max))
    }

    /// As [`Snapshot::read`], in the tree of another commit that is here: the head, or one that
    /// [`Snapshot::is_ancestor`] has reached.
    ///
    /// # Errors
    /// As [`Snapshot::content`].
    pub fn read_at(&self, commit: Oid, path: &str, max: u64) -> Result<Option<Vec<u8>>, ReadFault> {
        let tree = self.repository.find_commit(commit.raw())?.tree()?;
        let entry = match tree.get_path(Path::new(path)) {
            Ok(entry) => entry,
            Err(error) if error.code() == git2::ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if entry.kind() != Some(ObjectType::Blob) || entry.filemode_raw() & 0o170_000 != 0o100_000 {
            return Err(ReadFault::NotRegular);
        }
        self.blob(entry.id().into(), max).map(Some)
    }

    fn blob(&self, oid: Oid, max: u64) -> Result<Vec<u8>, ReadFault> {
        blob(&self.repository, oid, max)
    }
}

/// The content of a blob, after its size was found to be within the bound.
pub(crate) fn blob(repository: &Repository, oid: Oid, max: u64) -> Result<Vec<u8>, ReadFault> {
    let odb = repository.odb()?;
    let (bytes, kind) = odb.read_header(oid.raw())?;
    if kind != ObjectType::Blob {
        return Err(ReadFault::NotRegular);
    }
    if bytes as u64 > max {
        return Err(ReadFault::TooLarge { bytes: bytes as u64, max });
    }
    Ok(odb.read(oid.raw())?.data().to_vec())
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Snapshot({} at {:?})", self.branch, self.head)
    }
}
