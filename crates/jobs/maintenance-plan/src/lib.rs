//! The maintenance plan job: reads a ledger's branch and says which of its shards could become one (§5.3, DESIGN §3).
//!
//! It holds a read token and is not trusted: the plan that it writes is a proposal, which the apply job proves or
//! refuses. Only here may an author's selection script run (§4.2).

mod args;
mod head;
mod propose;
mod stop;
mod tell;

use std::ffi::OsString;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use daybook_branch::{Remote, Token};
use daybook_compaction::{Bounds, Plan, Stamp, Target};
use daybook_core::config::{Compaction, Config, LedgerConfig, MemoryConfig};
use daybook_core::state::{self, Trigger};
use daybook_core::timestamp;
use daybook_runner::{Exit, Report, parse_args, summary, without_panic_texts};

use crate::args::Args;
use crate::head::Head;
use crate::stop::Stop;

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
        report.set_exit(stop.exit).error(stop.code, &stop.message).decided("nothing was planned");
        stop.log();
        None
    });
    if summary::append(&tell::markdown(&report, plan.as_ref())).is_err() {
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

fn attempt(args: &Args, report: &mut Report) -> Result<Option<Plan>, Stop> {
    let config = args.config.load().map_err(|error| Stop::new(Exit::Usage, error.code(), error.to_string()))?;
    let (ledger, memory, settings) = configured(&config, &args.ledger)?;
    let url = args.remote.clone().or_else(Remote::url_from_environment).ok_or_else(|| {
        Stop::new(
            Exit::Usage,
            "remote-missing",
            "no remote: give --remote URL, or set GITHUB_SERVER_URL and GITHUB_REPOSITORY",
        )
    })?;
    // What an earlier step left under this name is no plan of ours.
    match fs::remove_file(&args.out) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Stop::unwritable(&error)),
        _ => {}
    }
    let trigger = args.trigger.into();
    let remote = Remote::new(&url, Token::from_environment(args.token_env.as_deref())?)?;
    let snapshot = remote.fetch(&memory.branch)?;
    let Some(commit) = snapshot.head() else {
        report.read(format!("branch {} does not exist", memory.branch));
        report.set_outcome("nothing_to_do", Exit::Ok).decided("there is no ledger yet");
        return Ok(None);
    };
    let head = Head::read(&snapshot, &ledger.limits, report)?;
    let (now, created_at) = clock()?;
    if !is_due(&head, ledger.name.as_str(), settings, trigger, now, report) {
        report.set_outcome("not_due", Exit::Ok).decided("compaction is not due");
        return Ok(None);
    }
    let target = Target {
        ledger: ledger.name.as_str(),
        branch: memory.branch.as_str(),
        bounds: Bounds::of(&ledger.limits, settings),
    };
    let stamp = Stamp { trigger, created_at: &created_at, base_commit: &commit.to_string() };
    let planned = match &settings.script {
        Some(script) => propose::by_script(script, args.node.as_deref(), settings, &target, &stamp, &head, report)?,
        None => Plan::choose(&target, &stamp, head.facts(), &head)?,
    };
    match planned {
        Ok(plan) => {
            fs::write(&args.out, plan.to_bytes()).map_err(|error| Stop::unwritable(&error))?;
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
fn is_due(
    head: &Head<'_>,
    ledger: &str,
    settings: &Compaction,
    trigger: Trigger,
    now: i64,
    report: &mut Report,
) -> bool {
    let last = head.state(ledger, report).map(state::State::last_applied_at);
    let due = state::due(settings.schedule, last, now);
    if due.clock_is_wrong {
        report.warning("state-in-the-future", "the last compaction lies in the future; it counts as long ago");
    }
    trigger == Trigger::Requested || due.due
}

/// Milliseconds since 1970, and the instant as text.
fn clock() -> Result<(i64, String), Stop> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let millis = since.and_then(|since| i64::try_from(since.as_millis()).ok());
    millis
        .and_then(|millis| Some((millis, timestamp::from_unix_millis(millis)?)))
        .ok_or_else(|| Stop::new(Exit::Io, "clock", "the clock shows no time that a plan can carry"))
}
