//! A memory on its way from the agent's machine to persistence: one tar stream, never unpacked.
//!
//! The tar holds `files/<memory path>` for every regular file, in ascending order, and ends with `manifest.json`. What
//! could not be taken along is named in the manifest, so that its absence is never read as a deletion (DESIGN §3).
//! Merge writes the stream with [`Writer`]; trusted jobs read it with [`read`] and believe nothing in it.
//!
//! ```
//! use daybook_core::MemoryPath;
//! use daybook_store::staged::{Bounds, Writer, read};
//!
//! let mut writer = Writer::new(Vec::new(), "triage");
//! writer.add(&MemoryPath::parse("notes.md").unwrap(), b"hello")?;
//! writer.refuse("link", "not-regular");
//! let (tar, _) = writer.finish(true)?;
//!
//! let mut found = Vec::new();
//! let staged = read(tar.as_slice(), "triage", &Bounds::default(), |path, bytes| found.push((path, bytes)));
//! assert_eq!(found[0].1, b"hello");
//! assert!(staged.is_deleted(&MemoryPath::parse("old.md").unwrap()));
//! assert!(!staged.is_deleted(&MemoryPath::parse("link/inside.md").unwrap()));
//! # Ok::<(), std::io::Error>(())
//! ```

mod manifest;
mod read;
mod walk;
mod write;

pub use manifest::{Manifest, Refused};
pub use read::{Bounds, Staged, StagedRefusal, read};
pub use walk::{Found, Walk, walk};
pub use write::Writer;

/// Where files lie in the tar.
const FILES: &str = "files/";

/// The last entry of the tar.
const MANIFEST: &str = "manifest.json";

/// Most entries of one tar.
pub const MAX_ENTRIES: u64 = 10_000;

/// Largest file in a tar, in bytes; the largest that `max-file-size` may be.
pub const MAX_FILE_BYTES: u64 = 100 * 1024 * 1024;

/// Most bytes of all files in a tar.
pub const MAX_TOTAL_BYTES: u64 = 512 * 1024 * 1024;

/// Most refused entries that a manifest names; with more, the tar is not complete.
pub const MAX_REFUSED: usize = 1000;
