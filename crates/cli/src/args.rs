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
    /// Show how full a ledger is, when it was last compacted, and what to do when it is full
    Status(Status),
    /// List records, the newest first
    Log(Log),
    /// Show one record whole, with its parents and children
    Show(Show),
    /// Find records with the query language of the agent's ledger_query tool
    Query(Query),
    /// Show which records and files differ between two commits of a branch
    Diff(Diff),
    /// List the records that no other record names as parent
    Heads(Heads),
    /// Write all records to a file: JSON lines, SQLite, or CSV
    Export(Export),
    /// Write a page that shows everything, in one file
    Report(ReportPage),
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
    /// Print the completions of a shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
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

/// What a command looks at.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// A memory folder (it contains ledger/shards) or a git repository
    #[arg(value_name = "PATH|URL")]
    pub(crate) target: String,
    /// The branch of the repository; may be left out where it has exactly one ledgers/… branch
    #[arg(long, value_name = "NAME", env = "DAYBOOK_BRANCH")]
    pub(crate) branch: Option<String>,
}

/// How text is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Showing {
    /// Show instants instead of ages
    #[arg(long)]
    pub(crate) absolute: bool,
    /// Never start a pager; otherwise long text on a terminal goes through $DAYBOOK_PAGER, $PAGER or less
    #[arg(long)]
    pub(crate) no_pager: bool,
}

/// The limits that a ledger is held against.
#[derive(Debug, clap::Args)]
pub(crate) struct Limits {
    /// The compiled configuration with the ledger's limits [default: the default limits]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The ledger, where the configuration has several
    #[arg(long, value_name = "NAME", env = "DAYBOOK_LEDGER", requires = "config")]
    pub(crate) ledger: Option<String>,
}

/// Which records, in the language of ledger_query.
#[derive(Debug, clap::Args)]
pub(crate) struct Conditions {
    /// Only records of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Only records whose payload meets these conditions, such as '{"payload.issue": {"gte": 7}}'
    #[arg(long = "where", value_name = "JSON")]
    pub(crate) conditions: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Log {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) conditions: Conditions,
    /// Only records from this instant on: 2026-03-01, a whole instant, or an age such as 12h, 3d, 2w
    #[arg(long, value_name = "INSTANT")]
    pub(crate) since: Option<String>,
    /// Only records up to this instant
    #[arg(long, value_name = "INSTANT")]
    pub(crate) until: Option<String>,
    /// Only records with this text in the payload, as its JSON spells it, or in the type
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// Most records; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// One line for each record
    #[arg(long)]
    pub(crate) oneline: bool,
    /// Draw the graph of records and their parents
    #[arg(long, conflicts_with_all = ["kind", "conditions", "since", "until", "contains"])]
    pub(crate) graph: bool,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The record's id or digest, or the beginning of one (four characters or more)
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Query {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) conditions: Conditions,
    /// Most records of the page [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Where the page begins: the nextCursor of the one before
    #[arg(long, value_name = "SHA")]
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Two commits of the branch: ids or their beginnings, HEAD, HEAD~N; a side left out is HEAD
    #[arg(value_name = "A..B")]
    pub(crate) range: String,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Heads {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The form
    #[arg(long = "as", value_enum, value_name = "FORM", default_value = "jsonl")]
    pub(crate) form: ExportForm,
    /// The file, which is replaced; - is standard output, where the form is text
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// A form of all records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportForm {
    /// The stored lines, every parent before its children
    Jsonl,
    /// A database with one table, records
    Sqlite,
    /// A table with the payload as JSON text
    Csv,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportPage {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The page, which is replaced
    #[arg(long, value_name = "FILE")]
    pub(crate) html: PathBuf,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder that the pages are written to
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Maintain {
    /// A clone or bare repository whose branches are the memory, or a memory folder
    #[arg(long, value_name = "PATH|URL", env = "DAYBOOK_MEMORY")]
    pub(crate) memory: String,
    /// The ledger [default: the only one of the configuration or repository, or the name of the memory folder]
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
