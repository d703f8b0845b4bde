//! `daybook-detect`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    daybook_detect::run(std::env::args_os()).into()
}
