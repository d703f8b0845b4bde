//! `daybook-agent`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    daybook_agent::run(std::env::args_os()).into()
}
