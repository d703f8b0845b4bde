//! The safe-outputs job: acts on what a run asked for, as far as that is allowed (§3, §5.2, DESIGN §3).
//!
//! It cannot reach a ledger: no crate that could is linked. A `ledger_mutation` line is a claim, and reporting it is
//! all that happens; a request for compaction starts the maintenance workflow, which decides for itself; outputs of
//! other types are handed to jobs of the workflow's author. Every line may have been written by the agent.
//!
//! | exit | when |
//! |---|---|
//! | 0 | every line was handled |
//! | 2 | arguments or configuration; or compaction was asked for, and the token or the API's address is missing |
//! | 3 | no verdict, a threat, or other bytes than detection examined: nothing was handled or written |
//! | 6 | the API refused the request for compaction |
//! | 8 | some lines were refused, or one request was sent and another was not |
//! | 74 | a file could not be read or written, or the API could not be reached or wants no more requests |
//!
//! Except for 3, and 2 before anything was read, both files are written whatever the exit is.

mod answer;
mod api;
mod args;
mod client;
mod deliver;
mod fault;
mod ingest;
mod insist;
mod tell;

use std::ffi::OsString;

use daybook_core::Digest;
use daybook_runner::files::{self, FileFault, MAX_SAFE_OUTPUT_BYTES};
use daybook_runner::{Exit, Report, Severity, Stop, neutralise, outputs, parse_args, summary, without_panic_texts};

use crate::args::Args;
use crate::deliver::{Delivery, deliver};
use crate::ingest::{Ingested, ingest};

/// The name under which detection examined the safe outputs.
const SAFE_OUTPUTS: &str = "safe-outputs.jsonl";

/// The result. Its name must not match `*.jsonl`: what does is handed on.
const RESULT: &str = "result.json";

/// The outputs of other types.
const REMAINING: &str = "remaining.jsonl";

/// Longest message in the summary, in characters.
const MAX_MESSAGE: usize = 512;

/// Runs the job. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    without_panic_texts("daybook-safe-outputs", || match parse_args(args) {
        Ok(args) => job(&args),
        Err(exit) => exit,
    })
}

fn job(args: &Args) -> Exit {
    let mut report = Report::new(Exit::Ok);
    let page = match handle(args, &mut report) {
        Ok((found, delivery)) => {
            tell::report(&mut report, &found, &delivery);
            tell::summary(&found, &delivery)
        }
        Err(stop) => {
            stop.tell(Severity::Error, &mut report).decided("no output was handled");
            let message = neutralise(&stop.message, MAX_MESSAGE);
            format!("### Safe outputs: {}\n\n`{}`: {message}\n", stop.exit.name(), stop.code)
        }
    };
    if summary::append(&page).is_err() {
        report.warning("summary-unwritable", "the step summary cannot be written");
    }
    report.emit(&args.common)
}

fn handle(args: &Args, report: &mut Report) -> Result<(Ingested, Delivery), Stop> {
    let config = args.config.load()?;
    let gate = args.gate.open(config.detection(), report)?;
    let content = files::read(&args.safe_outputs, MAX_SAFE_OUTPUT_BYTES).map_err(|fault| match fault {
        FileFault::Missing => Stop::new(Exit::Refused, "safe-outputs-missing", "there are no safe outputs"),
        FileFault::NotRegular => {
            Stop::new(Exit::Refused, "safe-outputs-not-regular", "the safe outputs are no regular file")
        }
        FileFault::Unreadable => Stop::new(Exit::Io, "safe-outputs-unreadable", "the safe outputs cannot be read"),
    })?;
    if content.more {
        return Err(Stop::new(Exit::Refused, "safe-outputs-too-long", "the safe outputs are over their bound"));
    }
    // The bytes that are compared are those that are read: the file is not opened again.
    gate.check(SAFE_OUTPUTS, Digest::of(&content.bytes))?;
    let found = ingest(&content.bytes, &config);
    let write = |name: &str, bytes: &[u8]| {
        let written = std::fs::create_dir_all(&args.out).and_then(|()| std::fs::write(args.out.join(name), bytes));
        written.map_err(|_| Stop::new(Exit::Io, "out-unwritable", "the folder for the result cannot be written"))
    };
    write(REMAINING, &found.remaining)?;
    // One blank around each, so that a condition can look for a whole word.
    let words: String = found.words.iter().map(|word| format!(" {word}")).chain([" ".to_owned()]).collect();
    outputs::set("types", &words)
        .map_err(|_| Stop::new(Exit::Io, "out-unwritable", "the step's output cannot be written"))?;
    let delivery = deliver(&found.requests, args);
    write(RESULT, format!("{:#}\n", tell::result(&found, &delivery)).as_bytes())?;
    Ok((found, delivery))
}
