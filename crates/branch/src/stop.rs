//! How a job ends when its memory branch cannot be reached or read.

use daybook_runner::{RemoteArgs, Stop};

use crate::access::Token;
use crate::fault::RemoteFault;
use crate::remote::Remote;
use crate::snapshot::ReadFault;

impl From<RemoteFault> for Stop {
    fn from(fault: RemoteFault) -> Self {
        Self::new(fault.kind().exit(), fault.kind().code(), fault.to_string()).with_private(fault.private())
    }
}

impl From<ReadFault> for Stop {
    fn from(fault: ReadFault) -> Self {
        match fault {
            ReadFault::Object(error) => {
                Self::io("object-unreadable", "an object of the branch cannot be read").with_private(error.to_string())
            }
            other => Self::refused("tree-over-bound", other.to_string()),
        }
    }
}

impl Remote {
    /// The remote that a job's arguments name, or else the workflow's own repository, with its token.
    ///
    /// # Errors
    /// An address or a token that is missing or cannot be used.
    pub fn of_args(args: &RemoteArgs) -> Result<Self, Stop> {
        let url = args.remote.clone().or_else(Self::url_from_environment).ok_or_else(|| {
            let message = "no remote: give --remote URL, or set GITHUB_SERVER_URL and GITHUB_REPOSITORY";
            Stop::usage("remote-missing", message)
        })?;
        Ok(Self::new(&url, Token::from_environment(args.token_env.as_deref())?)?)
    }
}
