//! The proof against random histories, damaged shards and plans that somebody else wrote.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where its data is not as expected"
)]

mod history;
mod hostile;
mod retire;
mod support;
mod tiers;
