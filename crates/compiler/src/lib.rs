//! Workflow source to checked configuration and to workflows whose privileges are proven.
//!
//! A source is Markdown with YAML frontmatter. The frontmatter says what the workflow needs; the rest is the prompt.
//! Compiling is a pure function of the source, its file name and the pins: the same input gives the same bytes, on any
//! day. What is printed is read back by an unrelated reader and held to the privilege table before it is handed out.
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
pub mod audit;
mod emit;
mod engine;
mod faults;
mod files;
mod foreign;
mod frontmatter;
#[cfg(test)]
mod goldens;
mod keys;
mod limits;
mod outputs;
mod pins;
mod problem;
mod read;
mod schema;
mod settings;
mod shape;
mod size;
mod steps;
mod tools;
mod trigger;
mod yaml;

use daybook_core::config::Config;

pub use emit::{Checked, MAINTENANCE_FILE, compile, maintenance};
pub use files::{Files, NoFiles};
pub use keys::did_you_mean;
pub use pins::{MAX_PINS_BYTES, PLACEHOLDER_COMMIT, Pins};
pub use problem::{Place, Problem};
pub use schema::schema;

/// Largest source that is read, in bytes.
pub const MAX_SOURCE_BYTES: usize = 1024 * 1024;

/// What the jobs of a source read.
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
    /// What is allowed and worth a word.
    pub warnings: Vec<Problem>,
}

/// Compiles the configuration of one workflow. `file_name` is the last part of its path; its stem is the workflow's
/// name. No other file is read.
///
/// # Errors
///
/// Every [`Problem`] found, in the order of their places.
pub fn compile_config(source: &str, file_name: &str) -> Result<Compiled, Vec<Problem>> {
    compile_config_with(source, file_name, &NoFiles)
}

/// As [`compile_config`], with schemas and scripts that stand in files.
///
/// # Errors
///
/// Every [`Problem`] found, in the order of their places.
pub fn compile_config_with(source: &str, file_name: &str, files: &dyn Files) -> Result<Compiled, Vec<Problem>> {
    assemble::source(source, file_name, files, None).map(|source| source.compiled)
}
