//! The job that the author's agent runs in.

use daybook_workflow::{Condition, Expr, Job, Level, Scope, Step, Text};

use crate::assemble::inert;
use crate::pins::CHECKOUT;
use crate::problem::{Place, Problem};
use crate::settings::Engine;

use super::common::{BASELINE, STAGED, job, script, temp};
use super::conditions::{self, AGENT};
use super::jobs::{Emitter, grant};
use super::scripts;
use super::slice::{Part, slice};

/// Longest prompt in bytes: it reaches its step as one environment variable.
const MAX_PROMPT_BYTES: usize = 96 * 1024;

impl Emitter<'_> {
    pub(super) fn agent(&self) -> Result<Job, Problem> {
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
        let own = settings.condition.iter().flat_map(Condition::terms).cloned();
        agent.condition = own.fold(agent.condition, |terms, own| terms.and(Expr::any(&[own])));
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
        let memories: Vec<&str> = self.config().memories().iter().map(|memory| memory.id.as_str()).collect();
        let ledgers: Vec<&str> = self.config().ledgers().iter().map(|ledger| ledger.name.as_str()).collect();
        Ok(script("Write the prompt and the agent's servers", scripts::PREPARE_AGENT)
            .with_env("DAYBOOK_PROMPT_TEXT", inert(&text))
            .with_env("DAYBOOK_DOLLAR", inert(&mark))
            .with_env("DAYBOOK_LEDGERS", inert(&ledgers.join(" ")))
            .with_env("DAYBOOK_MEMORIES", inert(&memories.join(" ")))
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
            Engine::Cli { cli, version, model } => {
                let install =
                    script("Install the agent", cli.install).with_env("DAYBOOK_ENGINE_VERSION", inert(version));
                let servers = settings.mcp_servers.keys().map(String::as_str);
                let ours = (!self.config().ledgers().is_empty()).then_some("daybook");
                let run = script("Run the agent", cli.run)
                    .with_env(cli.key, Expr::secret(cli.secret).into())
                    .with_env("DAYBOOK_ENGINE_MODEL", inert(model.as_deref().unwrap_or_default()))
                    .with_env("DAYBOOK_ENGINE_TOOLS", inert(&cli.tools(ours.into_iter().chain(servers))));
                let mut run = self.for_agent(&run);
                run.timeout_minutes = Some(settings.timeout_minutes);
                Ok(vec![install, run])
            }
        }
    }
}

fn agent_paths() -> Vec<(String, Text)> {
    let paths = [
        ("DAYBOOK_MCP_CONFIG", "/daybook/mcp.json"),
        ("DAYBOOK_MEMORY", "/daybook/memory"),
        ("DAYBOOK_PROMPT", "/daybook/prompt.md"),
        ("DAYBOOK_SAFE_OUTPUTS", "/daybook/safe-outputs.jsonl"),
    ];
    paths.map(|(name, path)| (name.to_owned(), temp(path))).into()
}

fn missing(key: &str, example: &str) -> Problem {
    let hint = Some(format!("write {example}, for example"));
    Problem::new("missing-key", Place::START, format!("the frontmatter needs {key}")).with_hint(hint)
}
