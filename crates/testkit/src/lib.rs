//! Record builders, oracles, hostile corpora and harnesses for Daybook's tests.

pub mod api;
pub mod codes;
pub mod git;
pub mod hostile;
pub mod job;
pub mod ledgers;
pub mod mcp;
pub mod oracle;
pub mod plans;
pub mod random;
pub mod requirements;
pub mod said;
pub mod sources;
pub mod trust;
pub mod vectors;
pub mod web;
