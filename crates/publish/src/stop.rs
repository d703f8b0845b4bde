//! How a job ends when its change cannot be built or is not accepted.

use daybook_runner::{Exit, Stop, plain};

use crate::denial::Denial;
use crate::transition::PublishFault;

/// Longest message of a denial, in characters; the remote's own words are in it.
const MAX_MESSAGE: usize = 1500;

impl From<PublishFault> for Stop {
    fn from(fault: PublishFault) -> Self {
        match fault {
            PublishFault::Remote(fault) => fault.into(),
            PublishFault::Occupied(path) => {
                Self::refused("tree-occupied", format!("{path} on the branch is not what a ledger has there"))
            }
            other => Self::new(Exit::Internal, "commit-not-built", "no commit could be built")
                .with_private(other.to_string()),
        }
    }
}

impl From<Denial> for Stop {
    fn from(denial: Denial) -> Self {
        Self::new(Exit::Denied, denial.rule, plain(&denial.to_string(), MAX_MESSAGE))
    }
}
