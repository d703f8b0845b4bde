//! The jobs of ours, each with what it is given in Actions: options, files, variables, and what earlier jobs said.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;

use daybook_branch::Remote;
use daybook_runner::outputs;

use super::allowed::{APPLY, DETECT, MERGE, PERSIST, PLAN, RESTORE, SAFE_OUTPUTS};
use super::process::{self, JobStory, Programs, git_environment, option, telling_environment};
use super::workspace::Workspace;

/// What all jobs of a run share.
pub(crate) struct Jobs<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) programs: &'a Programs,
    pub(crate) remote: &'a Remote,
}

impl Jobs<'_> {
    pub(crate) fn restore(&self) -> io::Result<JobStory> {
        let mut arguments = vec![OsString::from("restore")];
        option(&mut arguments, "--config", self.workspace.config());
        option(&mut arguments, "--remote", self.remote.url());
        option(&mut arguments, "--memory-root", self.workspace.memory());
        option(&mut arguments, "--baseline", self.workspace.baseline());
        let environment = git_environment(self.workspace, RESTORE.job);
        process::run(self.workspace, self.programs, RESTORE, &arguments, &environment)
    }

    pub(crate) fn merge(&self) -> io::Result<JobStory> {
        let mut arguments = Vec::new();
        option(&mut arguments, "--config", self.workspace.config());
        option(&mut arguments, "--memory-root", self.workspace.memory());
        option(&mut arguments, "--baseline", self.workspace.baseline());
        option(&mut arguments, "--transaction-log", self.workspace.transaction_log());
        option(&mut arguments, "--safe-outputs", self.workspace.safe_outputs());
        option(&mut arguments, "--out", self.workspace.staged());
        process::run(self.workspace, self.programs, MERGE, &arguments, &Vec::new())
    }

    pub(crate) fn detect(&self) -> io::Result<JobStory> {
        let mut arguments = Vec::new();
        option(&mut arguments, "--config", self.workspace.config());
        option(&mut arguments, "--staged", self.workspace.staged());
        option(&mut arguments, "--baseline", self.workspace.baseline());
        option(&mut arguments, "--transaction-log", self.workspace.transaction_log());
        option(&mut arguments, "--safe-outputs", self.workspace.safe_outputs());
        option(&mut arguments, "--out", self.workspace.findings());
        let environment = telling_environment(self.workspace, DETECT.job);
        process::run(self.workspace, self.programs, DETECT, &arguments, &environment)
    }

    /// Without a token: what would be sent is printed.
    pub(crate) fn safe_outputs(&self) -> io::Result<JobStory> {
        let mut arguments = vec![OsString::from("--print-requests")];
        option(&mut arguments, "--config", self.workspace.config());
        option(&mut arguments, "--safe-outputs", self.workspace.safe_outputs());
        option(&mut arguments, "--out", self.workspace.outputs());
        self.bind(&mut arguments);
        let environment = telling_environment(self.workspace, SAFE_OUTPUTS.job);
        process::run(self.workspace, self.programs, SAFE_OUTPUTS, &arguments, &environment)
    }

    pub(crate) fn persist(&self) -> io::Result<JobStory> {
        let mut arguments = Vec::new();
        option(&mut arguments, "--config", self.workspace.config());
        option(&mut arguments, "--remote", self.remote.url());
        option(&mut arguments, "--staged", self.workspace.staged());
        option(&mut arguments, "--baseline", self.workspace.baseline());
        option(&mut arguments, "--run-id", "dry-run");
        for (name, value) in self.said(RESTORE.job) {
            if let Some(id) = name.strip_prefix("base_") {
                option(&mut arguments, "--base", format!("{id}={value}"));
            }
        }
        self.bind(&mut arguments);
        let environment = git_environment(self.workspace, PERSIST.job);
        process::run(self.workspace, self.programs, PERSIST, &arguments, &environment)
    }

    pub(crate) fn plan(&self, ledger: &str, trigger: &str) -> io::Result<JobStory> {
        let mut arguments = Vec::new();
        option(&mut arguments, "--config", self.workspace.config());
        option(&mut arguments, "--remote", self.remote.url());
        option(&mut arguments, "--ledger", ledger);
        option(&mut arguments, "--trigger", trigger);
        option(&mut arguments, "--out", self.workspace.plan());
        let environment = git_environment(self.workspace, PLAN.job);
        process::run(self.workspace, self.programs, PLAN, &arguments, &environment)
    }

    pub(crate) fn apply(&self, ledger: &str) -> io::Result<JobStory> {
        let mut arguments = Vec::new();
        option(&mut arguments, "--config", self.workspace.config());
        option(&mut arguments, "--remote", self.remote.url());
        option(&mut arguments, "--ledger", ledger);
        option(&mut arguments, "--plan", self.workspace.plan());
        let environment = git_environment(self.workspace, APPLY.job);
        process::run(self.workspace, self.programs, APPLY, &arguments, &environment)
    }

    /// The verdict, and the digests of the bytes that it is about. That of the baseline is also the one of the time
    /// before the agent: whatever was done to the file since is found out.
    fn bind(&self, arguments: &mut Vec<OsString>) {
        if let Some(baseline) = self.said(RESTORE.job).get("baseline") {
            option(arguments, "--expect", format!("baseline.json={baseline}"));
        }
        let detection = self.said(DETECT.job);
        for (name, output) in [("--expect", "expect"), ("--verdict", "verdict")] {
            if let Some(value) = detection.get(output) {
                option(arguments, name, value);
            }
        }
    }

    /// The step outputs of a job.
    fn said(&self, job: &str) -> BTreeMap<String, String> {
        outputs::parse(&std::fs::read_to_string(self.workspace.of_job(job, "outputs")).unwrap_or_default())
    }
}
