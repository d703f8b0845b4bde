//! Conventions of a GitHub runner: exit codes, output formats, reports, step outputs, summaries, annotations.
//!
//! Every Daybook binary parses its arguments with [`parse_args`], tells what it did with one [`Report`], and ends
//! with one [`Exit`]. Standard output carries data, standard error carries talk. Only this crate prints workflow
//! commands, so that there is one place that escapes them.
//!
//! ```
//! use daybook_runner::{Exit, Format, Report};
//!
//! let mut report = Report::new(Exit::Ok);
//! report.count("records", 5).wrote("5 records to ledgers/triage");
//! assert_eq!(report.to_json()["counts"]["records"], 5);
//! assert!(report.render(Format::Human).contains("5 records to ledgers/triage"));
//! ```

pub mod args;
mod backoff;
pub mod commands;
mod config;
mod exit;
pub mod files;
mod format;
mod gate;
mod neutral;
pub mod outputs;
mod panics;
mod remote;
mod report;
mod sarif;
mod stop;
pub mod summary;

pub use args::{Color, CommonArgs, parse_args};
pub use backoff::{Backoff, Pace};
pub use config::{ConfigArgs, ConfigError};
pub use exit::Exit;
pub use format::Format;
pub use gate::{Gate, GateArgs, pairs};
pub use neutral::{MAX_TEXT, neutralise, plain, visible_json};
pub use panics::without_panic_texts;
pub use remote::RemoteArgs;
pub use report::{DOCUMENT_VERSION, Report, Severity};
pub use stop::{Stop, log};
