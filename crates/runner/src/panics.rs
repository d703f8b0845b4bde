//! A bug must not tell an agent anything.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use crate::Exit;

/// Runs an agent-facing job. A panic in it ends the process with [`Exit::Internal`] and one fixed sentence: its
/// message could hold a path or a payload.
pub fn without_panic_texts(name: &'static str, job: impl FnOnce() -> Exit) -> Exit {
    set_hook(Box::new(move |_| eprintln!("{name}: internal error")));
    catch_unwind(AssertUnwindSafe(job)).unwrap_or(Exit::Internal)
}
