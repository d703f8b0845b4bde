//! The persist job as its own process against real remotes.

mod hostile;
mod land;
mod support;
mod web;
