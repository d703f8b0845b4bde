//! What a command for people looks at: a memory folder, a repository here, or a URL.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use daybook_branch::{BranchName, LedgerTree, Remote, RemoteFault, Resolved, Snapshot, TreeBounds};
use daybook_core::limits::{Count, MAX_SHARDS};
use daybook_core::shard::Location;
use daybook_core::state::State;
use daybook_core::{CheckedLine, Digest, Ledger, MemoryPath, Record, ShardId};
use daybook_runner::{Exit, Report};
use daybook_store::{MemoryFolder, ShardFolder, StoreError, scan_folder_noting, staged};
use daybook_view::row::Row;

use crate::args::Target;
use crate::ledger_view::LedgerView;
use crate::progress::Bar;
use crate::remote_fault::{exit_of, told};

/// Why there is nothing to show.
pub(crate) type Refusal = Box<Report>;

/// A refusal with one error.
pub(crate) fn failed(exit: Exit, code: &str, message: &str) -> Refusal {
    let mut report = Report::new(exit);
    report.error(code, message);
    Box::new(report)
}

/// A target that is there.
pub(crate) struct Opened {
    what: String,
    place: Place,
}

enum Place {
    Folder { path: PathBuf, memory: MemoryFolder, shards: Option<ShardFolder> },
    Branch(Box<Snapshot>),
}

/// A ledger after every record of it was checked.
pub(crate) struct Scan<'o, T> {
    pub(crate) ledger: Ledger,
    /// What was noted of each record that passed the check; of a repeated record each copy.
    pub(crate) notes: Vec<T>,
    source: Source<'o>,
}

enum Source<'o> {
    Folder(Option<&'o ShardFolder>),
    Branch(Box<LedgerView>),
}

/// Whether something stands where a memory has its ledger; a link or a file, too, is what the command is about.
pub(crate) fn is_memory_folder(path: &Path) -> bool {
    path.join("ledger").symlink_metadata().is_ok()
}

impl Opened {
    /// Opens a target: a folder with a ledger in it is a memory, everything else has to be a repository.
    pub(crate) fn open(args: &Target) -> Result<Self, Refusal> {
        let path = Path::new(&args.target);
        if args.branch.is_none() && is_memory_folder(path) {
            return Self::folder(path);
        }
        Self::repository(&args.target, args.branch.as_deref())
    }

    fn folder(path: &Path) -> Result<Self, Refusal> {
        let memory = MemoryFolder::open(path).map_err(|error| unopened(path, error))?;
        let shards = memory.shards().map_err(|error| unopened(path, error))?;
        let place = Place::Folder { path: path.to_owned(), memory, shards };
        Ok(Self { what: format!("the folder {}", path.display()), place })
    }

    fn repository(target: &str, branch: Option<&str>) -> Result<Self, Refusal> {
        if !target.contains(':') && !Path::new(target).exists() {
            return Err(failed(Exit::Usage, "no-such-folder", &format!("there is no {target}")));
        }
        let unreachable = |fault: RemoteFault| {
            let message =
                format!("{target} is neither a memory folder nor a repository that answers: {}", told(&fault));
            failed(exit_of(&fault), fault.kind().code(), &message)
        };
        let remote = Remote::new(target, None).map_err(unreachable)?;
        let branch = match branch {
            Some(name) => BranchName::parse(name)
                .map_err(|rule| failed(Exit::Usage, "bad-branch", &format!("--branch {name:?}: allowed is {rule}")))?,
            None => only_ledger(&remote).map_err(unreachable)?.map_err(|branches| {
                let found = if branches.is_empty() { "none".to_owned() } else { branches.join(", ") };
                let hint = if branches.is_empty() && Path::new(target).exists() { CLONE_HINT } else { "" };
                failed(Exit::Usage, "no-branch", &format!("give --branch NAME; ledgers in {target}: {found}{hint}"))
            })?,
        };
        if remote.resolve(&branch).map_err(unreachable)? == Resolved::Absent {
            let hint = if Path::new(target).exists() { CLONE_HINT } else { "" };
            return Err(failed(Exit::Usage, "no-such-branch", &format!("{target} has no branch {branch}{hint}")));
        }
        let snapshot = remote.fetch(&branch).map_err(unreachable)?;
        let head = snapshot.head().map(|head| head.to_string()).unwrap_or_default();
        Ok(Self { what: format!("branch {branch} at {head}"), place: Place::Branch(Box::new(snapshot)) })
    }

    /// What it is, in words.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The branch, where it is one.
    pub(crate) fn snapshot(&self) -> Option<&Snapshot> {
        match &self.place {
            Place::Branch(snapshot) => Some(snapshot),
            Place::Folder { .. } => None,
        }
    }

    /// Checks every record.
    pub(crate) fn ledger(&self) -> Result<Scan<'_, ()>, Refusal> {
        self.scan(|_| ())
    }

    /// Checks every record, and notes something of each that passes.
    pub(crate) fn scan<T: Send>(&self, note: impl Fn(&CheckedLine<'_>) -> T + Sync) -> Result<Scan<'_, T>, Refusal> {
        let bar = Bar::new();
        match &self.place {
            Place::Folder { path, shards: Some(shards), .. } => {
                let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
                let advance = |progress| bar.advance(progress);
                let bound = Count::new(MAX_SHARDS.default);
                let (ledger, notes) = scan_folder_noting(shards, bound, threads, &advance, &note)
                    .map_err(|error| unopened(path, error))?;
                Ok(Scan { ledger, notes, source: Source::Folder(Some(shards)) })
            }
            Place::Folder { shards: None, .. } => {
                let ledger = Ledger::builder(Count::new(MAX_SHARDS.default)).finish();
                Ok(Scan { ledger, notes: Vec::new(), source: Source::Folder(None) })
            }
            Place::Branch(snapshot) => {
                let advance = |progress| bar.advance(progress);
                let (mut view, notes) =
                    LedgerView::noting(snapshot, snapshot.head(), advance, note).map_err(unreadable)?;
                let empty = Ledger::builder(Count::new(0)).finish();
                let ledger = std::mem::replace(&mut view.ledger, empty);
                Ok(Scan { ledger, notes, source: Source::Branch(Box::new(view)) })
            }
        }
    }

    /// The state of compaction: `None` where there is none, an inner error where what is there is none.
    pub(crate) fn state(&self) -> Result<Result<Option<State>, ()>, Refusal> {
        match &self.place {
            Place::Folder { memory, .. } => Ok(match memory.compaction_state() {
                Ok(bytes) => bytes.map(|bytes| State::parse(&bytes)).transpose().map_err(|_| ()),
                Err(_) => Err(()),
            }),
            Place::Branch(snapshot) => Ok(LedgerTree::any_state(snapshot).map_err(unreadable)?.map_err(|_| ())),
        }
    }

    /// How many ordinary files there are, and the bytes of the largest.
    pub(crate) fn ordinary_files(&self) -> Result<(u64, u64), Refusal> {
        let sizes: Vec<u64> = match &self.place {
            Place::Folder { path, .. } => {
                let files = staged::walk(path).files;
                files.into_iter().filter(|file| !file.path.is_ledger()).map(|file| file.bytes).collect()
            }
            Place::Branch(snapshot) => {
                let entries = snapshot.entries(TreeBounds::default()).map_err(unreadable)?;
                let ordinary = entries.into_iter().filter(|entry| {
                    MemoryPath::parse_bytes(&entry.path).is_ok_and(|path| !path.is_ledger()) && entry.kind.is_regular()
                });
                ordinary.map(|entry| entry.bytes).collect()
            }
        };
        Ok((sizes.len() as u64, sizes.into_iter().max().unwrap_or(0)))
    }
}

impl<T> Scan<'_, T> {
    /// The row of a record that was accepted.
    pub(crate) fn row(&self, sha: &Digest) -> Result<Row, Refusal> {
        let location = self.ledger.get(sha).map(|entry| entry.location());
        let row = location.and_then(|location| Some(Row { record: self.record(location)?, location }));
        row.filter(|row| row.record.sha() == *sha)
            .ok_or_else(|| failed(Exit::Io, "unreadable", "a shard changed while it was read; look again"))
    }

    /// Rows of records that were accepted, in this order.
    pub(crate) fn rows(&self, shas: &[Digest]) -> Result<Vec<Row>, Refusal> {
        shas.iter().map(|sha| self.row(sha)).collect()
    }

    fn record(&self, location: Location) -> Option<Record> {
        match &self.source {
            Source::Folder(shards) => Record::parse(&(*shards)?.read_line(location).ok()?).ok(),
            Source::Branch(view) => view.record(location),
        }
    }

    /// The shards, in the order of their names.
    pub(crate) fn shards(&self) -> Result<Vec<ShardId>, Refusal> {
        match &self.source {
            Source::Folder(None) => Ok(Vec::new()),
            Source::Folder(Some(shards)) => {
                let listing = shards.list().map_err(|error| failed(Exit::Io, error.code(), &error.to_string()))?;
                Ok(listing.shards)
            }
            Source::Branch(view) => Ok(view.shard_ids().collect()),
        }
    }

    /// The bytes of a shard; `None` where it cannot be read.
    pub(crate) fn shard(&self, shard: ShardId) -> Option<Vec<u8>> {
        match &self.source {
            Source::Folder(shards) => (*shards)?.read(shard).ok(),
            Source::Branch(view) => view.shard(shard).map(<[u8]>::to_vec),
        }
    }
}

/// What a person with a clone may have missed.
const CLONE_HINT: &str = "; a clone has a branch of its own only after `git fetch origin NAME:NAME`";

fn unopened(path: &Path, error: StoreError) -> Refusal {
    let exit = if error == StoreError::NotAFolder { Exit::Refused } else { Exit::Io };
    failed(exit, error.code(), &format!("{}: {error}", path.display()))
}

pub(crate) fn unreadable(fault: impl std::fmt::Display) -> Refusal {
    failed(Exit::Io, "unreadable", &fault.to_string())
}

/// The only branch below `ledgers/`, or all of them.
pub(crate) fn only_ledger(remote: &Remote) -> Result<Result<BranchName, Vec<String>>, RemoteFault> {
    let mut branches = Vec::new();
    let command = remote.command("ls-remote")?.option("--quiet").operand(remote.url()).operand("refs/heads/ledgers/*");
    let answer = command.lines(|line| {
        let name = String::from_utf8_lossy(line).into_owned();
        if let Some((_, name)) = name.split_once("\trefs/heads/") {
            branches.push(name.to_owned());
        }
    })?;
    if !answer.success() {
        return Err(RemoteFault::from_stderr(&answer.stderr));
    }
    Ok(match branches.as_slice() {
        [only] => BranchName::parse(only).map_err(|_| branches),
        _ => Err(branches),
    })
}
