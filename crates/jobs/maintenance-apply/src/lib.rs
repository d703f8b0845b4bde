//! The maintenance apply job: proves a plan against the branch as it is now, and applies it as one commit (§5.3, DESIGN
//! §3).
//!
//! The plan is hostile input, and no script of an author can run here: this binary links no way to start one. Whatever
//! is not proven leaves the branch as it was.

mod apply;
mod args;
mod head;
mod stop;
mod tell;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use daybook_branch::{Remote, Token};
use daybook_compaction::{Bounds, CheckedPlan, MAX_PLAN_BYTES, PlanFault, RawPlan, Target};
use daybook_core::config::{Compaction, Config, LedgerConfig, MemoryConfig};
use daybook_runner::{Exit, Report, files, parse_args, summary, without_panic_texts};

use crate::apply::{Application, Run};
use crate::args::Args;
use crate::stop::Stop;

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

/// The ledger that the job is about, with its memory and how it is compacted.
fn configured<'a>(
    config: &'a Config,
    name: &str,
) -> Result<(&'a LedgerConfig, &'a MemoryConfig, &'a Compaction), Stop> {
    let usage = |code, message: &str| Stop::new(Exit::Usage, code, message);
    let ledger = config.ledger(name).ok_or_else(|| usage("ledger-unknown", "the configuration has no such ledger"))?;
    let memory = config.memory_of(ledger).ok_or_else(|| usage("ledger-unknown", "the ledger has no memory"))?;
    let settings = ledger.compaction.as_ref().ok_or_else(|| usage("compaction-off", "the ledger is not compacted"))?;
    Ok((ledger, memory, settings))
}

fn attempt(args: &Args, report: &mut Report, application: &mut Application) -> Result<(), Stop> {
    let begun = Instant::now();
    let config = args.config.load().map_err(|error| Stop::new(Exit::Usage, error.code(), error.to_string()))?;
    let (ledger, memory, settings) = configured(&config, &args.ledger)?;
    let url = args.remote.clone().or_else(Remote::url_from_environment).ok_or_else(|| {
        Stop::new(
            Exit::Usage,
            "remote-missing",
            "no remote: give --remote URL, or set GITHUB_SERVER_URL and GITHUB_REPOSITORY",
        )
    })?;
    let target = Target {
        ledger: ledger.name.as_str(),
        branch: memory.branch.as_str(),
        bounds: Bounds::of(&ledger.limits, settings),
    };
    let plan = read_plan(args, &target)?;
    application.plan_id = Some(plan.plan_id());
    report.read(format!("plan {}, made on commit {}", plan.plan_id(), plan.base_commit()));
    let run = Run {
        remote: Remote::new(&url, Token::from_environment(args.token_env.as_deref())?)?,
        branch: &memory.branch,
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
        .map_err(|fault| Stop::new(Exit::Io, "plan-unreadable", format!("the plan is {fault}")))?;
    if content.more {
        return Err(Stop::rejected(PlanFault::TooLarge.into()));
    }
    RawPlan::new(&content.bytes).and_then(|plan| plan.check(target)).map_err(|fault| Stop::rejected(fault.into()))
}
