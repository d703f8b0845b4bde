//! How much a script may use.

use std::time::Duration;

/// The bounds of one run. Child processes, sockets and written bytes need none: there are none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from the start of Node to its end.
    pub wall: Duration,
    /// Seconds of processor time, of all threads together.
    pub cpu_seconds: u64,
    /// Bytes of memory that the process may fill: heap, array buffers and stacks together. What Node maps at its start
    /// and leaves empty is not counted. Node itself needs about 64 MiB.
    pub memory_bytes: u64,
    /// Bytes that it may print, on standard output and standard error together.
    pub output_bytes: usize,
    /// Bytes of its answer.
    pub answer_bytes: usize,
}

impl Default for Limits {
    /// 60 seconds of both kinds, 512 MiB, 64 KiB of output and 64 KiB of answer.
    fn default() -> Self {
        Self::within(Duration::from_secs(60))
    }
}

impl Limits {
    /// The default bounds, with another limit of time.
    #[must_use]
    pub fn within(wall: Duration) -> Self {
        Self {
            wall,
            cpu_seconds: wall.as_secs().max(1),
            memory_bytes: 512 * 1024 * 1024,
            output_bytes: 64 * 1024,
            answer_bytes: 64 * 1024,
        }
    }
}
