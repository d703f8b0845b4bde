//! What queries answer.

use daybook_core::query::FieldPath;

/// One record, as the database keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `sha256:` and 64 digits.
    pub sha: String,
    /// The identity.
    pub id: String,
    /// The type.
    pub kind: String,
    /// The instant.
    pub timestamp: String,
    /// A JSON array of digests.
    pub parents: String,
    /// The payload's canonical text.
    pub payload: String,
    batch: i64,
}

/// Rows, and whether more match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// At most as many as the query's limit.
    pub rows: Vec<Row>,
    /// Whether the page was cut at the limit.
    pub more: bool,
}

/// Where in the order of time a row stands, as far as this projection knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The batch with which it came.
    pub batch: i64,
    /// Its instant.
    pub timestamp: String,
    /// Its digest.
    pub sha: String,
}

impl Row {
    /// The row's place in the order of time.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { batch: self.batch, timestamp: self.timestamp.clone(), sha: self.sha.clone() }
    }

    /// The columns that [`Row::read`] reads, in its order.
    pub(crate) const COLUMNS: &'static str = "r.sha, r.id, r.type, r.timestamp, r.parents, r.payload, r.batch";

    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            sha: row.get(0)?,
            id: row.get(1)?,
            kind: row.get(2)?,
            timestamp: row.get(3)?,
            parents: row.get(4)?,
            payload: row.get(5)?,
            batch: row.get(6)?,
        })
    }
}

/// The key of the value that a path finds in a payload.
pub(crate) fn key_at(path: &FieldPath, payload: &str) -> Option<Vec<u8>> {
    path.find(payload).map(|found| daybook_core::query::key::of(&found))
}
