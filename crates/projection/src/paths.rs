//! The payload paths that queries use: for each, one key a record.

use daybook_core::query::{FieldPath, Filter};
use rusqlite::{Connection, params};

use crate::ProjectionFault;
use crate::row::key_at;

/// Most paths that have keys at a time; the one unused for longest gives way. A query has at most eight.
const MAX_PATHS: usize = 32;

/// The paths in use, the last used last.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    known: Vec<(i64, FieldPath)>,
    last: i64,
}

impl Paths {
    /// The paths with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, &FieldPath)> {
        self.known.iter().map(|(number, path)| (*number, path))
    }

    /// The number of a path that is in use.
    pub(crate) fn number(&self, path: &FieldPath) -> i64 {
        self.iter().find(|(_, known)| *known == path).map_or(0, |(number, _)| number)
    }

    /// Makes sure that every path of a query has its keys.
    pub(crate) fn use_all(&mut self, database: &Connection, filters: &[Filter]) -> Result<(), ProjectionFault> {
        for Filter { path, .. } in filters {
            match self.known.iter().position(|(_, known)| known == path) {
                Some(place) => {
                    let used = self.known.remove(place);
                    self.known.push(used);
                }
                None => {
                    if self.known.len() >= MAX_PATHS {
                        let (unused, _) = self.known.remove(0);
                        database.prepare_cached("DELETE FROM fields WHERE path = ?")?.execute([unused])?;
                    }
                    self.last += 1;
                    fill(database, self.last, path)?;
                    self.known.push((self.last, path.clone()));
                }
            }
        }
        Ok(())
    }
}

fn fill(database: &Connection, number: i64, path: &FieldPath) -> Result<(), ProjectionFault> {
    database.prepare_cached("BEGIN")?.execute([])?;
    {
        let mut insert = database.prepare_cached("INSERT INTO fields (path, record, key, sha) VALUES (?, ?, ?, ?)")?;
        let mut records = database.prepare_cached("SELECT number, sha, payload FROM records ORDER BY number")?;
        let mut rows = records.query([])?;
        while let Some(row) = rows.next()? {
            let payload = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            if let Some(key) = key_at(path, payload) {
                let sha = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
                insert.execute(params![number, row.get::<_, i64>(0)?, key, sha])?;
            }
        }
    }
    database.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}
