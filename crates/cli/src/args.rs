//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;
use daybook_runner::CommonArgs;

#[derive(Debug, clap::Parser)]
#[command(name = "daybook", version, about = "A memory for agents that can be trusted: ledgers on a git branch")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run every job of a workflow here, each as a process of its own, against a copy of a memory
    DryRun(DryRun),
    /// Check every record of a ledger
    Verify(Verify),
    /// Print the canonical text of a JSON file and its SHA-256
    Canon(Canon),
    /// Run a validation script on a copy of a memory, exactly as the persist job runs it
    TryScript(TryScript),
    /// Compact a ledger: show what would be done, or do it
    Maintain(Maintain),
    /// Write a workflow to begin with, its schema for editors and the pins; nothing is overwritten
    Init(Init),
    /// Compile workflow sources to workflows that lie beside them
    Compile(Compile),
    /// Hold workflow files to the privilege table
    Audit(Workflows),
    /// Say what the code of a diagnostic means, and what to do; without a code, list all
    Explain(Explain),
    /// Show which job of a workflow file holds which right, and why
    Permissions(Workflows),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DryRun {
    /// The workflow source [default: the only one in .github/workflows]
    #[arg(value_name = "WORKFLOW.md")]
    pub(crate) source: Option<PathBuf>,
    /// A clone or bare repository whose branches are the memory; it is copied and never written
    #[arg(long, value_name = "PATH|URL", env = "DAYBOOK_MEMORY")]
    pub(crate) memory: Option<String>,
    /// A command that is really run as the agent; it finds its MCP servers in the file $DAYBOOK_MCP_CONFIG
    #[arg(long, value_name = "CMD", conflicts_with = "script", env = "DAYBOOK_AGENT")]
    pub(crate) agent: Option<String>,
    /// A variable of this environment that the agent gets, besides PATH, HOME and TERM; may be repeated
    #[arg(long, value_name = "NAME", requires = "agent")]
    pub(crate) agent_env: Vec<OsString>,
    /// Tool calls to make in place of an agent, one JSON object a line
    #[arg(long, value_name = "FILE", env = "DAYBOOK_SCRIPT")]
    pub(crate) script: Option<PathBuf>,
    /// Run the separate binaries in this folder instead of this one again
    #[arg(long, value_name = "DIR", env = "DAYBOOK_BIN_DIR")]
    pub(crate) bin_dir: Option<PathBuf>,
    /// Keep everything that the jobs read and wrote in this folder, which must be empty or new
    #[arg(long, value_name = "DIR", env = "DAYBOOK_KEEP")]
    pub(crate) keep: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// A memory folder (it contains ledger/shards) or a git repository
    #[arg(value_name = "PATH|URL")]
    pub(crate) target: String,
    /// The branch of the repository; may be left out where it has exactly one ledgers/… branch
    #[arg(long, value_name = "NAME", env = "DAYBOOK_BRANCH")]
    pub(crate) branch: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Maintain {
    /// A clone or bare repository whose branches are the memory, or a memory folder
    #[arg(long, value_name = "PATH|URL", env = "DAYBOOK_MEMORY")]
    pub(crate) memory: String,
    /// The ledger [default: the only one of the configuration, or the name of the memory folder]
    #[arg(long, value_name = "NAME", env = "DAYBOOK_LEDGER")]
    pub(crate) ledger: Option<String>,
    /// The branch it lives on [default: ledgers/NAME]
    #[arg(long, value_name = "NAME", env = "DAYBOOK_BRANCH", conflicts_with = "config")]
    pub(crate) branch: Option<String>,
    /// The compiled configuration with the ledger's limits [default: the default limits, from two shards on]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Apply the plan, too
    #[arg(long)]
    pub(crate) apply: bool,
    /// First put the good records of damaged shards into fresh ones; this writes to the branch
    #[arg(long)]
    pub(crate) rescue: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Canon {
    /// The JSON file, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TryScript {
    /// The script
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A memory folder, or with --branch a repository; its ordinary files are copied and never written
    #[arg(long, value_name = "PATH|URL", env = "DAYBOOK_MEMORY")]
    pub(crate) memory: String,
    /// The branch of the repository
    #[arg(long, value_name = "NAME", env = "DAYBOOK_BRANCH")]
    pub(crate) branch: Option<String>,
    /// The Node binary itself, not a wrapper [default: the first on the PATH]
    #[arg(long, value_name = "PATH", env = "DAYBOOK_NODE")]
    pub(crate) node: Option<PathBuf>,
    /// Time that the script may take
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=600),
        env = "DAYBOOK_TIMEOUT_SECONDS"
    )]
    pub(crate) timeout_seconds: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// The name of the workflow, of its file and of its ledger
    #[arg(value_name = "NAME", default_value = "remember")]
    pub(crate) name: String,
    /// What runs as the agent
    #[arg(long, value_enum, default_value = "claude")]
    pub(crate) engine: Engine,
    /// The repository of Daybook that runs build it from
    #[arg(long, value_name = "OWNER/NAME", requires = "commit")]
    pub(crate) repository: Option<String>,
    /// The commit of it that they build
    #[arg(long, value_name = "40 DIGITS")]
    pub(crate) commit: Option<String>,
}

/// Engines that a workflow can be begun with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    Claude,
    Copilot,
    Codex,
    Gemini,
}

impl Engine {
    /// What a source calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Copilot => "copilot",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Compile {
    /// Workflow sources, or folders of them [default: .github/workflows]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Compare with what is there, byte for byte, and write nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Remove compiled files whose source is gone
    #[arg(long, conflicts_with = "check")]
    pub(crate) prune: bool,
    /// Compile again whenever a file changes, until it is stopped
    #[arg(long, conflicts_with_all = ["check", "prune", "config_only"])]
    pub(crate) watch: bool,
    /// Print the configuration that the jobs of one source read, and write nothing
    #[arg(long, conflicts_with_all = ["check", "prune"])]
    pub(crate) config_only: bool,
    /// The pins file [default: .github/daybook.pins.json of the repository]
    #[arg(long, value_name = "FILE", env = "DAYBOOK_PINS")]
    pub(crate) pins: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Workflows {
    /// Workflow files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// The code, or a whole line that names it in brackets
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}
