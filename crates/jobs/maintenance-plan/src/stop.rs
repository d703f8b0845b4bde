//! Why the job ends without an answer.

use std::io;

use daybook_branch::{FaultClass, ReadFault, RemoteFault};
use daybook_runner::{Exit, plain};

/// Longest text of git's in our log, in characters.
const MAX_LOGGED: usize = 2000;

/// An end: exit, code, a message that may be shown to anybody, and one that only this job's log gets.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) exit: Exit,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    private: String,
}

impl Stop {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), private: String::new() }
    }

    pub(crate) fn unwritable(error: &io::Error) -> Self {
        let message = "the plan cannot be written".to_owned();
        Self { exit: Exit::Io, code: "plan-unwritable", message, private: error.to_string() }
    }

    /// Tells the log what only it may know, line by line, so that none of it can start a workflow command.
    pub(crate) fn log(&self) {
        for line in self.private.lines().filter(|line| !line.trim().is_empty()) {
            eprintln!("{}: {}", self.code, plain(line, MAX_LOGGED));
        }
    }
}

impl From<RemoteFault> for Stop {
    fn from(fault: RemoteFault) -> Self {
        let exit = match fault.kind().class() {
            FaultClass::Usage => Exit::Usage,
            FaultClass::Denied => Exit::Denied,
            FaultClass::Io => Exit::Io,
        };
        Self { exit, code: fault.kind().code(), message: fault.to_string(), private: fault.private() }
    }
}

impl From<ReadFault> for Stop {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Object(error) => {
                let message = "an object of the branch cannot be read".to_owned();
                Self { exit: Exit::Io, code: "object-unreadable", message, private: error.to_string() }
            }
            other => Self::new(Exit::Refused, "tree-over-bound", other.to_string()),
        }
    }
}
