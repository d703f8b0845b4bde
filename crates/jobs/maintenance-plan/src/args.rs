//! The command line (FORMATS §10).

use std::path::PathBuf;

use daybook_core::state::Trigger;
use daybook_runner::{CommonArgs, ConfigArgs, RemoteArgs};

/// Say which shards of a ledger could become one; nothing is changed.
#[derive(Debug, clap::Parser)]
#[command(name = "daybook-maintenance-plan", version)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The ledger
    #[arg(long, value_name = "NAME", env = "DAYBOOK_LEDGER")]
    pub(crate) ledger: String,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// What asks for it; what is requested is always due
    #[arg(long, value_enum, env = "DAYBOOK_TRIGGER")]
    pub(crate) trigger: Asked,
    /// The plan, written only where there is one
    #[arg(long, value_name = "FILE", env = "DAYBOOK_OUT")]
    pub(crate) out: PathBuf,
    /// The Node binary itself, for a selection script [default: the first on the PATH]
    #[arg(long, value_name = "PATH", env = "DAYBOOK_NODE")]
    pub(crate) node: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// A trigger, as an option says it.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Asked {
    Scheduled,
    Requested,
}

impl From<Asked> for Trigger {
    fn from(asked: Asked) -> Self {
        match asked {
            Asked::Scheduled => Self::Scheduled,
            Asked::Requested => Self::Requested,
        }
    }
}
