//! `daybook try-script`: a validation script on a copy of a memory, exactly as the persist job runs it.

mod files;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use daybook_runner::{CommonArgs, Exit, MAX_TEXT, Report, plain};
use daybook_script::{Fault, Launcher, Limits, MAX_SCRIPT_BYTES, Ran, RunFacts, Sandbox, Script};
use daybook_store::write_candidate;
use serde_json::{Value, json};

use self::files::OrdinaryFiles;
use crate::args::TryScript;

/// Most lines of what a script printed that are shown, and the longest of them in characters.
const MAX_LINES: usize = 200;
const MAX_LINE: usize = 4 * MAX_TEXT;

/// Most files that are named as set aside.
const MAX_NAMED: usize = 20;

pub(crate) fn run(args: &TryScript, common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    if let Err(stop) = attempt(args, &mut report) {
        report.set_exit(stop.exit).error(stop.code, &stop.message);
    }
    report.emit(common)
}

/// Why there is no answer to tell.
struct Stop {
    exit: Exit,
    code: &'static str,
    message: String,
}

impl Stop {
    fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into() }
    }

    fn io(error: &io::Error) -> Self {
        Self::new(Exit::Io, "candidate-unwritable", format!("the copy of the memory cannot be made: {error}"))
    }
}

/// Every fault is what it is in the job: the script did not consent.
impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        let message = match fault.said() {
            Some(said) => format!("{fault}: {}", plain(said.raw(), MAX_TEXT)),
            None => fault.to_string(),
        };
        Self::new(Exit::Policy, fault.code(), message)
    }
}

fn attempt(args: &TryScript, report: &mut Report) -> Result<(), Stop> {
    let script = Script::new(read_script(&args.file)?)?;
    let files = OrdinaryFiles::of(&args.memory, args.branch.as_deref())?;
    tell_files(&files, report);
    let folder = tempfile::Builder::new().prefix("daybook-candidate-").tempdir().map_err(|error| Stop::io(&error))?;
    write_candidate(folder.path(), files.iter())
        .map_err(|error| Stop::new(Exit::Io, error.code(), format!("the copy of the memory: {error}")))?;
    let sandbox = Sandbox::open(Launcher::this_program(), args.node.as_deref())?;
    report.read(format!("Node {}, held by {}", sandbox.version(), sandbox.strength()));
    report.member("node", sandbox.version().to_string());
    report.member("sandbox", serde_json::to_value(sandbox.strength()).unwrap_or(Value::Null));
    let limits = Limits::within(Duration::from_secs(args.timeout_seconds));
    let run = RunFacts {
        memory: files.memory().to_owned(),
        branch: args.branch.clone().unwrap_or_default(),
        id: "try-script".to_owned(),
    };
    tell_answer(sandbox.validate(&script, &limits, folder.path(), &run), report)
}

fn read_script(path: &Path) -> Result<String, Stop> {
    let mut text = Vec::new();
    let bound = MAX_SCRIPT_BYTES as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(bound).read_to_end(&mut text));
    read.map_err(|error| Stop::new(Exit::Io, "unreadable", format!("{}: {error}", path.display())))?;
    String::from_utf8(text)
        .map_err(|_| Stop::new(Exit::Usage, "not-utf8", format!("{} is not UTF-8 text", path.display())))
}

fn tell_files(files: &OrdinaryFiles, report: &mut Report) {
    report
        .read(format!("{} ordinary files of {}, {} bytes", files.iter().len(), files.origin(), files.bytes()))
        .count("files", files.iter().len() as u64)
        .count("bytes", files.bytes())
        .count("set-aside", files.set_aside().len() as u64);
    for (path, reason) in files.set_aside().iter().take(MAX_NAMED) {
        let message = format!("the script is not shown {}: {reason}", plain(path, MAX_TEXT));
        report.note("file-set-aside", &message);
    }
}

fn tell_answer(ran: Ran<()>, report: &mut Report) -> Result<(), Stop> {
    let lines: Vec<String> = ran.output.raw().lines().take(MAX_LINES).map(|line| plain(line, MAX_LINE)).collect();
    for line in &lines {
        eprintln!("script: {line}");
    }
    report.member("printed", json!(lines));
    report.count("milliseconds", u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX));
    match ran.answer {
        Ok(()) => {
            report.decided("the script consents: the files would be pushed");
            Ok(())
        }
        Err(fault) => {
            report.decided("the script does not consent: nothing would be pushed");
            Err(fault.into())
        }
    }
}
