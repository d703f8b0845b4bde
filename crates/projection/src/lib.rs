//! A database over the records of a ledger: built from them on first use, extended as they come, thrown away at the end
//! (§2: projections are disposable).
//!
//! What a query means is [`daybook_core::query::Query::matches`]; this answers the same from indexes. For each payload
//! path that queries use, the database holds one key a record, whose order as bytes is the order that conditions ask
//! for. No text of a caller ever becomes a part of a statement.
//!
//! ```
//! use daybook_core::{Record, query::Query};
//! use daybook_projection::Projection;
//!
//! let line = br#"{"id":"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52","parents":[],"payload":{"a":1},"sha":"sha256:77fa2bb1e26b49905c9d410de2d5edde34320a6470619115ba246372f99384f1","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":1}"#;
//! let mut projection = Projection::temporary()?;
//! let mut batch = projection.batch("triage")?;
//! batch.add(&Record::parse(line)?)?;
//! batch.finish()?;
//! assert_eq!(projection.page(&Query::default())?.rows.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod paths;
mod row;
mod schema;
mod select;

use std::path::Path;

use daybook_core::query::Query;
use rusqlite::{Connection, OpenFlags};

pub use batch::Batch;
pub use row::{Page, Place, Row};

use paths::Paths;
use select::Sequence;

/// The database failed. It holds nothing that is not in the shards: throw the projection away.
#[derive(Debug, thiserror::Error)]
#[error("the projection cannot be built or read")]
pub struct ProjectionFault(#[from] rusqlite::Error);

/// Statements kept ready.
const STATEMENTS: usize = 64;

/// The database. After any error, and after a batch that was not finished, it must be thrown away.
// DB-5.1-02
#[derive(Debug)]
pub struct Projection {
    database: Connection,
    paths: Paths,
    batches: i64,
}

impl Projection {
    /// An empty projection in a file without a name, which grows beyond memory when it has to and is gone with the
    /// process.
    ///
    /// # Errors
    /// Where the database cannot be made.
    pub fn temporary() -> Result<Self, ProjectionFault> {
        Self::open(Path::new(""))
    }

    /// An empty projection in a new file.
    ///
    /// # Errors
    /// Where the database cannot be made.
    pub fn in_file(path: &Path) -> Result<Self, ProjectionFault> {
        Self::open(path)
    }

    fn open(path: &Path) -> Result<Self, ProjectionFault> {
        // Without the URI flag a name is a name, whatever it begins with.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(path, flags)?;
        database.set_prepared_statement_cache_capacity(STATEMENTS);
        database.execute_batch(schema::SET_UP)?;
        Ok(Self { database, paths: Paths::default(), batches: 0 })
    }

    /// Begins to add records of one ledger.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn batch<'a>(&'a mut self, ledger: &'a str) -> Result<Batch<'a>, ProjectionFault> {
        self.batches += 1;
        Batch::begin(&self.database, &self.paths, ledger, self.batches)
    }

    /// One page in ascending order of digests (§5.2).
    ///
    /// # Errors
    /// Where the database fails.
    // DB-5.2-04, DB-5.2-05, DB-5.2-06
    pub fn page(&mut self, query: &Query) -> Result<Page, ProjectionFault> {
        self.paths.use_all(&self.database, query.filters())?;
        select::run(&self.database, &self.paths, query, &Sequence::BySha)
    }

    /// The last rows in the order in which they came to be known, oldest first. Within a batch that is the order of
    /// their instants.
    ///
    /// # Errors
    /// Where the database fails.
    // DB-B-18
    pub fn latest(&mut self, query: &Query) -> Result<Page, ProjectionFault> {
        self.in_time(query, &Sequence::Latest)
    }

    /// The first rows that came to be known after the row at `place`, oldest first; none that comes later is missed.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn since(&mut self, query: &Query, place: &Place) -> Result<Page, ProjectionFault> {
        self.in_time(query, &Sequence::Since(place))
    }

    fn in_time(&mut self, query: &Query, sequence: &Sequence<'_>) -> Result<Page, ProjectionFault> {
        self.paths.use_all(&self.database, query.filters())?;
        self.database.execute_batch(schema::BY_TIME)?;
        select::run(&self.database, &self.paths, query, sequence)
    }

    /// Completes a file for its readers: the indexes they want, without what only this process needs.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn finish(self) -> Result<(), ProjectionFault> {
        self.database.execute_batch(schema::COMPLETE)?;
        self.database.close().map_err(|(_, error)| error.into())
    }
}
