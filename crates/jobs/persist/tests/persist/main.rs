//! The persist job as its own process against real remotes.

mod faults;
mod files;
mod hostile;
mod land;
mod script;
mod support;
mod web;
