//! The author's gate (§4.1): a script sees the files as they would be on the branch, and without its consent nothing is
//! pushed.

use std::collections::BTreeMap;
use std::time::Duration;

use daybook_core::MemoryPath;
use daybook_core::config::{MemoryConfig, Validation};
use daybook_runner::{Exit, MAX_TEXT, Stop, log, plain};
use daybook_script::{Fault, Launcher, Limits, RunFacts, Sandbox, Script};
use daybook_store::staged::MAX_FILE_BYTES;
use daybook_store::{StoreError, write_candidate};

use crate::files::{FilePlan, Sides};

/// Asks the script about the tree that a commit would make of the memory's ordinary files.
pub(crate) fn consent(
    memory: &MemoryConfig,
    validation: &Validation,
    sides: &Sides<'_>,
    plan: &FilePlan,
    run: &str,
) -> Result<(), Stop> {
    let candidate = candidate(sides, plan)?;
    let folder = tempfile::Builder::new().prefix("daybook-candidate-").tempdir().map_err(|_| unwritable())?;
    let files = candidate.iter().map(|(path, content)| (path, content.as_slice()));
    write_candidate(folder.path(), files).map_err(|error| match error {
        StoreError::Conflict => Stop::new(Exit::Policy, error.code(), WRITTEN),
        _ => unwritable().with_private(error.to_string()),
    })?;
    let script = Script::new(validation.script.as_str()).map_err(refusal)?;
    let sandbox = Sandbox::open(Launcher::this_program(), None).map_err(refusal)?;
    let limits = Limits::within(Duration::from_secs(validation.timeout_seconds));
    let facts = RunFacts { memory: memory.id.to_string(), branch: memory.branch.to_string(), id: run.to_owned() };
    let ran = sandbox.validate(&script, &limits, folder.path(), &facts);
    log("script", ran.output.raw());
    ran.answer.map_err(refusal)
}

const WRITTEN: &str = "the files cannot be written out for the validation script, so it was not asked";

fn unwritable() -> Stop {
    Stop::new(Exit::Policy, "candidate-unwritable", WRITTEN)
}

fn candidate(sides: &Sides<'_>, plan: &FilePlan) -> Result<BTreeMap<MemoryPath, Vec<u8>>, Stop> {
    let mut files = BTreeMap::new();
    for (path, entry) in sides.head.iter().filter(|(_, entry)| entry.kind.is_regular()) {
        files.insert(path.clone(), sides.snapshot.content(entry, MAX_FILE_BYTES)?);
    }
    plan.deletes.iter().for_each(|path| drop(files.remove(path)));
    files.extend(plan.puts.iter().cloned());
    Ok(files)
}

/// §4.1: whatever kept the script from consenting, it did not consent.
// DB-4.1-04
fn refusal(fault: Fault) -> Stop {
    let message = match fault.said() {
        Some(said) => format!("the validation script did not consent: {fault}: {}", plain(said.raw(), MAX_TEXT)),
        None => format!("the validation script did not consent: {fault}"),
    };
    Stop::new(Exit::Policy, fault.code(), message)
}
