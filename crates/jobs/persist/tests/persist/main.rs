//! The persist job as its own process against real remotes.

mod files;
mod hostile;
mod land;
mod script;
mod support;
mod web;
