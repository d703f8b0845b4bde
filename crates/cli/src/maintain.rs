//! `daybook maintain`: both maintenance jobs here. Against a repository each is a process of its own.

mod folder;
mod rescue;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;

use daybook_branch::{Remote, Token};
use daybook_core::config::Config;
use daybook_runner::{CommonArgs, Exit, Report, Severity, Stop};
use serde_json::{Value, json};

use crate::args::Maintain;
use crate::target::{is_memory_folder, only_ledger};

fn not_run(error: io::Error) -> Stop {
    Stop::io("job-not-run", format!("a job cannot be run here: {error}"))
}

pub(crate) fn run(args: &Maintain, common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    if let Err(stop) = maintain(args, &mut report) {
        stop.tell(Severity::Error, &mut report);
    }
    report.emit(common)
}

fn maintain(args: &Maintain, report: &mut Report) -> Result<(), Stop> {
    let is_folder = is_memory_folder(Path::new(&args.memory));
    let text = match &args.config {
        Some(path) => {
            std::fs::read(path).map_err(|error| Stop::io("unreadable", format!("{}: {error}", path.display())))?
        }
        None => configuration(&named(args, is_folder)?, args.branch.as_deref()).into_bytes(),
    };
    let config = Config::parse(&text).map_err(|fault| Stop::usage("config-invalid", fault.to_string()))?;
    let ledger = match &args.ledger {
        Some(name) => name.clone(),
        None => only(&config)?,
    };
    if is_folder {
        if args.rescue {
            return Err(Stop::usage(
                "rescue-needs-history",
                "--rescue wants a repository, whose history keeps what is no record",
            ));
        }
        return folder::maintain(Path::new(&args.memory), &config.compacted(&ledger)?, args.apply, report);
    }
    let remote = Path::new(&args.memory).canonicalize().map_or_else(|_| args.memory.clone().into(), OsString::from);
    if args.rescue {
        rescue::rescue(&remote.to_string_lossy(), &config, &ledger, report)?;
    }
    let folder = tempfile::Builder::new().prefix("daybook-maintain-").tempdir().map_err(not_run)?;
    let file = folder.path().join("plan.json");
    let job = |name: &str, options: &[(&str, &OsString)]| -> Result<(Exit, Value), Stop> {
        let mut command = Command::new(std::env::current_exe().map_err(not_run)?);
        command.args(["job", name, "--format", "json", "--ledger", &ledger]).arg("--remote").arg(&remote);
        for (option, value) in options {
            command.arg(option).arg(value);
        }
        command.env("DAYBOOK_CONFIG", String::from_utf8_lossy(&text).as_ref()).env_remove("GITHUB_STEP_SUMMARY");
        let output = command.output().map_err(not_run)?;
        let exit = output.status.code().and_then(Exit::from_code).unwrap_or(Exit::Internal);
        let document = serde_json::from_slice(&output.stdout)
            .map_err(|_| Stop::new(exit, "job-without-report", format!("{name} said nothing that can be read")))?;
        Ok((exit, document))
    };
    let out = OsString::from(&file);
    let planned = job("maintenance-plan", &[("--trigger", &"requested".into()), ("--out", &out)])?;
    retell(report, &planned);
    report.member("plan", planned.1);
    if !file.exists() {
        return Ok(());
    }
    if !args.apply {
        report.decided("this was a look; with --apply it is done");
        return Ok(());
    }
    let applied = job("maintenance-apply", &[("--plan", &out)])?;
    retell(report, &applied);
    report.member("apply", applied.1);
    Ok(())
}

/// The ledger's name where no configuration has it.
fn named(args: &Maintain, is_folder: bool) -> Result<String, Stop> {
    let missing = |there_are: &str| Stop::usage("ledger-missing", format!("give --ledger NAME{there_are}"));
    if let Some(name) = &args.ledger {
        return Ok(name.clone());
    }
    if is_folder {
        let path = Path::new(&args.memory).canonicalize().map_err(not_run)?;
        return path.file_name().and_then(|name| name.to_str()).map(str::to_owned).ok_or_else(|| missing(""));
    }
    match only_ledger(&Remote::new(&args.memory, Token::from_environment(None)?)?)? {
        Ok(branch) => Ok(branch.as_str().trim_start_matches("ledgers/").to_owned()),
        Err(branches) => Err(missing(&format!("; there are: {}", branches.join(", ")))),
    }
}

/// The only ledger of a configuration that is compacted.
fn only(config: &Config) -> Result<String, Stop> {
    let names: Vec<&str> =
        config.ledgers().iter().filter(|one| one.compaction.is_some()).map(|one| one.name.as_str()).collect();
    match names.as_slice() {
        [only] => Ok((*only).to_owned()),
        _ => Err(Stop::usage("ledger-missing", format!("give --ledger NAME; compacted are: {}", names.join(", ")))),
    }
}

/// A ledger with the default limits on its branch, worth compacting from two shards on.
fn configuration(ledger: &str, branch: Option<&str>) -> String {
    let branch = branch.map_or_else(|| format!("ledgers/{ledger}"), str::to_owned);
    json!({
        "version": 1,
        "workflow": "maintain",
        "memories": [{"id": ledger, "branch": branch}],
        "ledgers": [{"name": ledger, "memory": ledger, "compaction": {"schedule": "manual", "min-segments": 2}}],
    })
    .to_string()
}

/// What a job said, as part of what this command says. The last job decides the outcome.
fn retell(report: &mut Report, (exit, document): &(Exit, Value)) {
    const OUTCOMES: [&str; 9] = [
        "planned",
        "not_due",
        "nothing_to_do",
        "applied",
        "already_applied",
        "stale",
        "conflict",
        "contended",
        "rejected",
    ];
    let said = document["outcome"].as_str().unwrap_or_default();
    report.set_outcome(OUTCOMES.into_iter().find(|outcome| *outcome == said).unwrap_or(exit.name()), *exit);
    let texts = |member: &str| -> Vec<String> {
        document[member].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for sentence in texts("read") {
        report.read(sentence);
    }
    for sentence in texts("decided") {
        report.decided(sentence);
    }
    for sentence in texts("wrote") {
        report.wrote(sentence);
    }
    for (name, count) in document["counts"].as_object().into_iter().flatten() {
        report.count(name, count.as_u64().unwrap_or_default());
    }
    for diagnostic in document["diagnostics"].as_array().into_iter().flatten() {
        let text = |member: &str| diagnostic[member].as_str().unwrap_or_default();
        let severity = match text("severity") {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Note,
        };
        report.diagnose(severity, text("code"), text("message"), Value::Null);
    }
}
