//! The memory branch, write half: one commit, pushed only if the branch is still where it was.
//!
//! [`publish`] builds the commit in the private repository of a [`daybook_branch::Snapshot`] and pushes it with the
//! fetched head as the expected one, so that two writers can never overwrite each other (DESIGN §4). The answer is a
//! [`Verdict`]; after [`Verdict::Unknown`], [`landed`] has to be asked before anything else is tried.
//!
//! ```no_run
//! use std::collections::BTreeMap;
//! use daybook_branch::{BranchName, Remote};
//! use daybook_core::MemoryPath;
//! use daybook_publish::{Transition, Verdict, publish};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let snapshot = Remote::new("/srv/memory.git", None)?.fetch(&BranchName::parse("memory/notes")?)?;
//! let mut transition = Transition::on(snapshot.head(), "a note");
//! transition.put(MemoryPath::parse("note.txt")?, b"hello".to_vec());
//! match publish(&snapshot, &transition)?.verdict {
//!     Verdict::Done => println!("landed"),
//!     Verdict::Moved => println!("somebody was faster: fetch and decide again"),
//!     Verdict::Denied(denial) => println!("{denial}"),
//!     Verdict::Unknown(_) => println!("look before doing anything else"),
//! }
//! # Ok(())
//! # }
//! ```

mod denial;
mod push;
mod stop;
mod transition;

pub use denial::Denial;
pub use push::{Publication, Verdict, landed, publish};
pub use transition::{PublishFault, Transition};
