//! Ledgers shown to people: rows of records, filters, the drawn graph, how full a ledger is, and the report page.
//!
//! Everything here makes text or JSON of values that were read elsewhere: records, a clock value and a style come in,
//! no file is touched. Payloads are data: what hides or reorders text is written as an escape.
//!
//! ```
//! use daybook_core::timestamp::to_unix_millis;
//! use daybook_view::age::ago;
//!
//! let now = to_unix_millis("2026-03-04T12:00:01.000Z").unwrap();
//! assert_eq!(ago("2026-03-01T12:00:01.000Z", now), "3 days ago");
//! ```

pub mod age;
pub mod filter;
pub mod graph;
pub mod newest;
pub mod page;

pub mod pretty;
pub mod row;
pub mod status;
pub mod style;
