//! The memory branch, read half: resolve a branch, fetch it, read its tree and blobs.
//!
//! Objects are read with libgit2; everything that speaks to a server runs the installed `git`, which knows proxies,
//! certificates and `insteadOf` (DESIGN §4). Nothing is ever checked out: a [`Snapshot`] hands out blobs by path, one
//! at a time and under a bound.
//!
//! ```no_run
//! use daybook_branch::{BranchName, Remote, Resolved};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let remote = Remote::new("https://git.example/team/memory", None)?;
//! let branch = BranchName::parse("ledgers/triage")?;
//! match remote.resolve(&branch)? {
//!     Resolved::Absent => println!("a new memory"),
//!     Resolved::At(commit) => println!("continues at {commit}"),
//! }
//! # Ok(())
//! # }
//! ```

mod access;
mod ancestry;
mod fault;
pub mod git;
mod ledger;
mod merge;
mod oid;
mod remote;
mod snapshot;
mod stop;
mod tree;

pub use access::Token;
pub use daybook_core::config::BranchName;
pub use fault::{FaultKind, RemoteFault};
pub use ledger::{LedgerTree, UnusableState};
pub use merge::{MergeFault, merge_texts};
pub use oid::{NotAnOid, Oid};
pub use remote::{Remote, Resolved, reference};
pub use snapshot::{ReadFault, Snapshot};
pub use tree::{Entry, EntryKind, TreeBounds};
