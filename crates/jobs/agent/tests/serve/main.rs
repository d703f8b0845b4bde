//! The server as its own process, driven over its pipes.

mod append;
mod hostile;
mod query;
mod support;
mod walk;
