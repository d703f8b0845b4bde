//! `daybook-agent serve`: ledgers over MCP, on standard input and output (§3 first row, §5.2).
//!
//! Whatever this process says, to the client or to its log, is a fixed sentence and a code: never a path, an error of
//! the system, or a payload.

mod append;
mod arguments;
mod audit;
mod clock;
mod failure;
mod files;
mod handler;
pub(crate) mod ledger;
pub(crate) mod projected;
mod query;
mod status;
mod tools;
mod transport;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use daybook_core::baseline::Baseline;
use daybook_core::config::Config;
use daybook_runner::{CommonArgs, Exit};
use rmcp::ServiceExt as _;

use audit::TransactionLog;
use handler::Handler;
use ledger::ServedLedger;
use transport::LineTransport;

/// Serve the ledgers of a run to its agent over MCP on standard input and output
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Compiled configuration
    #[arg(long, env = "DAYBOOK_CONFIG_FILE", value_name = "FILE")]
    config: PathBuf,
    /// Folder that holds a folder for each restored memory
    #[arg(long, env = "DAYBOOK_MEMORY_ROOT", value_name = "DIR")]
    memory_root: PathBuf,
    /// What restore recorded before the agent started
    #[arg(long, env = "DAYBOOK_BASELINE", value_name = "FILE")]
    baseline: PathBuf,
    /// Log of appends; made where it is missing
    #[arg(long, env = "DAYBOOK_TRANSACTION_LOG", value_name = "FILE")]
    transaction_log: PathBuf,
    #[command(flatten)]
    common: CommonArgs,
}

/// Why the server cannot start: a sentence for the log, and the exit.
pub(crate) type StartFault = (&'static str, Exit);

/// Serves until the client closes the connection.
#[must_use]
pub fn serve(args: &ServeArgs) -> Exit {
    match start(args) {
        Ok(handler) => serve_on_stdio(handler),
        Err((sentence, exit)) => {
            eprintln!("daybook-agent: {sentence}");
            exit
        }
    }
}

fn start(args: &ServeArgs) -> Result<Handler, StartFault> {
    let config = std::fs::read(&args.config).map_err(|_| ("the configuration cannot be read", Exit::Io))?;
    let config = Config::parse(&config).map_err(|_| ("the configuration is not valid", Exit::Usage))?;
    let baseline = std::fs::read(&args.baseline).map_err(|_| ("the baseline cannot be read", Exit::Io))?;
    let baseline = Baseline::parse(&baseline).map_err(|_| ("the baseline is not valid", Exit::Refused))?;
    let ledgers = config
        .ledgers()
        .iter()
        .map(|ledger| ServedLedger::open(&config, ledger, &args.memory_root, &baseline))
        .collect::<Result<Vec<_>, _>>()?;
    if ledgers.is_empty() {
        return Err(("the configuration has no ledger", Exit::Usage));
    }
    Ok(Handler::new(
        ledgers,
        TransactionLog::new(args.transaction_log.clone(), config.safe_outputs().ledger_mutation_max),
    ))
}

fn serve_on_stdio(handler: Handler) -> Exit {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        eprintln!("daybook-agent: the server cannot start");
        return Exit::Internal;
    };
    runtime.block_on(async {
        let output = Arc::new(Mutex::new(std::io::stdout()));
        // A client that closes before it has said hello is gone, not wrong.
        let Ok(service) = handler.serve(LineTransport::new(std::io::stdin(), output)).await else { return };
        let _ = service.waiting().await;
    });
    Exit::Ok
}
