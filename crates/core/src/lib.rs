//! Canonical records, shards and the record DAG of a Daybook ledger.
//!
//! Everything that decides whether bytes may be believed lives here, and nothing here touches a file, a clock or a
//! network: bytes, limits, clock values and ids come in as arguments.
//!
//! ```
//! use daybook_core::{Ledger, Limits, ShardId};
//!
//! let line = br#"{"id":"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52","parents":[],"payload":{"a":1},"sha":"sha256:77fa2bb1e26b49905c9d410de2d5edde34320a6470619115ba246372f99384f1","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":1}"#;
//! let shard = ShardId::from_text("00000000-0000-4000-8000-000000000001").unwrap();
//! let mut ledger = Ledger::builder(Limits::default().max_shards());
//! ledger.add_shard(shard, &[line.as_slice(), b"\n", b"not a record\n"].concat());
//! let ledger = ledger.finish();
//! assert_eq!((ledger.len(), ledger.heads().len(), ledger.diagnostics().total()), (1, 1, 1));
//! ```

pub mod baseline;
pub mod config;
pub mod detection;
pub mod diagnostic;
pub mod digest;
pub mod event;
pub mod ids;
pub mod index;
pub mod json;
pub mod known;
pub mod ledger;
pub mod limits;
pub mod line;
pub mod name;
pub mod path;
pub mod policy;
pub mod query;
pub mod record;
pub mod rules;
pub mod schema;
pub mod segment;
pub mod shard;
pub mod shards;
pub mod state;
pub mod timestamp;

pub use digest::{Digest, Hasher};
pub use ids::{RecordId, ShardId};
pub use ledger::Ledger;
pub use limits::Limits;
pub use line::{CheckedLine, LineFault};
pub use path::{MemoryPath, PathFault};
pub use record::{Draft, Record, Unrepresentable, WriteFault};
