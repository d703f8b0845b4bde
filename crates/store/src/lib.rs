//! The shard directory of a ledger on disk: hardened open, scan, append, publish (§2 file rules, DESIGN §1).
//!
//! Every file is reached from a directory descriptor that is held open; no path is ever made of content, no symbolic
//! link is followed at any level, and only regular files are read. A mutation is acknowledged after its file and its
//! directory are on disk.

mod candidate;
mod error;
mod folder;
mod index;
mod open;
mod scan;
mod shards;
pub mod staged;
mod verbs;
mod watch;
mod writer;

pub use candidate::write_candidate;
pub use error::StoreError;
pub use folder::{FolderLock, MemoryFolder};
pub use index::FolderIndex;
pub use scan::{Progress, scan_folder, scan_folder_noting};
pub use shards::{Listing, ShardFolder};
pub use verbs::Published;
pub use writer::{AppendError, Appended, NewRecord, Writer};
