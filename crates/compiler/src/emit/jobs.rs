//! The jobs of a compiled workflow (DESIGN §3).

use daybook_core::config::Config;
use daybook_workflow::{Action, Condition, Expr, Grant, Job, Level, Node, Permissions, Scope, Step, Text};

use crate::assemble::{Source, inert};
use crate::pins::CHECKOUT;
use crate::problem::{Place, Problem};
use crate::settings::{AuthorJob, Engine, Settings};

use super::common::{BASELINE, FINDINGS, Ground, OUTPUTS, STAGED, job, script, temp};
use super::conditions::{self, AGENT, DETECT, DETECT_AUTHOR, OUTPUT, PERSIST, SAFE_OUTPUTS};
use super::scripts;
use super::slice::{Part, slice};

/// Longest prompt in bytes: it reaches its step as one environment variable.
const MAX_PROMPT_BYTES: usize = 96 * 1024;

/// Emits every job of one source.
pub(crate) struct Emitter<'e> {
    pub(crate) source: &'e Source,
    pub(crate) ground: Ground<'e>,
}

impl Emitter<'_> {
    fn config(&self) -> &Config {
        &self.source.compiled.config
    }

    fn settings(&self) -> &Settings {
        &self.source.settings
    }

    fn has_memory(&self) -> bool {
        !self.config().memories().is_empty()
    }

    fn author_detects(&self) -> bool {
        !self.settings().detection.is_empty()
    }

    /// The ledgers whose compaction the agent may ask for.
    fn requestable(&self) -> Vec<&str> {
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

    fn agent(&self) -> Result<Job, Problem> {
        let settings = self.settings();
        let trigger = settings.trigger.as_ref().ok_or_else(|| missing("on", "on: workflow_dispatch"))?;
        let mut steps = self.ground.install();
        steps.push(
            script("Write the configuration", scripts::WRITE_CONFIG)
                .with_env("DAYBOOK_CONFIG", slice(self.config(), Part::Agent)?),
        );
        if trigger.events.iter().any(|event| event.starts_with("pull_request")) {
            let foreign = conditions::may_write().iter().map(Expr::not).collect::<Vec<_>>();
            steps.push(
                script("Say that the memory is read-only here", scripts::NOTICE_READ_ONLY)
                    .when(Condition::new([Expr::any(&foreign)])),
            );
        }
        steps.push(
            script("Restore the memory", scripts::RESTORE)
                .with_id("restore")
                .with_env("GITHUB_TOKEN", Expr::fixed("github.token").into()),
        );
        steps.extend(self.ground.upload(
            "Keep the baseline",
            BASELINE,
            temp("/daybook/baseline/baseline.json"),
            "error",
        ));
        let with = vec![("persist-credentials".to_owned(), Text::fixed("false"))];
        steps.extend(self.ground.uses("Check out the repository", CHECKOUT, with));
        steps.extend(settings.steps.iter().map(|step| self.for_agent(step)));
        steps.push(self.prepare_agent()?);
        steps.extend(self.engine()?);
        let was_restored =
            || Condition::new([conditions::not_cancelled(), Expr::fixed("steps.restore.outcome == 'success'")]);
        steps.push(
            script("Merge the transaction log and pack the memory", scripts::MERGE)
                .with_id("merge")
                .when(was_restored()),
        );
        let upload = self.ground.upload("Keep what the agent left", STAGED, temp("/daybook/staged"), "warn");
        steps.extend(upload.into_iter().map(|step| step.when(was_restored())));

        let mut agent = job(AGENT, "Agent", &settings.runs_on, settings.timeout_minutes + 30, steps);
        agent.needs = self.ground.needs(&[]);
        agent.condition = Condition::new(conditions::agent(&trigger.events, &settings.roles));
        agent.environment.clone_from(&settings.environment);
        agent.concurrency.clone_from(&settings.concurrency);
        agent.permissions = settings.permissions.clone().with(grant(
            Scope::Contents,
            Level::Read,
            "restores the memory and checks out the repository",
        )?);
        agent.outputs = vec![("baseline".to_owned(), Expr::step_output("restore", "baseline").into())];
        agent.outputs.extend(self.config().memories().iter().map(|memory| {
            let output = format!("base_{}", memory.id);
            (output.clone(), Expr::step_output("restore", &output).into())
        }));
        Ok(agent)
    }

    /// An author's step, with the author's variables and those that lead to the prompt and the servers.
    fn for_agent(&self, step: &Step) -> Step {
        let mut step = step.clone();
        let named = |env: &[(String, Text)], name: &str| env.iter().any(|(other, _)| other == name);
        for (name, value) in self.settings().env.iter().chain(&agent_paths()) {
            if !named(&step.env, name) {
                step.env.push((name.clone(), value.clone()));
            }
        }
        step
    }

    fn prepare_agent(&self) -> Result<Step, Problem> {
        let prompt =
            super::prompt::full(&self.source.compiled.prompt, &self.settings().author_jobs, &self.requestable());
        let mut mark = String::new();
        if prompt.contains("${{") {
            mark = "%DAYBOOK-DOLLAR%".to_owned();
            while prompt.contains(&mark) {
                mark.push('%');
            }
        }
        let text = prompt.replace("${{", &format!("{mark}{{{{"));
        if text.len() > MAX_PROMPT_BYTES {
            let message = format!("the prompt has {} bytes; allowed are {MAX_PROMPT_BYTES}", text.len());
            return Err(Problem::new("prompt-too-large", Place::START, message));
        }
        let mut servers = String::new();
        for (name, server) in &self.settings().mcp_servers {
            let comma = if servers.is_empty() && self.config().ledgers().is_empty() { "" } else { "," };
            servers.push_str(&format!("{comma}\"{name}\":{server}"));
        }
        let ledgers: Vec<&str> = self.config().ledgers().iter().map(|ledger| ledger.name.as_str()).collect();
        Ok(script("Write the prompt and the agent's servers", scripts::PREPARE_AGENT)
            .with_env("DAYBOOK_PROMPT_TEXT", inert(&text))
            .with_env("DAYBOOK_DOLLAR", inert(&mark))
            .with_env("DAYBOOK_LEDGERS", inert(&ledgers.join(" ")))
            .with_env("DAYBOOK_MCP_SERVERS", Text::json(&servers)))
    }

    fn engine(&self) -> Result<Vec<Step>, Problem> {
        let settings = self.settings();
        match settings.engine.as_ref().ok_or_else(|| missing("engine", "engine: claude"))? {
            Engine::Custom(steps) => {
                let limit = |step: &Step| {
                    let mut step = self.for_agent(step);
                    step.timeout_minutes = step.timeout_minutes.or(Some(settings.timeout_minutes));
                    step
                };
                Ok(steps.iter().map(limit).collect())
            }
            Engine::Claude { version, model } => {
                let install = script("Install the agent", scripts::INSTALL_CLAUDE)
                    .with_env("DAYBOOK_ENGINE_VERSION", inert(version));
                let servers = settings.mcp_servers.keys().map(String::as_str);
                let ours = (!self.config().ledgers().is_empty()).then_some("daybook");
                let tools: Vec<String> = ours.into_iter().chain(servers).map(|name| format!("mcp__{name}")).collect();
                let tools = [
                    tools,
                    vec![
                        "Read".to_owned(),
                        "Write".to_owned(),
                        "Edit".to_owned(),
                        "Glob".to_owned(),
                        "Grep".to_owned(),
                    ],
                ]
                .concat();
                let run = script("Run the agent", scripts::RUN_CLAUDE)
                    .with_env("ANTHROPIC_API_KEY", Expr::secret("ANTHROPIC_API_KEY").into())
                    .with_env("DAYBOOK_ENGINE_MODEL", inert(model.as_deref().unwrap_or_default()))
                    .with_env("DAYBOOK_ENGINE_TOOLS", inert(&tools.join(",")));
                let mut run = self.for_agent(&run);
                run.timeout_minutes = Some(settings.timeout_minutes);
                Ok(vec![install, run])
            }
        }
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
            outputs =
                ["types", "sha256"].map(|output| (output.to_owned(), Expr::step_output("bound", output).into())).into();
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

fn agent_paths() -> Vec<(String, Text)> {
    let paths = [
        ("DAYBOOK_MCP_CONFIG", "/daybook/mcp.json"),
        ("DAYBOOK_PROMPT", "/daybook/prompt.md"),
        ("DAYBOOK_SAFE_OUTPUTS", "/daybook/safe-outputs.jsonl"),
    ];
    paths.map(|(name, path)| (name.to_owned(), temp(path))).into()
}

pub(crate) fn grant(scope: Scope, level: Level, reason: &str) -> Result<Grant, Problem> {
    Grant::new(scope, level, reason).map_err(|fault| Problem::new("self-check", Place::START, fault.to_string()))
}

fn missing(key: &str, example: &str) -> Problem {
    let hint = Some(format!("write {example}, for example"));
    Problem::new("missing-key", Place::START, format!("the frontmatter needs {key}")).with_hint(hint)
}

/// Runners as a node, for the jobs of maintenance.
pub(crate) fn trusted_runner(source: &Source) -> &Node {
    &source.settings.trusted_runs_on
}
