//! The maintenance plan job: reads a ledger's branch and says which of its shards could become one (§5.3, DESIGN §3).
//!
//! It holds a read token and is not trusted: the plan that it writes is a proposal, which the apply job proves or
//! refuses. Only here may an author's selection script run (§4.2).

mod args;
mod head;
mod propose;
mod tell;

use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use daybook_branch::Remote;
use daybook_compaction::{Plan, Stamp, Target};
use daybook_core::config::Compaction;
use daybook_core::state::{self, Trigger};
use daybook_core::timestamp;
use daybook_runner::{Exit, Report, Severity, Stop, parse_args, summary, without_panic_texts};

use crate::args::Args;
use crate::head::Head;

/// Runs the job. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    without_panic_texts("daybook-maintenance-plan", || match parse_args(args) {
        Ok(args) => all(&args),
        Err(exit) => exit,
    })
}

fn all(args: &Args) -> Exit {
    let mut report = Report::new(Exit::Ok);
    let plan = attempt(args, &mut report).unwrap_or_else(|stop| {
        stop.tell(Severity::Error, &mut report).decided("nothing was planned");
        stop.log();
        None
    });
    if summary::append(&tell::markdown(&report, plan.as_ref())).is_err() {
        report.warning("summary-unwritable", "the step summary cannot be written");
    }
    report.emit(&args.common)
}

fn attempt(args: &Args, report: &mut Report) -> Result<Option<Plan>, Stop> {
    let config = args.config.load()?;
    let compacted = config.compacted(&args.ledger)?;
    let target = Target::of(&compacted);
    let remote = Remote::of_args(&args.remote)?;
    // What an earlier step left under this name is no plan of ours.
    match fs::remove_file(&args.out) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(&error)),
        _ => {}
    }
    let trigger = args.trigger.into();
    let snapshot = remote.fetch(&compacted.memory.branch)?;
    let Some(commit) = snapshot.head() else {
        report.read(format!("branch {} does not exist", target.branch));
        report.set_outcome("nothing_to_do", Exit::Ok).decided("there is no ledger yet");
        return Ok(None);
    };
    let head = Head::read(&snapshot, target.ledger, &compacted.ledger.limits, report)?;
    let (now, created_at) = clock()?;
    if !is_due(&head, compacted.settings, trigger, now, report) {
        report.set_outcome("not_due", Exit::Ok).decided("compaction is not due");
        return Ok(None);
    }
    let stamp = Stamp { trigger, created_at: &created_at, base_commit: &commit.to_string() };
    let planned = match &compacted.settings.script {
        Some(script) => {
            propose::by_script(script, args.node.as_deref(), compacted.settings, &target, &stamp, &head, report)?
        }
        None => Plan::choose(&target, &stamp, head.facts(), head.tree())?,
    };
    match planned {
        Ok(plan) => {
            fs::write(&args.out, plan.to_bytes()).map_err(|error| unwritable(&error))?;
            tell::planned(report, &plan, &head);
            Ok(Some(plan))
        }
        Err(nothing) => {
            report.set_outcome("nothing_to_do", Exit::Ok).note(nothing.code(), &nothing.to_string());
            report.decided("nothing is worth compacting");
            Ok(None)
        }
    }
}

/// Whether the schedule, or somebody, asks for it.
fn is_due(head: &Head<'_>, settings: &Compaction, trigger: Trigger, now: i64, report: &mut Report) -> bool {
    let last = head.state().map(state::State::last_applied_at);
    let due = state::due(settings.schedule, last, now);
    if due.clock_is_wrong {
        report.warning("state-in-the-future", "the last compaction lies in the future; it counts as long ago");
    }
    trigger == Trigger::Requested || due.due
}

fn unwritable(error: &io::Error) -> Stop {
    Stop::io("plan-unwritable", "the plan cannot be written").with_private(error.to_string())
}

/// Milliseconds since 1970, and the instant as text.
fn clock() -> Result<(i64, String), Stop> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let millis = since.and_then(|since| i64::try_from(since.as_millis()).ok());
    millis
        .and_then(|millis| Some((millis, timestamp::from_unix_millis(millis)?)))
        .ok_or_else(|| Stop::io("clock", "the clock shows no time that a plan can carry"))
}
