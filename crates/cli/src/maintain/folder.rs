//! Both jobs in one process, against a folder that this machine alone writes to (§5.4).
//!
//! A folder cannot exchange its shards in one step. So the replacement is on disk before anything goes, what goes is held
//! against what is there, and a crash anywhere leaves every record in at least one shard.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::SystemTime;

use daybook_compaction::{Decision, Plan, ProvenPlan, RawPlan, Stamp, Target, survey};
use daybook_core::config::Compacted;
use daybook_core::shards::{Found, Shards};
use daybook_core::state::{STATE_PATH, State, Trigger};
use daybook_core::{ShardId, timestamp};
use daybook_runner::{Exit, Report, Stop};
use daybook_store::{FolderLock, MemoryFolder, ShardFolder, StoreError};

/// What stands for the commit that a plan was made on.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

struct Folder<'a>(&'a ShardFolder);

impl Folder<'_> {
    fn content(&self, id: ShardId) -> Result<Option<Vec<u8>>, StoreError> {
        match self.0.read(id) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(StoreError::NotRegular | StoreError::Oversized) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Shards for Folder<'_> {
    type Fault = StoreError;

    fn shard(&self, id: ShardId, max: u64) -> Result<Found<'_>, StoreError> {
        match self.content(id) {
            Err(StoreError::NotFound) => Ok(Found::Absent),
            Ok(Some(bytes)) if bytes.len() as u64 <= max => Ok(Found::Bytes(Cow::Owned(bytes))),
            Ok(_) => Ok(Found::Unusable),
            Err(error) => Err(error),
        }
    }
}

fn unusable(error: StoreError) -> Stop {
    Stop::io(error.code(), error.to_string())
}

fn unwritable(error: io::Error) -> Stop {
    Stop::io("folder-unwritable", format!("the memory folder cannot be changed: {error}"))
}

/// Plans the compaction of a memory folder and, where that is wanted, applies the plan.
pub(super) fn maintain(path: &Path, compacted: &Compacted<'_>, apply: bool, report: &mut Report) -> Result<(), Stop> {
    let target = Target::of(compacted);
    let memory = MemoryFolder::open(path).map_err(unusable)?;
    let Some(shards) = memory.shards().map_err(unusable)? else {
        report.set_outcome("nothing_to_do", Exit::Ok).decided("there is no ledger yet");
        return Ok(());
    };
    // Nobody else writes from the first look to the last deletion.
    let lock = shards.lock().map_err(unusable)?;
    let folder = Folder(&shards);
    let ids = shards.list().map_err(unusable)?.shards;
    report.read(format!("folder: {} of {} shards", ids.len(), target.bounds.max_shards.get()));
    report.count("shards", ids.len() as u64);
    let facts = survey(ids.into_iter().map(|id| (id, 0)), |id| folder.content(id)).map_err(unusable)?;
    let now = now().ok_or_else(|| Stop::io("clock", "the clock shows no time that a plan can carry"))?;
    let stamp = Stamp { trigger: Trigger::Requested, created_at: &now, base_commit: NO_COMMIT };
    let plan = match Plan::choose(&target, &stamp, &facts, &folder).map_err(unusable)? {
        Ok(plan) => plan,
        Err(nothing) => {
            report.set_outcome("nothing_to_do", Exit::Ok).note(nothing.code(), &nothing.to_string());
            return Ok(());
        }
    };
    drop(facts);
    report.set_outcome("planned", Exit::Ok);
    report.decided(format!(
        "{} shards become one of {} records",
        plan.sources().len(),
        plan.replacement().records().len()
    ));
    report.count("sources", plan.sources().len() as u64);
    report.count("records", plan.replacement().records().len() as u64);
    if !apply {
        report.decided("this was a look; with --apply it is done");
        return Ok(());
    }
    let state = memory.compaction_state().map_err(unusable)?.and_then(|bytes| State::parse(&bytes).ok());
    let state = state.filter(|state| state.ledger() == target.ledger);
    let checked = RawPlan::new(&plan.to_bytes()).and_then(|plan| plan.check(&target));
    let decision = checked.map(|plan| plan.prove(&target, &folder, state.as_ref()));
    let Ok(Ok(Decision::Ready(proven))) = decision else {
        return Err(Stop::new(Exit::Stale, "stale", "the folder changed meanwhile; run it again"));
    };
    let retired = retire(path, &shards, &lock, &proven)?;
    let state = State::after(state.as_ref(), target.ledger, proven.plan_id(), proven.trigger(), &now)
        .map_err(|_| Stop::new(Exit::Internal, "transition", "the state cannot be written"))?;
    replace(&path.join(STATE_PATH), &state.to_bytes()).map_err(unwritable)?;
    report
        .set_outcome("applied", Exit::Ok)
        .wrote(format!("shard {}, in place of {retired}", proven.replacement().id()));
    Ok(())
}

/// The replacement comes and is on disk, what it covers goes, and then the folder is on disk.
// DB-5.4-01, DB-5.4-05
fn retire(path: &Path, shards: &ShardFolder, lock: &FolderLock<'_>, proven: &ProvenPlan) -> Result<usize, Stop> {
    let replacement = proven.replacement();
    shards.publish_identical(lock, replacement.id(), replacement.bytes()).map_err(unusable)?;
    let retirement = proven.coverage().retire(&Folder(shards)).map_err(unusable)?;
    let retirement = retirement.map_err(|why| Stop::refused("not-covered", why.to_string()))?;
    for source in retirement.sources() {
        fs::remove_file(path.join(source.path())).map_err(unwritable)?;
    }
    let folder = path.join(replacement.id().path());
    sync(folder.parent().unwrap_or(path)).map_err(unwritable)?;
    Ok(retirement.sources().len())
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync(folder)
}

fn now() -> Option<String> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    timestamp::from_unix_millis(i64::try_from(since.as_millis()).ok()?)
}
