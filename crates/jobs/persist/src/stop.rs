//! Why the job, or one memory of it, ends without a landing.

use daybook_branch::{FaultClass, ReadFault, RemoteFault};
use daybook_publish::PublishFault;
use daybook_runner::{Exit, GateFault, plain};

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

    pub(crate) fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, code, message)
    }

    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, code, message)
    }

    /// Tells the log what only it may know.
    pub(crate) fn log(&self) {
        log(self.code, &self.private);
    }
}

/// Foreign words for the log of this job only, line by line, so that none of them can start a workflow command.
pub(crate) fn log(code: &str, private: &str) {
    for line in private.lines().filter(|line| !line.trim().is_empty()) {
        eprintln!("{code}: {}", plain(line, MAX_LOGGED));
    }
}

impl From<GateFault> for Stop {
    fn from(fault: GateFault) -> Self {
        Self::new(fault.exit, fault.code, fault.message)
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
        let private = fault.to_string();
        match fault {
            ReadFault::Object(_) => {
                let message = "an object of the branch cannot be read".to_owned();
                Self { exit: Exit::Io, code: "object-unreadable", message, private }
            }
            other => Self::refused("tree-over-bound", other.to_string()),
        }
    }
}

impl From<PublishFault> for Stop {
    fn from(fault: PublishFault) -> Self {
        match fault {
            PublishFault::Remote(fault) => fault.into(),
            PublishFault::Occupied(path) => {
                Self::refused("tree-occupied", format!("{path} on the branch is not what a ledger has there"))
            }
            other => {
                let private = other.to_string();
                Self {
                    exit: Exit::Internal,
                    code: "commit-not-built",
                    message: "no commit could be built".to_owned(),
                    private,
                }
            }
        }
    }
}
