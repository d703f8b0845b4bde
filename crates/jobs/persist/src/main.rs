//! See the library.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // Before anything else: a launcher has one thread.
    daybook_persist::launcher(&args).unwrap_or_else(|| daybook_persist::run(args).into())
}
