//! The launcher alone, as every binary that runs scripts holds it.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    daybook_script::launcher(&args).unwrap_or(ExitCode::FAILURE)
}
