//! The post-agent step: merges the transaction log and packs the staged memories (§5.2, DESIGN §3).
//!
//! It runs on the machine that the agent had, so nothing that it writes is trusted by anybody; it only reduces what the
//! later jobs have to look at. It never fails the job: whatever is missing, forged or too large is a warning and a count.
//! No message shows a path or a payload.

mod files;
mod log;
mod pack;
mod safe_outputs;
mod select;

use std::ffi::OsString;
use std::path::PathBuf;

use daybook_core::baseline::{self, Baseline};
use daybook_core::config::Config;
use daybook_runner::files::{FileFault, MAX_SAFE_OUTPUT_BYTES, read};
use daybook_runner::{CommonArgs, ConfigArgs, Exit, Report, parse_args, without_panic_texts};

pub use log::{Dropped, Log, MAX_LOG_BYTES};
pub use select::{Claim, Selection, select};

#[derive(Debug, clap::Parser)]
#[command(name = "daybook-merge", version, about = "Merge the transaction log and pack the staged memories")]
struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Folder that holds one folder for each memory
    #[arg(long, value_name = "DIR", env = "DAYBOOK_MEMORY_ROOT")]
    memory_root: PathBuf,
    /// What the memories held before the agent started
    #[arg(long, value_name = "FILE", env = "DAYBOOK_BASELINE")]
    baseline: PathBuf,
    /// What the server says it appended
    #[arg(long, value_name = "FILE", env = "DAYBOOK_TRANSACTION_LOG")]
    transaction_log: PathBuf,
    /// The agent's safe outputs; the log is merged into this file
    #[arg(long, value_name = "FILE", env = "DAYBOOK_SAFE_OUTPUTS")]
    safe_outputs: PathBuf,
    /// Where the packed memories go
    #[arg(long, value_name = "DIR", env = "DAYBOOK_OUT")]
    out: PathBuf,
    #[command(flatten)]
    common: CommonArgs,
}

/// Runs the step. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    without_panic_texts("daybook-merge", || match parse_args::<Args>(args) {
        Ok(args) => merge(&args).emit(&args.common),
        Err(exit) => exit,
    })
}

// DB-5.2-21, DB-5.5-03
fn merge(args: &Args) -> Report {
    let mut report = Report::new(Exit::Ok);
    let config = match args.config.load() {
        Ok(config) => config,
        Err(error) => {
            // Even then the job goes on: later jobs find no staged memory and persist nothing.
            report.warning(error.code(), &error.to_string()).decided("nothing was merged or packed");
            return report;
        }
    };
    let baseline = load_baseline(args, &mut report);
    let (log, cut) = load_log(args, &config, &mut report);
    let staged = pack::all(args, &config, &baseline, &log, &mut report);
    let selection = select(&log, config.safe_outputs().ledger_mutation_max, |claim| staged.confirms(claim));
    tell_dropped(log.dropped(), selection.over_bound, cut, &mut report);
    report
        .count("log-lines-dropped", log.dropped().total())
        .count("log-duplicates", selection.duplicates)
        .count("log-over-bound", selection.over_bound)
        .count("entries-merged", selection.claims.len() as u64)
        .count("entries-staged", selection.confirmed);
    merge_into_safe_outputs(args, &selection, &mut report);
    report
}

fn load_baseline(args: &Args, report: &mut Report) -> Baseline {
    let text = read(&args.baseline, baseline::MAX_BYTES as u64).ok().filter(|read| !read.more);
    text.and_then(|read| Baseline::parse(&read.bytes).ok()).unwrap_or_else(|| {
        report.warning("baseline-unusable", "the baseline is missing or not valid; every record counts as new");
        Baseline::default()
    })
}

/// The entries, and whether the log was longer than what counts of it.
fn load_log(args: &Args, config: &Config, report: &mut Report) -> (Log, bool) {
    match read(&args.transaction_log, MAX_LOG_BYTES) {
        Ok(read) => {
            let log = Log::parse(&read.bytes, config);
            report.read(format!("{} entries of the transaction log", log.claims().len()));
            (log, read.more)
        }
        Err(fault) => {
            let message = format!("the transaction log is {fault}; no append is reported");
            report.warning(files::code(fault, "log"), &message);
            (Log::default(), false)
        }
    }
}

/// One warning for everything of the log that is not merged.
fn tell_dropped(dropped: Dropped, over_bound: u64, cut: bool, report: &mut Report) {
    let reasons = [
        (dropped.not_utf8, "not UTF-8"),
        (dropped.not_an_event, "no event of an append"),
        (dropped.unknown_ledger, "about no ledger of this workflow"),
        (over_bound, "over the bound of entries"),
    ];
    let mut told: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, reason)| format!("{count} {reason}")).collect();
    if cut {
        told.push(format!("all that lies behind the first {MAX_LOG_BYTES} bytes"));
    }
    if told.is_empty() {
        return;
    }
    let message =
        format!("{} lines of the transaction log were dropped: {}", dropped.total() + over_bound, told.join(", "));
    report.warning(if cut { "log-too-long" } else { "log-lines-dropped" }, &message);
}

// DB-3-03, DB-5.2-15
fn merge_into_safe_outputs(args: &Args, selection: &Selection, report: &mut Report) {
    let before = match read(&args.safe_outputs, MAX_SAFE_OUTPUT_BYTES) {
        Ok(read) if read.more => {
            report.warning("safe-outputs-too-long", "the safe-output file is over its bound; it stays as it is");
            return;
        }
        Ok(read) => Some(read),
        Err(FileFault::Missing) => {
            report.warning("safe-outputs-missing", "there is no safe-output file; one is made");
            None
        }
        Err(fault) => {
            let message = format!("the safe-output file is {fault}; it stays as it is");
            report.warning(files::code(fault, "safe-outputs"), &message);
            return;
        }
    };
    let old = before.as_ref().map_or(&[][..], |read| &read.bytes);
    let merged = safe_outputs::merge(old, &selection.claims);
    if merged.not_utf8 > 0 {
        let message = format!("{} lines of the safe-output file are not UTF-8; they stay as they are", merged.not_utf8);
        report.warning("safe-outputs-not-utf8", &message);
    }
    report
        .read(format!("{} other lines of the safe-output file", merged.kept))
        .count("safe-output-lines-kept", merged.kept)
        .count("safe-output-lines-replaced", merged.taken_out);
    if before.is_some() && old == merged.text {
        report.decided("the safe-output file already says so");
        return;
    }
    let mode = before.map(|read| read.mode);
    if files::replace(&args.safe_outputs, mode, |out| std::io::Write::write_all(out, &merged.text)).is_err() {
        report.warning("safe-outputs-unwritable", "the safe-output file cannot be written; it stays as it is");
        return;
    }
    report.wrote(format!("{} appends into the safe-output file", selection.claims.len()));
}
