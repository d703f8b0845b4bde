//! The proof of the privilege table on a printed workflow (DESIGN §1, §3).
//!
//! What is audited is the text, read by a reader that shares no code with the printer. The same check runs on every
//! compile and on any file, compiled, edited or foreign.
//!
//! ```
//! use daybook_compiler::audit::audit;
//!
//! let foreign = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v6\n";
//! let codes: Vec<_> = audit(foreign).unwrap().findings.iter().map(|finding| finding.code).collect();
//! assert!(codes.contains(&"unpinned-action") && codes.contains(&"permissions-missing"));
//! ```

mod bindings;
mod condition;
mod generic;
mod grants;
mod job;
mod reader;
mod steps;
mod table;
mod tokens;
mod writers;

use std::fmt;

use serde_json::Value;

pub use grants::GrantRow;
pub use writers::{Power, Writer};

/// Largest workflow that is read, in bytes; GitHub's own bound is lower.
pub const MAX_WORKFLOW_BYTES: usize = 4 * 1024 * 1024;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// A right too many, or a check too few.
    Error,
    /// Worth a look.
    Note,
}

/// One way in which a workflow does not keep to the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub code: &'static str,
    /// How bad it is.
    pub weight: Weight,
    /// The job, and the number of the step from 1, where it is about one.
    pub place: String,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl Finding {
    /// Whether it makes a check fail.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.weight == Weight::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}: {}", self.place, self.code, self.message)
    }
}

/// What an audit brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Whether the workflow is one that Daybook compiles; only the general rules hold for others.
    pub is_compiled: bool,
    /// Everything found.
    pub findings: Vec<Finding>,
    /// Who holds which right.
    pub grants: Vec<GrantRow>,
    /// Which job could write a memory, and why.
    pub writers: Vec<Writer>,
}

/// Collects findings.
#[derive(Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    fn error(&mut self, code: &'static str, place: &str, message: impl Into<String>) {
        self.0.push(Finding { code, weight: Weight::Error, place: place.to_owned(), message: message.into() });
    }

    fn note(&mut self, code: &'static str, place: &str, message: impl Into<String>) {
        self.0.push(Finding { code, weight: Weight::Note, place: place.to_owned(), message: message.into() });
    }
}

/// Audits the text of a workflow.
///
/// # Errors
///
/// The text cannot be read as a workflow; the message says why.
pub fn audit(text: &str) -> Result<Audit, String> {
    let workflow = reader::read(text)?;
    let is_compiled = is_compiled(text, &workflow);
    let mut findings = Findings::default();
    generic::check(&workflow, &mut findings);
    if is_compiled {
        job::check(text, &workflow, &mut findings);
    }
    Ok(Audit {
        is_compiled,
        findings: findings.0,
        grants: grants::rows(text, &workflow),
        writers: writers::writers(&workflow),
    })
}

/// The first line says so, or the jobs do: taking the line away takes nothing else away.
fn is_compiled(text: &str, workflow: &Value) -> bool {
    let names: Vec<&str> = reader::jobs(workflow).map(|(id, _)| id).collect();
    let has = |name: &str| names.contains(&name);
    crate::emit::version_of(text).is_some()
        || (has("agent") && (has("detect") || has("persist") || has("safe_outputs")))
        || names.iter().any(|name| {
            name.starts_with(crate::emit::conditions::PLAN) || name.starts_with(crate::emit::conditions::APPLY)
        })
}

/// The version of the compiler that printed a file, where it says one.
#[must_use]
pub fn version_of(text: &str) -> Option<&str> {
    crate::emit::version_of(text)
}
