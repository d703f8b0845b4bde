//! One job as a process of its own, with an environment of its own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use daybook_runner::{Exit, summary};
use serde_json::{Value, json};

use super::allowed::Allowed;
use super::workspace::Workspace;

/// Largest report of a job that is read, in bytes.
const MAX_REPORT: u64 = 16 * 1024 * 1024;

/// Which program runs a job.
pub(crate) struct Programs {
    bin_dir: Option<PathBuf>,
    this: PathBuf,
}

impl Programs {
    /// This binary again, or the separate binaries of a folder.
    pub(crate) fn new(bin_dir: Option<&Path>) -> io::Result<Self> {
        let bin_dir = bin_dir.map(Path::canonicalize).transpose()?;
        Ok(Self { bin_dir, this: std::env::current_exe()? })
    }

    /// The absolute path of the program of a job, and its first arguments.
    pub(crate) fn of(&self, job: &str) -> (PathBuf, Vec<OsString>) {
        match &self.bin_dir {
            Some(folder) => (folder.join(format!("daybook-{job}")), Vec::new()),
            None => (self.this.clone(), vec!["job".into(), job.into()]),
        }
    }
}

/// What became of one job.
pub(crate) struct JobStory {
    pub(crate) allowed: Allowed,
    pub(crate) environment: Vec<String>,
    pub(crate) exit: Exit,
    /// The job's own report.
    pub(crate) document: Value,
    /// What it would show on the page of a run, as Markdown.
    pub(crate) summary: String,
    pub(crate) took: Duration,
}

impl JobStory {
    pub(crate) fn outcome(&self) -> &str {
        self.document.get("outcome").and_then(Value::as_str).unwrap_or(self.exit.name())
    }

    /// The job as data: its own report and what this run knows about it.
    pub(crate) fn to_json(&self) -> Value {
        let mut document = self.document.clone();
        if let Some(members) = document.as_object_mut() {
            members.insert("job".to_owned(), self.allowed.job.into());
            members.insert("summary".to_owned(), self.summary.as_str().into());
            members.insert("exit".to_owned(), self.exit.code().into());
            members.insert("allowed".to_owned(), self.allowed.to_json(&self.environment));
            members.insert("milliseconds".to_owned(), u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX).into());
        }
        document
    }
}

/// Variables of a job: the name and the value.
pub(crate) type Environment = Vec<(&'static str, OsString)>;

/// The files for a job's outputs and summary.
pub(crate) fn telling_environment(workspace: &Workspace, job: &str) -> Environment {
    vec![
        ("GITHUB_OUTPUT", workspace.of_job(job, "outputs").into()),
        ("GITHUB_STEP_SUMMARY", workspace.of_job(job, "summary.md").into()),
    ]
}

/// What jobs that run git get, besides those files.
pub(crate) fn git_environment(workspace: &Workspace, job: &str) -> Environment {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut environment = vec![("PATH", path), ("HOME", workspace.home().into()), ("TMPDIR", workspace.tmp().into())];
    environment.extend(telling_environment(workspace, job));
    environment
}

/// Runs one job to its end. What it says on standard error is kept in its log.
pub(crate) fn run(
    workspace: &Workspace,
    programs: &Programs,
    allowed: Allowed,
    arguments: &[OsString],
    environment: &Environment,
) -> io::Result<JobStory> {
    let program = if allowed.job == "restore" { "agent" } else { allowed.job };
    let (program, first) = programs.of(program);
    let since = Instant::now();
    let log = workspace.of_job(allowed.job, "log");
    let mut child = Command::new(&program)
        .args(first)
        .args(arguments)
        .args(["--format", "json"])
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(workspace.root())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(&log)?)
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
    let mut report = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_REPORT).read_to_end(&mut report)?;
    }
    let status = child.wait()?;
    std::fs::write(workspace.of_job(allowed.job, "json"), &report)?;
    let exit = status.code().and_then(Exit::from_code).unwrap_or(Exit::Internal);
    let (exit, document) = match serde_json::from_slice(&report) {
        Ok(Value::Object(document)) => (exit, Value::Object(document)),
        _ => silent(exit, &tail(&log)),
    };
    let took = since.elapsed();
    let summary = read_summary(&workspace.of_job(allowed.job, "summary.md"));
    Ok(JobStory { allowed, environment: names(environment), exit, document, summary, took })
}

/// A job's summary; the jobs themselves keep it under the bound of a runner.
fn read_summary(file: &Path) -> String {
    let mut text = Vec::new();
    let read = File::open(file).and_then(|file| file.take(summary::MAX_BYTES).read_to_end(&mut text));
    read.map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// The names of variables, for the table of what a job was allowed.
pub(crate) fn names(environment: &Environment) -> Vec<String> {
    environment.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// How a job ended that gave no report, never well, and a report in its place.
fn silent(exit: Exit, last_words: &str) -> (Exit, Value) {
    let exit = if exit == Exit::Ok { Exit::Internal } else { exit };
    let message = format!("the job gave no report; it said: {last_words}");
    let document = json!({
        "outcome": exit.name(),
        "diagnostics": [{ "code": "no-report", "severity": "error", "message": message }],
        "counts": {}, "read": [], "decided": [], "wrote": [],
    });
    (exit, document)
}

fn tail(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let last = text.get(text.len().saturating_sub(400)..).unwrap_or_default();
    String::from_utf8_lossy(last).trim().replace('\n', " / ")
}

/// Puts an option and its value after others.
pub(crate) fn option(arguments: &mut Vec<OsString>, name: &str, value: impl AsRef<OsStr>) {
    arguments.push(name.into());
    arguments.push(value.as_ref().to_owned());
}
