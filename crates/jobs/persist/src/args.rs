//! The command line (FORMATS §10).

use std::path::PathBuf;

use daybook_runner::{CommonArgs, ConfigArgs, GateArgs, RemoteArgs};

/// Validate staged memories and push what is sound and new to the memory branches.
#[derive(Debug, clap::Parser)]
#[command(name = "daybook-persist", version)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// Folder with one `<memory>.tar` for each staged memory
    #[arg(long, value_name = "DIR", env = "DAYBOOK_STAGED")]
    pub(crate) staged: PathBuf,
    /// What restore wrote down before the agent started
    #[arg(long, value_name = "FILE", env = "DAYBOOK_BASELINE")]
    pub(crate) baseline: PathBuf,
    /// The commit that a memory was restored from, as restore's step output says; empty for a branch that was absent.
    /// In the variable, several are separated by commas or spaces
    #[arg(long, value_name = "ID=OID", env = "DAYBOOK_BASE")]
    pub(crate) base: Vec<String>,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    /// What the commit message calls this run
    #[arg(long, value_name = "TEXT", env = "DAYBOOK_RUN_ID")]
    pub(crate) run_id: String,
    /// How long moved heads are followed, in seconds
    #[arg(long, value_name = "N", default_value_t = 600, env = "DAYBOOK_TIME_BUDGET_SECONDS")]
    pub(crate) time_budget_seconds: u64,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
