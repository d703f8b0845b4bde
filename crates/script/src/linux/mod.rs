//! The sandbox of Linux: a launcher that gives up its rights and becomes Node, and the process that watches it.

mod files;
mod launch;
mod resources;
mod syscalls;
mod watch;

pub(crate) use launch::launch;
pub(crate) use watch::run;
