//! The agent job: restores memories and serves ledgers over MCP.

pub mod restore;

use std::ffi::OsString;

use daybook_runner::{Exit, parse_args};

#[derive(Debug, clap::Parser)]
#[command(name = "daybook-agent", version, about = "Restore memories and serve ledgers to an agent")]
struct Args {
    #[command(subcommand)]
    step: Step,
}

#[derive(Debug, clap::Subcommand)]
enum Step {
    /// Write every memory's files into a folder of its own, before the agent starts
    Restore(restore::Args),
}

/// Runs one step of the job. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    match parse_args::<Args>(args) {
        Ok(Args { step: Step::Restore(args) }) => restore::run(&args),
        Err(exit) => exit,
    }
}
