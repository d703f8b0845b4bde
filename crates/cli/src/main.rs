//! The people's Daybook command.
//!
//! It links every job and runs each one as a process of its own by executing itself again, so that one installed
//! binary is enough at home; `--bin-dir` runs the separate binaries instead.

mod args;
mod audit;
mod canon;
mod compile;
mod diff;
mod dry_run;
mod explain;
mod init;
mod job;
mod ledger_view;
mod maintain;
mod manual;
mod progress;
mod remote_fault;
mod shown;
mod target;
mod try_script;
mod verify;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use daybook_runner::{Exit, parse_args};

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // Before anything else: a launcher has one thread.
    daybook_script::launcher(&args).unwrap_or_else(|| run(args).into())
}

fn run(args: Vec<OsString>) -> Exit {
    if let Some(exit) = job::run(&args) {
        return exit;
    }
    let args: Args = match parse_args(args) {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    match args.command {
        Command::Canon(canon) => canon::run(&canon, &args.common),
        Command::Init(init) => init::run(&init, &args.common),
        Command::Compile(compile) => compile::run(&compile, &args.common),
        Command::Audit(files) => audit::audit(&files, &args.common),
        Command::Permissions(files) => audit::permissions(&files, &args.common),
        Command::Explain(code) => explain::run(&code, &args.common),
        Command::DryRun(dry_run) => dry_run::run(&dry_run, &args.common),
        Command::Maintain(maintain) => maintain::run(&maintain, &args.common),
        Command::TryScript(try_script) => try_script::run(&try_script, &args.common),
        Command::Verify(verify) => verify::run(&verify, &args.common),
        Command::Status(status) => view::status::run(&status, &args.common),
        Command::Log(log) => view::log::run(&log, &args.common),
        Command::Show(show) => view::show::run(&show, &args.common),
        Command::Query(query) => view::query::run(&query, &args.common),
        Command::Diff(diff) => view::diff::run(&diff, &args.common),
        Command::Heads(heads) => view::heads::run(&heads, &args.common),
        Command::Export(export) => view::export::run(&export, &args.common),
        Command::Report(report) => view::report::run(&report, &args.common),
        Command::Completions(completions) => manual::completions(&completions),
        Command::Man(man) => manual::man(&man, &args.common),
    }
}
