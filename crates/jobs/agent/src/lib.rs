//! The agent job: restores memories and serves ledgers over MCP.

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
    Restore(restore::RestoreArgs),
    Serve(serve::ServeArgs),
}

/// Runs the command line; `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    without_panic_texts("daybook-agent", || match parse_args::<Arguments>(args) {
        Ok(Arguments { command: Command::Restore(args) }) => restore::restore(&args),
        Ok(Arguments { command: Command::Serve(args) }) => serve::serve(&args),
        Err(exit) => exit,
    })
}
