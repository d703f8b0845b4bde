//! What the launcher is told to start, and what became of it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The first argument by which a program knows that it is to be the launcher.
pub(crate) const LAUNCHER: &str = "__script-launcher";

/// One process to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// The Node binary.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// The folder that it may read besides what Node needs.
    pub(crate) tree: Option<PathBuf>,
    pub(crate) cpu_seconds: u64,
    /// Bytes of private memory that may be written to.
    pub(crate) data_bytes: u64,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Why it was killed, where it was.
    pub(crate) cut: Option<Cut>,
    /// What was written to the answer channel.
    pub(crate) answer: Vec<u8>,
    /// What was printed.
    pub(crate) output: Vec<u8>,
    pub(crate) took: Duration,
}

/// A bound that the process went over while it was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(dead_code, reason = "nothing is started there")
)]
pub(crate) enum Cut {
    Time,
    Output,
    Answer,
}
