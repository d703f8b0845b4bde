//! Record builders, oracles, hostile corpora and harnesses for Daybook's tests.

pub mod ledgers;
pub mod oracle;
pub mod random;
pub mod vectors;
