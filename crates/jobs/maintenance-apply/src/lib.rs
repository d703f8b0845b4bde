//! The maintenance apply job: proves a plan against the branch as it is now, and applies it as one commit (§5.3, DESIGN
//! §3).
//!
//! The plan is hostile input, and no script of an author can run here: this binary links no way to start one. Whatever
//! is not proven leaves the branch as it was.

mod apply;
mod args;
mod stop;
mod tell;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use daybook_branch::Remote;
use daybook_compaction::{CheckedPlan, MAX_PLAN_BYTES, PlanFault, RawPlan, Target};
use daybook_runner::{Exit, Report, Stop, files, parse_args, summary, without_panic_texts};

use crate::apply::{Application, Run};
use crate::args::Args;

/// Runs the job. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    without_panic_texts("daybook-maintenance-apply", || match parse_args(args) {
        Ok(args) => all(&args),
        Err(exit) => exit,
    })
}

fn all(args: &Args) -> Exit {
    let mut report = Report::new(Exit::Ok);
    let mut application = Application::default();
    if let Err(stop) = attempt(args, &mut report, &mut application) {
        tell::stopped(&mut report, &stop);
        stop.log();
    }
    tell::counts(&mut report, &application);
    if summary::append(&tell::markdown(&report, &application)).is_err() {
        report.warning("summary-unwritable", "the step summary cannot be written");
    }
    report.emit(&args.common)
}

fn attempt(args: &Args, report: &mut Report, application: &mut Application) -> Result<(), Stop> {
    let begun = Instant::now();
    let config = args.config.load()?;
    let compacted = config.compacted(&args.ledger)?;
    let target = Target::of(&compacted);
    let remote = Remote::of_args(&args.remote)?;
    let plan = read_plan(args, &target)?;
    application.plan_id = Some(plan.plan_id());
    report.read(format!("plan {}, made on commit {}", plan.plan_id(), plan.base_commit()));
    let run = Run {
        remote,
        branch: &compacted.memory.branch,
        target,
        plan,
        begun,
        budget: Duration::from_secs(args.time_budget_seconds),
    };
    apply::apply(&run, report, application)
}

/// The plan, held to every rule that needs no shard; nothing was asked of the remote yet.
fn read_plan(args: &Args, target: &Target<'_>) -> Result<CheckedPlan, Stop> {
    let content = files::read(&args.plan, MAX_PLAN_BYTES as u64)
        .map_err(|fault| Stop::io("plan-unreadable", format!("the plan is {fault}")))?;
    if content.more {
        return Err(stop::rejected(PlanFault::TooLarge.into()));
    }
    RawPlan::new(&content.bytes).and_then(|plan| plan.check(target)).map_err(|fault| stop::rejected(fault.into()))
}
