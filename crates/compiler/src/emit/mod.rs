//! From a checked source to the text of a workflow, proven before it is handed out.

mod agent;
pub(crate) mod common;
pub(crate) mod conditions;
pub(crate) mod engines;
mod jobs;
mod maintenance;
mod prompt;
pub(crate) mod scripts;
mod slice;

use daybook_workflow::{Text, Workflow};

use crate::assemble::{self, Source, inert};
use crate::audit;
use crate::emit::common::Ground;
use crate::files::Files;
use crate::pins::Pins;
use crate::problem::{Place, Problem};

pub use maintenance::{FILE as MAINTENANCE_FILE, maintenance};

/// The version that compiled files are marked with.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A compiled workflow whose printed text passed the self-check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    source: Source,
    file_name: String,
    text: String,
}

impl Checked {
    /// The text of the workflow.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is allowed and worth a word.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.source.compiled.warnings
    }

    /// The configuration and the prompt.
    #[must_use]
    pub fn compiled(&self) -> &crate::Compiled {
        &self.source.compiled
    }

    /// The name of the source's file.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }
}

/// Compiles one source to the text of its workflow. The same source, name, files and pins give the same bytes.
///
/// # Errors
///
/// Every [`Problem`] found. A `self-check` problem is a fault of the compiler: the text that it printed does not keep
/// to the privilege table.
// DB-B-11
pub fn compile(source: &str, file_name: &str, files: &dyn Files, pins: &Pins) -> Result<Checked, Vec<Problem>> {
    let ground = Ground::new(pins);
    let source = assemble::source(source, file_name, files, Some(pins)).map_err(|problems| {
        let pins = ground.as_ref().err().cloned();
        pins.into_iter().chain(problems).collect::<Vec<_>>()
    })?;
    let text = ground.and_then(|ground| emit(&source, file_name, ground)).map_err(|problem| vec![problem])?;
    prove(&text)?;
    Ok(Checked { source, file_name: file_name.to_owned(), text })
}

fn emit(source: &Source, file_name: &str, ground: Ground<'_>) -> Result<String, Problem> {
    let jobs = jobs::Emitter { source, ground }.jobs()?;
    let settings = &source.settings;
    let config = &source.compiled.config;
    let mut header = header(&format!("from {file_name}"));
    for (event, reason) in settings.trigger.iter().flat_map(|trigger| &trigger.reasons) {
        header.push(format!("{event} is used for this reason: {reason}"));
    }
    for ledger in config.ledgers() {
        let limits = ledger.limits;
        header.push(format!(
            "ledger {}: {} shards, segments of {} KiB ({}), records of {} KiB ({}), {} KiB a run ({})",
            ledger.name,
            limits.max_shards(),
            limits.max_segment().get() / 1024,
            limits.max_segment(),
            limits.max_record().get() / 1024,
            limits.max_record(),
            limits.max_patch().get() / 1024,
            limits.max_patch(),
        ));
    }
    for memory in config.memories() {
        header.push(format!(
            "memory {} on {}: {} files of {} KiB ({}), {} KiB a run ({})",
            memory.id,
            memory.branch,
            memory.max_file_count,
            memory.max_file_size.get() / 1024,
            memory.max_file_size,
            memory.max_patch_size.get() / 1024,
            memory.max_patch_size,
        ));
    }
    let trigger = settings.trigger.as_ref().map(|trigger| trigger.node.clone());
    let workflow = Workflow {
        header,
        name: inert(source.compiled.title.as_deref().unwrap_or(config.workflow().as_str())),
        run_name: settings.run_name.clone(),
        on: trigger.unwrap_or(daybook_workflow::Node::Empty),
        jobs,
    };
    Ok(workflow.print())
}

/// The lines that a compiled file starts with; the first one names the version.
fn header(origin: &str) -> Vec<String> {
    vec![
        format!("Compiled by Daybook {VERSION} {origin}."),
        "Do not edit: change the source and run daybook compile.".to_owned(),
    ]
}

/// The version of the compiler that printed a file, where it says one.
pub(crate) fn version_of(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix("# Compiled by Daybook ")?.split(' ').next()
}

fn prove(text: &str) -> Result<(), Vec<Problem>> {
    let findings = match audit::audit(text) {
        Ok(audit) => audit.findings,
        Err(message) => return Err(vec![Problem::new("self-check", Place::START, message)]),
    };
    let errors: Vec<Problem> = findings
        .iter()
        .filter(|finding| finding.is_error())
        .map(|finding| Problem::new("self-check", Place::START, format!("the compiled workflow: {finding}")))
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// A fixed name.
pub(crate) fn fixed(text: &str) -> Text {
    Text::fixed(text)
}

#[cfg(test)]
mod tests {
    use daybook_testkit::said;

    use super::*;

    /// Were the emitter wrong, the workflow would not be printed.
    #[test]
    fn a_workflow_that_breaks_the_table_is_not_printed() {
        let golden = include_str!("../../../../testdata/ok/smallest.lock.yml");
        assert_eq!(prove(golden), Ok(()));
        for (from, to) in [("      contents: read", "      contents: write"), ("jobs:", "jobs: {{")] {
            let problems = prove(&golden.replacen(from, to, 1)).unwrap_err();
            for problem in &problems {
                said::keep(problem.code, &problem.message);
            }
            assert!(
                !problems.is_empty() && problems.iter().all(|problem| problem.code == "self-check"),
                "{problems:?}"
            );
        }
    }
}
