//! The command line (FORMATS §10).

use std::path::PathBuf;

use daybook_runner::{CommonArgs, ConfigArgs, GateArgs};

/// Check a run's safe outputs, report claimed appends, ask for compaction, and hand the rest on.
#[derive(Debug, clap::Parser)]
#[command(name = "daybook-safe-outputs", version)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The run's safe outputs, with the log merged into them
    #[arg(long, value_name = "FILE", env = "DAYBOOK_SAFE_OUTPUTS")]
    pub(crate) safe_outputs: PathBuf,
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    /// Where result.json and remaining.jsonl go
    #[arg(long, value_name = "DIR", env = "DAYBOOK_OUT")]
    pub(crate) out: PathBuf,
    /// The branch whose maintenance workflow is started [default: what the API says]
    #[arg(long, value_name = "NAME", env = "DAYBOOK_DEFAULT_BRANCH")]
    pub(crate) default_branch: Option<String>,
    /// Print the requests that would be sent, and send none; no token is needed
    #[arg(long, env = "DAYBOOK_PRINT_REQUESTS")]
    pub(crate) print_requests: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
