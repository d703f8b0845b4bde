//! The command line (FORMATS §10).

use std::path::PathBuf;

use daybook_runner::{CommonArgs, ConfigArgs, RemoteArgs};

/// Prove a plan against a ledger's branch and apply it as one commit.
#[derive(Debug, clap::Parser)]
#[command(name = "daybook-maintenance-apply", version)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The ledger
    #[arg(long, value_name = "NAME", env = "DAYBOOK_LEDGER")]
    pub(crate) ledger: String,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// The plan; nothing in it is believed
    #[arg(long, value_name = "FILE", env = "DAYBOOK_PLAN")]
    pub(crate) plan: PathBuf,
    /// How long a moving head is followed, in seconds
    #[arg(long, value_name = "N", default_value_t = 600, env = "DAYBOOK_TIME_BUDGET_SECONDS")]
    pub(crate) time_budget_seconds: u64,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
