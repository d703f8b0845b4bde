//! Runs a job of this binary: `daybook job <name> …`.

use std::ffi::OsString;

use daybook_runner::Exit;

/// Runs the job that the command line names, if it names one. What follows is the job's own command line.
pub(crate) fn run(args: &[OsString]) -> Option<Exit> {
    let [_, word, name, rest @ ..] = args else {
        return None;
    };
    if word != "job" {
        return None;
    }
    let named =
        |program: &str| std::iter::once(OsString::from(program)).chain(rest.iter().cloned()).collect::<Vec<_>>();
    match name.to_str() {
        Some("agent") => Some(daybook_agent::run(named("daybook-agent"))),
        Some("merge") => Some(daybook_merge::run(named("daybook-merge"))),
        Some("detect") => Some(daybook_detect::run(named("daybook-detect"))),
        Some("safe-outputs") => Some(daybook_safe_outputs::run(named("daybook-safe-outputs"))),
        Some("maintenance-plan") => Some(daybook_maintenance_plan::run(named("daybook-maintenance-plan"))),
        Some("maintenance-apply") => Some(daybook_maintenance_apply::run(named("daybook-maintenance-apply"))),
        Some("persist") => Some(daybook_persist::run(named("daybook-persist"))),
        _ => None,
    }
}
