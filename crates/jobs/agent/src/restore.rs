//! Restore: the memories as they are on their branches, written into fresh folders before the agent starts (§5.1,
//! DESIGN §3).
//!
//! Every branch is fetched before the first byte is written, and only a proven absence starts an empty memory: an
//! agent never runs on nothing because a server failed. The baseline that later jobs trust says what was restored.
//! Nothing here prints a path, an address or a word of git's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use daybook_branch::{Entry, EntryKind, Remote, Snapshot, TreeBounds};
use daybook_core::baseline::{Baseline, FileBaseline, MemoryBaseline};
use daybook_core::config::{Config, MemoryConfig};
use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::{Digest, Ledger, Limits, MemoryPath};
use daybook_runner::{CommonArgs, ConfigArgs, Exit, RemoteArgs, Report, Severity, Stop, outputs};
use daybook_store::staged::{MAX_FILE_BYTES, MAX_TOTAL_BYTES};
use serde_json::json;

/// Write every memory's files into a fresh folder of its own, before the agent starts
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    /// Folder that gets one fresh folder for each memory [default: daybook/memory in the runner's temporary folder]
    #[arg(long, value_name = "DIR", env = "DAYBOOK_MEMORY_ROOT")]
    memory_root: Option<PathBuf>,
    /// Where the record of what was restored goes
    #[arg(long, value_name = "FILE", env = "DAYBOOK_BASELINE")]
    baseline: PathBuf,
    #[command(flatten)]
    common: CommonArgs,
}

/// A memory that was fetched and not yet written.
struct Fetched<'a> {
    memory: &'a MemoryConfig,
    snapshot: Snapshot,
    files: Vec<(MemoryPath, Entry)>,
    refused: BTreeMap<&'static str, u64>,
}

/// Runs the step with parsed arguments.
#[must_use]
pub fn restore(args: &RestoreArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    if let Err(stop) = all(args, &mut report) {
        stop.tell(Severity::Error, &mut report).decided("the agent must not start");
    }
    report.emit(&args.common)
}

fn all(args: &RestoreArgs, report: &mut Report) -> Result<(), Stop> {
    let config = args.config.load()?;
    let remote = Remote::of_args(&args.remote)?;
    let root =
        args.memory_root.clone().or_else(default_root).ok_or_else(|| {
            Stop::usage("memory-root-missing", "no folder: give --memory-root DIR, or set RUNNER_TEMP")
        })?;
    let mut fetched =
        config.memories().iter().map(|memory| fetch(&remote, memory)).collect::<Result<Vec<_>, Stop>>()?;

    let mut folders = Folders { root: &root, made: Vec::new() };
    let memories = fetched.iter_mut().map(|memory| folders.write(memory, &config)).collect::<Result<Vec<_>, Stop>>()?;
    let baseline = Baseline::new(memories);
    let text = baseline.to_bytes();
    replace(&args.baseline, &text).map_err(|_| Stop::io("baseline-unwritable", "the baseline cannot be written"))?;
    announce(&baseline, &text)?;
    folders.made.clear();
    tell(report, &fetched, &baseline);
    Ok(())
}

fn default_root() -> Option<PathBuf> {
    let temporary = std::env::var_os("RUNNER_TEMP").filter(|text| !text.is_empty())?;
    Some(PathBuf::from(temporary).join("daybook/memory"))
}

// DB-5.1-01, DB-B-12
fn fetch<'a>(remote: &Remote, memory: &'a MemoryConfig) -> Result<Fetched<'a>, Stop> {
    let snapshot = remote.fetch(&memory.branch)?;
    let mut fetched = Fetched { memory, snapshot, files: Vec::new(), refused: BTreeMap::new() };
    let mut total = 0_u64;
    for entry in fetched.snapshot.entries(TreeBounds::default())? {
        match acceptable(&entry) {
            Ok(path) => {
                total = total.saturating_add(entry.bytes);
                fetched.files.push((path, entry));
            }
            Err(reason) => *fetched.refused.entry(reason).or_default() += 1,
        }
    }
    if total > MAX_TOTAL_BYTES {
        let message = format!("a memory has {total} bytes; at most {MAX_TOTAL_BYTES} are restored");
        return Err(Stop::refused("memory-too-large", message));
    }
    Ok(fetched)
}

/// The path under which an entry is written, or the code of the reason why it is not.
fn acceptable(entry: &Entry) -> Result<MemoryPath, &'static str> {
    match entry.kind {
        EntryKind::File | EntryKind::Executable => (),
        EntryKind::Symlink => return Err("link"),
        EntryKind::Submodule => return Err("submodule"),
        EntryKind::BadName => return Err("bad-name"),
    }
    if entry.bytes > MAX_FILE_BYTES {
        return Err("too-large");
    }
    MemoryPath::parse_bytes(&entry.path).map_err(|fault| fault.code())
}

/// The folders made in this run. They are removed again unless everything succeeded: no half memory is left behind.
struct Folders<'a> {
    root: &'a Path,
    made: Vec<PathBuf>,
}

impl Folders<'_> {
    fn write(&mut self, fetched: &mut Fetched<'_>, config: &Config) -> Result<MemoryBaseline, Stop> {
        let id = fetched.memory.id.as_str();
        let unwritable = |_: io::Error| Stop::io("memory-unwritable", "a memory cannot be written into its folder");
        fs::create_dir_all(self.root).map_err(unwritable)?;
        let folder = self.root.join(id);
        // Whatever is there was not put there by us, and could lead elsewhere.
        fs::create_dir(&folder).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Stop::refused(
                "memory-folder-exists",
                format!("the folder of memory {id} exists already; restore writes into fresh folders only"),
            ),
            _ => unwritable(error),
        })?;
        self.made.push(folder.clone());
        let limits = config.ledger_in(id).map_or_else(Limits::default, |ledger| ledger.limits);
        let mut ledger = Ledger::builder(limits.max_shards());
        let mut files = BTreeMap::new();
        for (path, entry) in &fetched.files {
            let content = fetched.snapshot.content(entry, MAX_FILE_BYTES)?;
            match write_new(&folder, path, &content) {
                // A file system that folds case has one place for two names of the tree.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    *fetched.refused.entry("name-collision").or_default() += 1;
                    continue;
                }
                written => written.map_err(unwritable)?,
            }
            if let Some(shard) = path.shard().filter(|_| entry.bytes <= READ_SHARD_BYTES.get()) {
                ledger.add_shard(shard, &content);
            }
            files.insert(path.clone(), FileBaseline { sha256: Digest::of(&content), bytes: entry.bytes });
        }
        let records: BTreeSet<Digest> = ledger.finish().order().map(|entry| entry.sha()).collect();
        let base = fetched.snapshot.head().map(|head| head.to_string()).unwrap_or_default();
        Ok(MemoryBaseline { id: id.to_owned(), branch: fetched.memory.branch.to_string(), base, files, records })
    }
}

impl Drop for Folders<'_> {
    fn drop(&mut self) {
        for folder in &self.made {
            // The job fails already; what cannot be removed is in a temporary folder of the runner.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Writes one file that must not exist yet. All folders on the way were made by this process, none is a link.
fn write_new(folder: &Path, path: &MemoryPath, content: &[u8]) -> io::Result<()> {
    let target = folder.join(path.as_str());
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&target)?;
    file.write_all(content)?;
    // Whatever the umask says, the agent may read and change it, and nobody may run it.
    file.set_permissions(Permissions::from_mode(0o644))
}

/// Replaces a file in one step: it is the old one or the new one, never a part.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Sets the step outputs: later steps run beside the agent and cannot change them.
// DB-B-01
fn announce(baseline: &Baseline, text: &[u8]) -> Result<(), Stop> {
    let unwritable = |_| Stop::io("output-unwritable", "the step outputs cannot be written");
    for memory in baseline.memories() {
        outputs::set(&format!("base_{}", memory.id), &memory.base).map_err(unwritable)?;
    }
    outputs::set("baseline", &Digest::of(text).to_string()).map_err(unwritable)?;
    Ok(())
}

fn tell(report: &mut Report, fetched: &[Fetched<'_>], baseline: &Baseline) {
    let mut members = Vec::new();
    let (mut files, mut bytes, mut records, mut refused) = (0, 0, 0, 0);
    for (memory, fetched) in baseline.memories().iter().zip(fetched) {
        let (id, branch) = (&memory.id, &memory.branch);
        let here = (memory.files.len() as u64, memory.records.len() as u64);
        if memory.base.is_empty() {
            report.read(format!("branch {branch} does not exist yet")).decided(format!("memory {id} starts empty"));
        } else {
            report.read(format!("branch {branch} at {}", memory.base));
            report.wrote(format!("{} files with {} records into memory {id}", here.0, here.1));
        }
        for (reason, count) in &fetched.refused {
            let message = format!("{count} entries of memory {id} were not restored: {reason}");
            report.diagnose(Severity::Warning, reason, &message, json!({"memory": id, "count": count}));
            refused += count;
        }
        files += here.0;
        records += here.1;
        bytes += memory.files.values().map(|file| file.bytes).sum::<u64>();
        members.push(json!({"id": id, "branch": branch, "base": memory.base, "files": here.0, "records": here.1, "refused": fetched.refused}));
    }
    report
        .member("memories", members)
        .count("memories", baseline.memories().len() as u64)
        .count("files", files)
        .count("bytes", bytes)
        .count("records", records)
        .count("refused", refused);
}

#[cfg(test)]
mod tests {
    use daybook_testkit::git::BareRepository;
    use daybook_testkit::said;

    use super::*;

    /// A disk that folds case has one place for two names; here both names are the same to begin with.
    #[test]
    fn of_two_names_for_one_place_the_first_is_written_and_the_other_told() {
        let place = tempfile::tempdir().unwrap();
        let bare = BareRepository::create(&place.path().join("remote.git"), "sha1");
        bare.commit_files("ledgers/triage", &[("Notes.md", b"first"), ("other.md", b"second")]);
        let config = Config::parse(br#"{"version":1,"workflow":"w","ledgers":[{"name":"triage"}]}"#).unwrap();
        let remote = Remote::new(&bare.url(), None).unwrap();
        let mut fetched = fetch(&remote, &config.memories()[0]).unwrap();
        fetched.files[1].0 = fetched.files[0].0.clone();

        let mut folders = Folders { root: &place.path().join("memory"), made: Vec::new() };
        let memory = folders.write(&mut fetched, &config).unwrap();
        assert_eq!(fs::read(place.path().join("memory/triage/Notes.md")).unwrap(), b"first");
        let kept: Vec<_> = memory.files.values().map(|file| file.sha256).collect();
        assert_eq!(kept, [Digest::of(b"first")], "the baseline has what was written");
        let mut report = Report::new(Exit::Ok);
        tell(&mut report, &[fetched], &Baseline::new(vec![memory]));
        let report = report.to_json();
        said::keep_all(&report);
        assert_eq!(report["diagnostics"][0]["code"], "name-collision");
        assert_eq!((&report["counts"]["files"], &report["counts"]["refused"]), (&1.into(), &1.into()));
    }
}
