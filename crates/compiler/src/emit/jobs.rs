//! The jobs of a compiled workflow (DESIGN §3).

use daybook_core::config::Config;
use daybook_workflow::{Action, Condition, Expr, Grant, Job, Level, Node, Permissions, Scope, Step, Text};

use crate::assemble::{Source, inert};
use crate::problem::{Place, Problem};
use crate::settings::{AuthorJob, Settings};

use super::common::{BASELINE, FINDINGS, Ground, OUTPUTS, STAGED, job, script, temp};
use super::conditions::{self, AGENT, DETECT, DETECT_AUTHOR, OUTPUT, PERSIST, SAFE_OUTPUTS};
use super::scripts;
use super::slice::{Part, slice};

/// Emits every job of one source.
pub(crate) struct Emitter<'e> {
    pub(crate) source: &'e Source,
    pub(crate) ground: Ground<'e>,
}

impl Emitter<'_> {
    pub(super) fn config(&self) -> &Config {
        &self.source.compiled.config
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.source.settings
    }

    fn has_memory(&self) -> bool {
        !self.config().memories().is_empty()
    }

    fn author_detects(&self) -> bool {
        !self.settings().detection.is_empty()
    }

    /// The ledgers whose compaction the agent may ask for.
    pub(super) fn requestable(&self) -> Vec<&str> {
        let compacted = self.config().ledgers().iter().filter(|ledger| ledger.compaction.is_some());
        let names = compacted.map(|ledger| ledger.name.as_str());
        names.filter(|_| self.settings().requests_compaction).collect()
    }

    /// Every job, in the order of their running.
    pub(crate) fn jobs(&self) -> Result<Vec<Job>, Problem> {
        let mut jobs: Vec<Job> = self.ground.tools_job(&self.settings().trusted_runs_on).into_iter().collect();
        jobs.push(self.agent()?);
        jobs.push(self.detect()?);
        if self.author_detects() {
            jobs.push(self.detect_author());
        }
        jobs.push(self.safe_outputs()?);
        jobs.extend(self.settings().author_jobs.iter().map(|author| self.output(author)));
        if self.has_memory() {
            jobs.push(self.persist()?);
        }
        Ok(jobs)
    }

    /// The steps that bring what the agent left.
    fn staged(&self) -> Vec<Step> {
        let mut steps = self.ground.download("Fetch the baseline", BASELINE, temp("/daybook/baseline"));
        steps.extend(self.ground.download("Fetch what the agent left", STAGED, temp("/daybook/staged")));
        steps
    }

    fn detect(&self) -> Result<Job, Problem> {
        let mut steps = self.ground.install();
        steps.extend(self.staged());
        steps.push(
            script("Look for threats", scripts::DETECT)
                .with_id("detect")
                .with_env("DAYBOOK_CONFIG", slice(self.config(), Part::Detect)?),
        );
        let keep = self.ground.upload("Keep the findings", FINDINGS, temp("/daybook/findings"), "warn");
        steps.extend(keep.into_iter().map(|step| step.when(Condition::new([conditions::not_cancelled()]))));
        let mut detect = job(DETECT, "Detect threats", &self.settings().trusted_runs_on, 15, steps);
        detect.needs = self.ground.needs(&[AGENT]);
        detect.condition = Condition::new(conditions::detect());
        detect.outputs =
            ["verdict", "expect"].map(|output| (output.to_owned(), Expr::step_output("detect", output).into())).into();
        Ok(detect)
    }

    fn detect_author(&self) -> Job {
        let mut steps = self.staged();
        let paths = [
            ("DAYBOOK_STAGED", temp("/daybook/staged")),
            ("DAYBOOK_BASELINE", temp("/daybook/baseline/baseline.json")),
            ("DAYBOOK_VERDICT_FILE", temp("/daybook-verdict")),
        ];
        for step in &self.settings().detection {
            let with_paths = paths.iter().fold(step.clone(), |step, (name, text)| step.with_env(name, text.clone()));
            steps.push(with_paths);
        }
        steps.push(script("Read the author's verdict", scripts::READ_AUTHOR_VERDICT).with_id("bound"));
        let mut detect =
            job(DETECT_AUTHOR, "Detect threats: the author's steps", &self.settings().trusted_runs_on, 15, steps);
        detect.needs = vec![AGENT.to_owned()];
        detect.condition = Condition::new(conditions::detect());
        detect.outputs = vec![("verdict".to_owned(), Expr::step_output("bound", "verdict").into())];
        detect
    }

    fn examined(&self, jobs: &[&str]) -> Vec<String> {
        let author = self.author_detects().then_some(DETECT_AUTHOR);
        self.ground.needs(&[&[AGENT, DETECT], author.as_slice(), jobs].concat())
    }

    /// The verdict, and the digests of the bytes that it is about.
    fn bound(&self, step: Step) -> Step {
        let expect = Text::fixed("baseline.json=")
            .then(Expr::job_output(AGENT, "baseline"))
            .then_fixed(" ")
            .then(Expr::job_output(DETECT, "expect"));
        step.with_env("DAYBOOK_VERDICT", conditions::verdict(self.author_detects()).into())
            .with_env("DAYBOOK_EXPECT", expect)
    }

    fn safe_outputs(&self) -> Result<Job, Problem> {
        let settings = self.settings();
        let requests_compaction = !self.requestable().is_empty();
        let mut steps = self.ground.install();
        steps.extend(self.ground.download("Fetch what the agent left", STAGED, temp("/daybook/staged")));
        let config = slice(self.config(), Part::SafeOutputs { requests_compaction })?;
        let mut handle = script("Check the safe outputs", scripts::SAFE_OUTPUTS)
            .with_id("safe-outputs")
            .with_env("DAYBOOK_CONFIG", config);
        handle = self.bound(handle);
        let mut permissions = Permissions::default();
        if requests_compaction {
            handle = handle
                .with_env("DAYBOOK_DEFAULT_BRANCH", conditions::default_branch().into())
                .with_env("GITHUB_TOKEN", Expr::fixed("github.token").into());
            permissions = permissions.with(grant(
                Scope::Actions,
                Level::Write,
                "starts the maintenance workflow when the agent asks for it",
            )?);
        }
        steps.push(handle);
        let mut outputs = Vec::new();
        if !settings.author_jobs.is_empty() {
            steps.push(script("Bind the outputs for later jobs", scripts::BIND_OUTPUTS).with_id("bound"));
            steps.extend(self.ground.upload(
                "Hand the outputs on",
                OUTPUTS,
                temp("/daybook/bound/outputs.jsonl"),
                "error",
            ));
            outputs = [("types", "safe-outputs"), ("sha256", "bound")]
                .map(|(output, step)| (output.to_owned(), Expr::step_output(step, output).into()))
                .into();
        }
        let mut job = job(SAFE_OUTPUTS, "Safe outputs", &settings.trusted_runs_on, 15, steps);
        job.needs = self.examined(&[]);
        job.condition = Condition::new(conditions::safe_outputs(self.author_detects()));
        job.permissions = permissions;
        job.outputs = outputs;
        Ok(job)
    }

    fn output(&self, author: &AuthorJob) -> Job {
        let mut steps = self.ground.download("Fetch the outputs", OUTPUTS, temp("/daybook-outputs"));
        steps.push(
            script("Check the digest of the outputs", scripts::CHECK_OUTPUTS)
                .with_env("DAYBOOK_SHA256", Expr::job_output(SAFE_OUTPUTS, "sha256").into()),
        );
        let own = [
            ("DAYBOOK_OUTPUTS", temp("/daybook-outputs/outputs.jsonl")),
            ("DAYBOOK_OUTPUT_TYPE", inert(&author.output)),
            ("DAYBOOK_OUTPUT_INPUTS", Text::json(&author.inputs.to_string())),
        ];
        for step in &author.steps {
            let mut step = step.clone();
            step.env.extend(author.env.iter().cloned());
            if matches!(step.action, Action::Run(_)) {
                step.env.extend(own.iter().map(|(name, text)| ((*name).to_owned(), text.clone())));
            }
            steps.push(step);
        }
        let name = author.description.clone().unwrap_or_else(|| author.output.replace('_', " "));
        let mut job = job(&format!("{OUTPUT}{}", author.output), "", &author.runs_on, author.timeout_minutes, steps);
        job.name = inert(&name);
        job.needs = vec![SAFE_OUTPUTS.to_owned()];
        job.condition = Condition::new(conditions::output()).and(has_type(&author.output));
        job.environment.clone_from(&author.environment);
        job.permissions = author.permissions.clone();
        job
    }

    fn persist(&self) -> Result<Job, Problem> {
        let settings = self.settings();
        let mut steps = self.ground.install();
        steps.extend(self.staged());
        let mut base = Text::default();
        for (number, memory) in self.config().memories().iter().enumerate() {
            let separator = if number == 0 { "" } else { " " };
            base = base
                .then_fixed(&format!("{separator}{}=", memory.id))
                .then(Expr::job_output(AGENT, &format!("base_{}", memory.id)));
        }
        let step = script("Persist the memory", scripts::PERSIST)
            .with_id("persist")
            .with_env("DAYBOOK_CONFIG", slice(self.config(), Part::Persist)?)
            .with_env("DAYBOOK_BASE", base);
        steps.push(
            self.bound(step)
                .with_env(
                    "DAYBOOK_RUN_ID",
                    Text::from(Expr::fixed("github.workflow")).then_fixed(" ").then(Expr::fixed("github.run_id")),
                )
                .with_env("GITHUB_TOKEN", Expr::fixed("github.token").into()),
        );
        let mut job = job(PERSIST, "Persist the memory", &settings.trusted_runs_on, 30, steps);
        job.needs = self.examined(&[]);
        job.condition = Condition::new(conditions::persist(self.author_detects(), settings.persist_on));
        job.permissions = Permissions::default().with(grant(
            Scope::Contents,
            Level::Write,
            "pushes what is sound to the memory branches",
        )?);
        Ok(job)
    }
}

fn has_type(output: &str) -> Expr {
    Expr::contains_word(&Expr::job_output(SAFE_OUTPUTS, "types"), output)
}

pub(crate) fn grant(scope: Scope, level: Level, reason: &str) -> Result<Grant, Problem> {
    Grant::new(scope, level, reason).map_err(|fault| Problem::new("self-check", Place::START, fault.to_string()))
}

/// Runners as a node, for the jobs of maintenance.
pub(crate) fn trusted_runner(source: &Source) -> &Node {
    &source.settings.trusted_runs_on
}
