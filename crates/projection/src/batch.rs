//! Adding records.

use daybook_core::Record;
use rusqlite::{Connection, params};

use crate::ProjectionFault;
use crate::paths::Paths;
use crate::row::key_at;

/// Records that become visible together.
#[derive(Debug)]
pub struct Batch<'a> {
    database: &'a Connection,
    paths: &'a Paths,
    ledger: &'a str,
    number: i64,
}

impl<'a> Batch<'a> {
    pub(crate) fn begin(
        database: &'a Connection,
        paths: &'a Paths,
        ledger: &'a str,
        number: i64,
    ) -> Result<Self, ProjectionFault> {
        database.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self { database, paths, ledger, number })
    }

    /// Adds a record; one that is there already changes nothing.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn add(&mut self, record: &Record) -> Result<(), ProjectionFault> {
        let sha = record.sha().to_string();
        let payload = record.payload_text();
        let inserted = self
            .database
            .prepare_cached(
                "INSERT OR IGNORE INTO records (ledger, sha, id, type, timestamp, parents, payload, batch) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                self.ledger,
                sha,
                record.id().to_string(),
                record.kind(),
                record.timestamp(),
                parents(record),
                payload,
                self.number
            ])?;
        if inserted == 0 {
            return Ok(());
        }
        let number = self.database.last_insert_rowid();
        for (path, field) in self.paths.iter() {
            if let Some(key) = key_at(field, payload) {
                self.database
                    .prepare_cached("INSERT INTO fields (path, record, key, sha) VALUES (?, ?, ?, ?)")?
                    .execute(params![path, number, key, sha])?;
            }
        }
        Ok(())
    }

    /// Makes the records visible.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn finish(self) -> Result<(), ProjectionFault> {
        self.database.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

/// The parents as a JSON array: digests need no escapes.
fn parents(record: &Record) -> String {
    let quoted: Vec<String> = record.parents().iter().map(|parent| format!("\"{parent}\"")).collect();
    format!("[{}]", quoted.join(","))
}
