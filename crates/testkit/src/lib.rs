//! Record builders, oracles, hostile corpora and harnesses for Daybook's tests.

pub mod trust;
pub mod git;
pub mod vectors;
