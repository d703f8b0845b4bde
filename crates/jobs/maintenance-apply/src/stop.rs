//! Why the job ends without having applied anything.

use daybook_compaction::{Conflict, Forgery, Stale};
use daybook_runner::{Exit, Stop};

/// The plan lies.
pub(crate) fn rejected(forgery: Forgery) -> Stop {
    Stop::refused(forgery.code(), forgery.to_string()).named("rejected")
}

pub(crate) fn stale(stale: Stale) -> Stop {
    Stop::new(Exit::Stale, "stale", format!("{stale}; the next run plans again"))
}

pub(crate) fn conflict(conflict: Conflict) -> Stop {
    Stop::new(Exit::Stale, "conflict", format!("{conflict}; the next run plans again")).named("conflict")
}

pub(crate) fn contended(attempts: u32) -> Stop {
    let message =
        format!("the branch moved on all {attempts} attempts within the time budget; the next run plans again");
    Stop::new(Exit::Contended, "contended", message)
}
