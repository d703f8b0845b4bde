//! A progress bar for work that takes long, on a terminal's standard error only.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use daybook_store::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that appears when work takes long.
pub(crate) struct Bar {
    since: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Bar {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), bar: OnceLock::new() }
    }

    /// Tells how far the work is.
    pub(crate) fn advance(&self, progress: Progress) {
        if self.since.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            // The draw target hides itself where standard error is no terminal.
            ProgressBar::with_draw_target(Some(progress.of as u64), ProgressDrawTarget::stderr_with_hz(10))
        });
        bar.set_position(progress.shards as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
