//! The persist job: validates staged memories and pushes them to the memory branch.
