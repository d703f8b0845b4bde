//! The query language of `ledger_query`: at most eight filters on payload members, a type, and pages in ascending order
//! of the records' digests (§5.2).
//!
//! [`Query::matches`] is the meaning of a query. A database that answers faster compares keys instead
//! ([`key`](self::key)) and has to give the same answer.
//!
//! ```
//! use daybook_core::query::Query;
//! use daybook_core::json;
//!
//! let query = Query::parse(&json::parse(br#"{"type":"note","where":{"payload.issue":{"gte":7}}}"#)?)?;
//! assert_eq!((query.limit(), query.filters().len()), (100, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod condition;
pub mod field;
pub mod key;
mod parse;

pub use condition::{Condition, Operand, Order};
pub use field::FieldPath;
pub use parse::QueryFault;

use crate::digest::Digest;
use crate::json::Value;
use crate::record::Record;

/// Most rows of a page.
pub const MAX_LIMIT: usize = 500;
/// Rows of a page where the query names no limit.
pub const DEFAULT_LIMIT: usize = 100;
/// Most filters of a query.
pub const MAX_FILTERS: usize = 8;
/// Most values of an `in`.
pub const MAX_ALTERNATIVES: usize = 32;
/// Most bytes of a condition in canonical form.
pub const MAX_CONDITION_BYTES: usize = 1024;

/// The names of a query's members.
pub const MEMBERS: [&str; 4] = ["type", "where", "limit", "after"];

/// One condition on one member of the payload.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The member.
    pub path: FieldPath,
    /// What it must meet.
    pub condition: Condition,
}

/// A checked query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    kind: Option<String>,
    filters: Vec<Filter>,
    after: Option<Digest>,
    limit: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self { kind: None, filters: Vec::new(), after: None, limit: DEFAULT_LIMIT }
    }
}

impl Query {
    /// Reads the arguments `type`, `where`, `limit` and `after`, all of which may be absent. Anything else is refused.
    ///
    /// # Errors
    /// The first rule that an argument breaks.
    pub fn parse(arguments: &Value) -> Result<Self, QueryFault> {
        parse::query(arguments)
    }

    /// Whether a record is among the rows, wherever the page begins and ends.
    #[must_use]
    pub fn matches(&self, record: &Record) -> bool {
        self.kind.as_deref().is_none_or(|kind| record.kind() == kind)
            && self.filters.iter().all(|filter| {
                let found = filter.path.find(record.payload_text());
                filter.condition.holds(found.as_deref())
            })
    }

    /// The type that rows must have.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The conditions that rows must meet, all of them.
    #[must_use]
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Rows have digests above this one.
    #[must_use]
    pub const fn after(&self) -> Option<Digest> {
        self.after
    }

    /// Most rows of the page, 1 to [`MAX_LIMIT`].
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The page that begins after `after`.
    #[must_use]
    pub fn continued(&self, after: Digest) -> Self {
        Self { after: Some(after), ..self.clone() }
    }
}
