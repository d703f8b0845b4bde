//! Workflow source to checked configuration.
//!
//! A source is Markdown with YAML frontmatter. The frontmatter says what the workflow needs; the rest is the prompt.
//! Compiling is a pure function of the source and its file name: the same input gives the same bytes, on any day.
//!
//! ```
//! let source = "---\non: issues\ntools:\n  ledger:\n    triage: {}\n---\nTriage the new issue.\n";
//! let compiled = daybook_compiler::compile_config(source, "triage.md").unwrap();
//! assert_eq!(compiled.config.ledgers()[0].name.as_str(), "triage");
//! assert_eq!(compiled.prompt, "Triage the new issue.\n");
//!
//! let problems = daybook_compiler::compile_config("---\ntools:\n  legder: {}\n---\n", "triage.md").unwrap_err();
//! assert_eq!((problems[0].line, problems[0].column), (3, 3));
//! assert_eq!(problems[0].hint.as_deref(), Some("did you mean \"ledger\"?"));
//! ```

mod assemble;
mod frontmatter;
mod keys;
mod problem;
mod shape;
mod tools;
mod yaml;

use daybook_core::config::Config;

pub use problem::{Place, Problem};

/// Largest source that is read, in bytes.
pub const MAX_SOURCE_BYTES: usize = 1024 * 1024;

/// What the compiler makes of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The configuration that every job reads (FORMATS §9).
    pub config: Config,
    /// Its canonical text.
    pub config_bytes: Vec<u8>,
    /// The name for people, where the source gives one.
    pub title: Option<String>,
    /// The prompt: all that follows the frontmatter.
    pub prompt: String,
}

/// Compiles the source of one workflow. `file_name` is the last part of its path; its stem is the workflow's name.
///
/// # Errors
///
/// Every [`Problem`] found, in the order of their places.
pub fn compile_config(source: &str, file_name: &str) -> Result<Compiled, Vec<Problem>> {
    assemble::compile(source, file_name)
}
