//! The shard directory of a ledger on disk: hardened open, scan, append, publish.

pub mod staged;
