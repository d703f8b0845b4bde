//! Why the job ends without having applied anything.

use daybook_branch::{FaultClass, ReadFault, RemoteFault};
use daybook_compaction::{Conflict, Forgery, Stale};
use daybook_publish::PublishFault;
use daybook_runner::{Exit, plain};

/// Longest text of git's in our log, in characters.
const MAX_LOGGED: usize = 2000;

/// An end: outcome, exit, code, a message that may be shown to anybody, and one that only this job's log gets.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) outcome: &'static str,
    pub(crate) exit: Exit,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    private: String,
}

impl Stop {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { outcome: exit.name(), exit, code, message: message.into(), private: String::new() }
    }

    /// The plan lies.
    pub(crate) fn rejected(forgery: Forgery) -> Self {
        Self { outcome: "rejected", ..Self::new(Exit::Refused, forgery.code(), forgery.to_string()) }
    }

    pub(crate) fn stale(stale: Stale) -> Self {
        Self::new(Exit::Stale, "stale", format!("{stale}; the next run plans again"))
    }

    pub(crate) fn conflict(conflict: Conflict) -> Self {
        let message = format!("{conflict}; the next run plans again");
        Self { outcome: "conflict", ..Self::new(Exit::Stale, "conflict", message) }
    }

    pub(crate) fn contended(attempts: u32) -> Self {
        let message =
            format!("the branch moved on all {attempts} attempts within the time budget; the next run plans again");
        Self::new(Exit::Contended, "contended", message)
    }

    /// The ledger only moved on, and nobody has to do anything.
    pub(crate) fn is_no_failure(&self) -> bool {
        matches!(self.exit, Exit::Stale | Exit::Contended)
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

impl From<RemoteFault> for Stop {
    fn from(fault: RemoteFault) -> Self {
        let exit = match fault.kind().class() {
            FaultClass::Usage => Exit::Usage,
            FaultClass::Denied => Exit::Denied,
            FaultClass::Io => Exit::Io,
        };
        Self { private: fault.private(), ..Self::new(exit, fault.kind().code(), fault.to_string()) }
    }
}

impl From<ReadFault> for Stop {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Object(error) => Self {
                private: error.to_string(),
                ..Self::new(Exit::Io, "object-unreadable", "an object of the branch cannot be read")
            },
            other => Self::new(Exit::Refused, "tree-over-bound", other.to_string()),
        }
    }
}

impl From<PublishFault> for Stop {
    fn from(fault: PublishFault) -> Self {
        match fault {
            PublishFault::Remote(fault) => fault.into(),
            PublishFault::Occupied(path) => {
                let message = format!("{path} on the branch is not what a ledger has there");
                Self::new(Exit::Refused, "tree-occupied", message)
            }
            other => Self {
                private: other.to_string(),
                ..Self::new(Exit::Internal, "commit-not-built", "no commit could be built")
            },
        }
    }
}
