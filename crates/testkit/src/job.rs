//! A job as a process of its own, in a folder that is its home and its place for temporary files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::said;

/// A job under way.
#[derive(Debug)]
pub struct Job {
    /// Its process.
    pub child: Child,
    /// Its home.
    pub place: PathBuf,
}

/// How a job ended.
#[derive(Debug)]
pub struct Outcome {
    /// Its exit code.
    pub code: i32,
    /// What it wrote to standard output, in JSON.
    pub report: Value,
    /// What it wrote to standard error.
    pub stderr: String,
    /// The step's summary.
    pub summary: String,
}

impl Job {
    /// Starts a job with nothing in its environment but where programs, its home and its summary are; the caller adds
    /// the rest to `environment`.
    ///
    /// # Panics
    /// Where it cannot be started.
    pub fn start(command: &mut Command, place: &Path, environment: impl IntoIterator<Item = (String, String)>) -> Self {
        command.env_clear().env("PATH", std::env::var_os("PATH").expect("a PATH")).env("HOME", place);
        command.env("TMPDIR", place).env("GITHUB_STEP_SUMMARY", place.join("summary.md")).envs(environment);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the job starts");
        Self { child, place: place.to_owned() }
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// Where it ended by a signal or wrote no report.
    #[must_use]
    pub fn finish(self) -> Outcome {
        let output = self.child.wait_with_output().expect("the job ends");
        let stderr = String::from_utf8(output.stderr).expect("text");
        let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        said::keep_all(&report);
        let summary = fs::read_to_string(self.place.join("summary.md")).unwrap_or_default();
        Outcome { code: output.status.code().expect("an exit code"), report, stderr, summary }
    }
}

impl Outcome {
    /// The codes of all diagnostics.
    #[must_use]
    pub fn codes(&self) -> Vec<&str> {
        let diagnostics = self.report["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
        diagnostics.iter().map(|one| one["code"].as_str().unwrap_or_default()).collect()
    }

    /// One of the report's counts.
    ///
    /// # Panics
    /// Where there is no such count.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.report["counts"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {}", self.report))
    }

    /// Holds the end to an exit code and codes of diagnostics.
    ///
    /// # Panics
    /// Where it ended otherwise.
    #[track_caller]
    pub fn assert(&self, code: i32, codes: &[&str]) {
        assert_eq!((self.code, self.codes()), (code, codes.to_vec()), "{}\n{}", self.report, self.stderr);
    }

    /// As [`Outcome::assert`], with the name of the outcome.
    ///
    /// # Panics
    /// Where it ended otherwise.
    #[track_caller]
    pub fn assert_named(&self, outcome: &str, code: i32, codes: &[&str]) {
        assert_eq!(self.report["outcome"], outcome, "{}\n{}", self.report, self.stderr);
        self.assert(code, codes);
    }
}
