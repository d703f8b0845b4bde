//! What the kernel enforces on a script.

use serde::{Deserialize, Serialize};

/// Lowest version of Landlock that is accepted. Before it (Linux 6.2) a file that may be read may also be truncated.
pub const MIN_LANDLOCK: u32 = 3;

/// What a sandbox was made of. Whatever is not named here is always there, or the script does not start: the filter of
/// system calls, the bounds on resources, an empty environment, no capabilities, and Node's own permission model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// The version of Landlock, at least [`MIN_LANDLOCK`]: every access to files that it knows is refused, but for
    /// reading what was granted.
    pub landlock: u32,
    /// Whether Landlock refuses TCP too (from version 4), behind the filter, which refuses sockets of every kind.
    pub tcp: bool,
    /// Whether Landlock refuses signals to others too (from version 6), behind the filter, which does so as well.
    pub signals: bool,
}

impl std::fmt::Display for Strength {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "seccomp and Landlock {}", self.landlock)?;
        let also: Vec<&str> = [(self.tcp, "TCP"), (self.signals, "signals")]
            .into_iter()
            .filter_map(|(enforced, what)| enforced.then_some(what))
            .collect();
        if also.is_empty() { Ok(()) } else { write!(formatter, " (files, {})", also.join(", ")) }
    }
}
