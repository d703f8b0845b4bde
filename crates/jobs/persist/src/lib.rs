//! The persist job: takes what a run staged, keeps what is sound and new, and lands it on the memory branches (§5.1,
//! §6, DESIGN §3).
//!
//! Nothing that was staged is believed. The verdict of detection is bound to bytes; records pass the rules of writers
//! and are written into shards of our own making; a branch is only ever pushed onto the head that was looked at.

mod args;
mod files;
mod gate;
mod graph;
mod head;
mod land;
mod merge;
mod refusals;
mod select;
mod staged;
mod tell;
mod tell_files;
mod validation;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use daybook_branch::Remote;
use daybook_runner::{Exit, Report, Severity, Stop, parse_args, plain, summary, without_panic_texts};
pub use daybook_script::launcher;

use crate::args::Args;
use crate::gate::Gate;
use crate::land::{Landing, Run, land};

/// Longest run id in a commit message, in characters.
const MAX_RUN_ID: usize = 200;

/// Runs the job. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    without_panic_texts("daybook-persist", || match parse_args(args) {
        Ok(args) => all(&args),
        Err(exit) => exit,
    })
}

fn all(args: &Args) -> Exit {
    let mut report = Report::new(Exit::Ok);
    let landings = persist(args, &mut report).unwrap_or_else(|stop| {
        stop.tell(Severity::Error, &mut report).decided("nothing was persisted");
        stop.log();
        Vec::new()
    });
    if !landings.is_empty() {
        tell::all(&mut report, &landings);
    }
    if summary::append(&tell::markdown(&report, &landings)).is_err() {
        report.warning("summary-unwritable", "the step summary cannot be written");
    }
    report.emit(&args.common)
}

fn persist(args: &Args, report: &mut Report) -> Result<Vec<Landing>, Stop> {
    let config = args.config.load()?;
    let remote = Remote::of_args(&args.remote)?;
    let gate = Gate::open(args, &config, report)?;
    let run = Run {
        remote: &remote,
        id: plain(&args.run_id, MAX_RUN_ID),
        begun: Instant::now(),
        budget: Duration::from_secs(args.time_budget_seconds),
    };
    // All bytes are compared before the first push: a run is not half refused because one file was exchanged.
    let tars = config.memories().iter().map(|memory| gate.tar(memory.id.as_str())).collect::<Result<Vec<_>, Stop>>()?;
    let staged = config.memories().iter().zip(tars);
    Ok(staged.map(|(memory, tar)| land(&run, &gate, memory, config.ledger_in(memory.id.as_str()), tar)).collect())
}
