//! Why a job ends before it has done its work.

use crate::{ConfigError, Exit, Report, Severity, plain};
use daybook_core::config::NotCompacted;
use serde_json::Value;

/// Longest line of foreign text in a log, in characters.
const MAX_LOGGED: usize = 2000;

/// An end: exit, code, a message that may be shown to anybody, and words that only the log of a trusted job gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What the report calls the outcome; the exit's name, where it was not set.
    pub outcome: &'static str,
    /// How the job ends.
    pub exit: Exit,
    /// The code of the diagnostic.
    pub code: &'static str,
    /// The message, which anybody may see.
    pub message: String,
    private: String,
}

impl Stop {
    /// An end with nothing but a public message.
    #[must_use]
    pub fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { outcome: exit.name(), exit, code, message: message.into(), private: String::new() }
    }

    /// An end for which the caller's arguments or configuration are to blame.
    #[must_use]
    pub fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, code, message)
    }

    /// An end because the input as a whole is hostile or invalid.
    #[must_use]
    pub fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, code, message)
    }

    /// An end because something could not be read or written.
    #[must_use]
    pub fn io(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Exit::Io, code, message)
    }

    /// The same under another outcome.
    #[must_use]
    pub fn named(self, outcome: &'static str) -> Self {
        Self { outcome, ..self }
    }

    /// The same with words for the log only, such as git's own.
    #[must_use]
    pub fn with_private(self, private: impl Into<String>) -> Self {
        Self { private: private.into(), ..self }
    }

    /// Makes it the outcome of the report.
    pub fn tell<'a>(&self, severity: Severity, report: &'a mut Report) -> &'a mut Report {
        report.set_outcome(self.outcome, self.exit).diagnose(severity, self.code, &self.message, Value::Null)
    }

    /// Tells the log what only it may know.
    pub fn log(&self) {
        log(self.code, &self.private);
    }
}

/// Foreign words for the log of a trusted job, line by line, so that none of them can start a workflow command.
pub fn log(code: &str, private: &str) {
    for line in private.lines().filter(|line| !line.trim().is_empty()) {
        eprintln!("{code}: {}", plain(line, MAX_LOGGED));
    }
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.code(), error.to_string())
    }
}

impl From<NotCompacted> for Stop {
    fn from(fault: NotCompacted) -> Self {
        Self::usage(fault.code(), fault.to_string())
    }
}
