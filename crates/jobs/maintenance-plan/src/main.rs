//! See the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    // Before anything else: a launcher has one thread.
    daybook_script::launcher(&args).unwrap_or_else(|| daybook_maintenance_plan::run(args).into())
}
