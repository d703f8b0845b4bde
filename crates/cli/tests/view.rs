//! The commands that show a ledger, as processes.

#[path = "view/support.rs"]
mod support;

#[path = "view/diff.rs"]
mod diff;
#[path = "view/export.rs"]
mod export;
#[path = "view/list.rs"]
mod list;
#[path = "view/report.rs"]
mod report;
#[path = "view/same.rs"]
mod same;
#[path = "view/status.rs"]
mod status;
#[path = "view/terminal.rs"]
mod terminal;
