//! The agent job: restores memories and serves ledgers over MCP.

pub mod project;
pub mod prompt;
pub mod restore;
pub mod serve;

use std::ffi::OsString;

use clap::Parser;
use daybook_runner::{Exit, parse_args, without_panic_texts};

/// Restores memories before the agent starts, and serves ledgers to it
#[derive(Debug, Parser)]
#[command(name = "daybook-agent", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write every memory's files into a folder of its own, before the agent starts
    Restore(restore::RestoreArgs),
    Serve(serve::ServeArgs),
    Project(project::ProjectArgs),
    Prompt(prompt::PromptArgs),
}

/// Runs the command line; `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    without_panic_texts("daybook-agent", || match parse_args::<Arguments>(args) {
        Ok(Arguments { command: Command::Restore(args) }) => restore::restore(&args),
        Ok(Arguments { command: Command::Serve(args) }) => serve::serve(&args),
        Ok(Arguments { command: Command::Project(args) }) => project::project(&args),
        Ok(Arguments { command: Command::Prompt(args) }) => prompt::prompt(&args),
        Err(exit) => exit,
    })
}
