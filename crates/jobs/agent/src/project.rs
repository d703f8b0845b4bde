//! `daybook-agent project`: the ledgers of a run as one read-only SQLite file, for people and for agents that speak SQL.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use daybook_core::config::LedgerConfig;
use daybook_projection::{Projection, ProjectionFault};
use daybook_runner::{CommonArgs, ConfigArgs, Exit, Report};
use daybook_store::FolderIndex;

use crate::serve::ledger::open_memory;
use crate::serve::projected::Projected;

/// Write the restored ledgers into a read-only SQLite file
#[derive(Debug, clap::Args)]
pub struct ProjectArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Folder that holds a folder for each restored memory
    #[arg(long, env = "DAYBOOK_MEMORY_ROOT", value_name = "DIR")]
    memory_root: PathBuf,
    /// The file; it is replaced as a whole
    #[arg(long, value_name = "FILE.db")]
    out: PathBuf,
    #[command(flatten)]
    common: CommonArgs,
}

type Stop = (Exit, &'static str, String);

/// Runs the command.
#[must_use]
pub fn project(args: &ProjectArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    if let Err((exit, code, message)) = all(args, &mut report) {
        report.set_exit(exit).error(code, &message);
    }
    report.emit(&args.common)
}

fn all(args: &ProjectArgs, report: &mut Report) -> Result<(), Stop> {
    let config = args.config.load().map_err(|error| (Exit::Usage, error.code(), error.to_string()))?;
    let unwritable = || (Exit::Io, "out-unwritable", "the file cannot be written".to_owned());
    let failed = |_: ProjectionFault| unwritable();
    let folder = args.out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(|_| unwritable())?;
    let mut projection = Projection::in_file(file.path()).map_err(failed)?;
    let mut total = 0;
    for ledger in config.ledgers() {
        let (next, records) = add(ledger, &args.memory_root, projection)?;
        projection = next;
        total += records;
        report.read(format!("ledger {}: {records} records", ledger.name));
    }
    projection.finish().map_err(failed)?;
    file.as_file().set_permissions(Permissions::from_mode(0o444)).map_err(|_| unwritable())?;
    file.as_file().sync_all().map_err(|_| unwritable())?;
    let bytes = fs::metadata(file.path()).map_or(0, |metadata| metadata.len());
    file.persist(&args.out).map_err(|_| unwritable())?;
    report.wrote("the tables of all ledgers into one file").count("records", total).count("bytes", bytes);
    Ok(())
}

/// Adds one ledger; how many records it has.
fn add(ledger: &LedgerConfig, memory_root: &Path, projection: Projection) -> Result<(Projection, u64), Stop> {
    let unreadable = || (Exit::Io, "ledger-unreadable", "the ledger's folder cannot be read".to_owned());
    let memory = open_memory(ledger, memory_root)
        .map_err(|(sentence, exit)| (exit, "memory-unreadable", sentence.to_owned()))?;
    let Some(shards) = memory.shards().map_err(|_| unreadable())? else { return Ok((projection, 0)) };
    let index = FolderIndex::new(&shards, ledger.limits.max_shards(), []).map_err(|_| unreadable())?;
    let records = u64::try_from(index.records().len()).unwrap_or(u64::MAX);
    let mut projected = Projected::new(projection, ledger.name.as_str(), &index);
    let failed = |_| (Exit::Io, "out-unwritable", "the file cannot be written".to_owned());
    projected.extend(&shards, &index).map_err(failed)?;
    Ok((projected.into_projection(), records))
}
