//! The author's selection script: asked for a proposal, in a sandbox, and believed in nothing (§4.2).

use std::path::Path;
use std::time::Duration;

use daybook_compaction::{Facts, NothingToDo, Plan, Stamp, Target, eligible, propose};
use daybook_core::config::Compaction;
use daybook_runner::{MAX_TEXT, Report, Stop, plain};
use daybook_script::{Fault, Launcher, Limits, Sandbox, Script, SegmentFacts};
use serde_json::json;

use crate::head::Head;

/// How long the script may think.
const TIME: Duration = Duration::from_secs(20);

/// A plan of what the script names. Whatever is wrong with the script or its answer, there is nothing to do, and the
/// ledger stays as it is.
pub(crate) fn by_script(
    script: &str,
    node: Option<&Path>,
    settings: &Compaction,
    target: &Target<'_>,
    stamp: &Stamp<'_>,
    head: &Head<'_>,
    report: &mut Report,
) -> Result<Result<Plan, NothingToDo>, Stop> {
    let segments = match eligible(head.facts(), &target.bounds) {
        Ok(segments) => segments,
        Err(nothing) => return Ok(Err(nothing)),
    };
    let named = match ask(script, node, settings, &segments, report) {
        Ok(named) => named,
        Err(fault) => {
            let said = fault.said().map(|said| format!(": {}", plain(said.raw(), MAX_TEXT))).unwrap_or_default();
            report.warning(fault.code(), &format!("{fault}{said}"));
            return Ok(Err(NothingToDo::Proposal("it gave none")));
        }
    };
    let chosen = match propose(head.facts(), &target.bounds, &named) {
        Ok(chosen) => chosen,
        Err(nothing) => {
            report.warning(nothing.code(), &nothing.to_string());
            return Ok(Err(nothing));
        }
    };
    Ok(Plan::build(target, stamp, &chosen, head.tree())?.map_err(NothingToDo::from))
}

fn ask(
    script: &str,
    node: Option<&Path>,
    settings: &Compaction,
    segments: &[&Facts<'_>],
    report: &mut Report,
) -> Result<Vec<String>, Fault> {
    let script = Script::new(script)?;
    let sandbox = Sandbox::open(Launcher::this_program(), node)?;
    report.read(format!(
        "the author's selection script, with Node {}, held by {}",
        sandbox.version(),
        sandbox.strength()
    ));
    let mut facts: Vec<SegmentFacts> = segments
        .iter()
        .map(|one| SegmentFacts { id: one.id(), bytes: one.bytes(), records: one.records().len() as u64 })
        .collect();
    facts.sort_unstable_by_key(|one| one.id);
    let options = json!({
        "schedule": settings.schedule,
        "min-segments": settings.min_segments.get(),
        "max-segments": settings.max_segments.get(),
    });
    sandbox.select(&script, &Limits::within(TIME), &facts, &options).answer
}
