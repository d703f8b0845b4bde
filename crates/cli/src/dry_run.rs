//! `daybook dry-run`: the whole pipeline of a workflow on this machine.
//!
//! Every job runs as its own process with its own short environment, in the order and with the rights that it has in
//! Actions, against a copy of a memory. Nothing is pushed anywhere else.

mod agent;
mod allowed;
mod jobs;
mod memory;
mod process;
mod script;
mod story;
mod workspace;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use daybook_branch::Remote;
use daybook_compiler::Compiled;
use daybook_core::Digest;
use daybook_core::config::Config;
use daybook_core::event::MutationEvent;
use daybook_runner::{CommonArgs, Exit, Report};
use serde_json::Value;

use self::agent::Agent;
use self::jobs::Jobs;
use self::process::{JobStory, Programs};
use self::workspace::Workspace;
use crate::args::DryRun;
use crate::compile;
use crate::diff::{BranchDiff, BranchState};
use crate::remote_fault::{exit_of, told};

pub(crate) fn run(args: &DryRun, common: &CommonArgs) -> Exit {
    let mut run = match Run::prepare(args, common) {
        Ok(run) => run,
        Err(report) => return report.emit(common),
    };
    let result = run.jobs().and_then(|()| run.compare());
    if let Err(error) = result {
        run.report.set_exit(Exit::Io).error("dry-run-failed", &error);
    }
    run.finish(common)
}

/// A dry run under way.
struct Run {
    config: Config,
    agent: Agent,
    workspace: Workspace,
    programs: Programs,
    remote: Remote,
    before: Vec<BranchState>,
    stories: Vec<JobStory>,
    report: Report,
    talks: bool,
}

impl Run {
    fn prepare(args: &DryRun, common: &CommonArgs) -> Result<Self, Box<Report>> {
        let source = args.source.clone().map_or_else(compile::only_source, Ok)?;
        let compiled = compile::source(&source, common)?;
        let agent = choose_agent(args, &source)?;
        let io = |error: std::io::Error| failed(Exit::Io, "dry-run-failed", &error.to_string());
        let workspace = Workspace::create(args.keep.as_deref()).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => failed(Exit::Usage, "keep-not-empty", &error.to_string()),
            _ => io(error),
        })?;
        write_inputs(&workspace, &compiled).map_err(io)?;
        let programs = Programs::new(args.bin_dir.as_deref()).map_err(io)?;
        let remote = memory::prepare(args.memory.as_deref(), &compiled.config, &workspace.remote())
            .map_err(|fault| failed(exit_of(&fault), fault.kind().code(), &format!("the memory: {}", told(&fault))))?;
        let before =
            states(&remote, &compiled.config).map_err(|error| failed(Exit::Io, "memory-unreadable", &error))?;
        let talks = !common.format().is_document();
        let mut report = Report::new(Exit::Ok);
        report.read(match &args.memory {
            Some(memory) => format!("a copy of the memory {memory}"),
            None => "an empty memory".to_owned(),
        });
        let run = Self {
            config: compiled.config,
            agent,
            workspace,
            programs,
            remote,
            before,
            stories: Vec::new(),
            report,
            talks,
        };
        run.say(&format!("dry run of {} in {}\n", source.display(), run.workspace.root().display()));
        if let Agent::Command(command, _) = &run.agent {
            eprintln!("note: this command is really run as the agent, with your rights: {command}");
        }
        Ok(run)
    }

    /// Every job in its order. A failed restore ends the run before the agent starts; later jobs run even where the
    /// agent failed, as what was acknowledged is kept; and nothing acts on a run that detection did not let pass.
    fn jobs(&mut self) -> Result<(), String> {
        if self.job(|jobs| jobs.restore())? != Exit::Ok {
            self.report.decided("the agent did not start: no memory could be restored");
            return Ok(());
        }
        let agent = agent::run(&self.agent, &self.workspace, &self.programs).map_err(|error| error.to_string())?;
        self.tell(agent);
        self.job(|jobs| jobs.merge())?;
        if self.job(|jobs| jobs.detect())? != Exit::Ok {
            self.report.decided("nothing was handled or persisted: detection did not let the run pass");
            return Ok(());
        }
        self.job(|jobs| jobs.safe_outputs())?;
        self.tell_of_author_jobs();
        let requested = self.requested();
        self.job(|jobs| jobs.persist())?;
        self.maintenance(&requested)
    }

    /// The maintenance workflow for each ledger that is compacted: started by the run, where it asked for that, and else as
    /// its schedule starts it.
    fn maintenance(&mut self, requested: &BTreeSet<String>) -> Result<(), String> {
        let compacted = self.config.ledgers().iter().filter(|ledger| ledger.compaction.is_some());
        let ledgers: Vec<String> = compacted.map(|ledger| ledger.name.to_string()).collect();
        for ledger in ledgers {
            let trigger = if requested.contains(&ledger) { "requested" } else { "scheduled" };
            self.job(|jobs| jobs.plan(&ledger, trigger))?;
            if self.workspace.plan().exists() {
                self.job(|jobs| jobs.apply(&ledger))?;
            }
        }
        Ok(())
    }

    /// The ledgers whose compaction the run asked for, as the safe-output job let them through.
    fn requested(&self) -> BTreeSet<String> {
        let requests = self.stories.last().and_then(|story| story.document.get("requests")?.as_array());
        let ledger = |request: &Value| request.pointer("/body/inputs/ledger")?.as_str().map(str::to_owned);
        requests.into_iter().flatten().filter_map(ledger).collect()
    }

    /// Runs one job of ours and tells about it.
    fn job(&mut self, run: impl FnOnce(&Jobs<'_>) -> io::Result<JobStory>) -> Result<Exit, String> {
        let jobs = Jobs { workspace: &self.workspace, programs: &self.programs, remote: &self.remote };
        let story = run(&jobs).map_err(|error| error.to_string())?;
        Ok(self.tell(story))
    }

    /// What jobs of the author would act on; they are not run here.
    fn tell_of_author_jobs(&mut self) {
        let types = self.stories.last().and_then(|story| story.document.get("types")?.as_object().cloned());
        for (kind, count) in types.unwrap_or_default() {
            self.report.decided(format!("a job of the author's would act on {count} {kind}; it is not run here"));
        }
    }

    /// Tells about a job that ended; the first that did not end well decides how the run ends.
    fn tell(&mut self, story: JobStory) -> Exit {
        self.say(&story::job(&story));
        let exit = story.exit;
        if self.report.exit() == Exit::Ok && exit != Exit::Ok {
            self.report.set_exit(exit);
        }
        self.stories.push(story);
        exit
    }

    /// Compares the branches with what they were, and what landed with what the server acknowledged.
    fn compare(&mut self) -> Result<(), String> {
        let after = states(&self.remote, &self.config)?;
        let mut acknowledged = acknowledged(&self.workspace);
        let (mut landed, mut lost) = (0, 0);
        let mut branches = Vec::new();
        let total = acknowledged.len() as u64;
        for ((memory, before), after) in self.config.memories().iter().zip(&self.before).zip(&after) {
            let diff = BranchDiff::between(&memory.branch, before, after);
            self.say(&story::branch(&diff));
            landed += diff.added.len() as u64;
            lost += diff.lost.len() as u64;
            for record in &diff.added {
                acknowledged.remove(&record.sha());
            }
            branches.push(diff.to_json());
        }
        self.report.count("records-acknowledged", total).count("records-added", landed).count("records-lost", lost);
        self.report.wrote(format!("{landed} records on the copy of the memory"));
        self.report.member("branches", branches);
        if lost > 0 {
            self.report.set_exit(Exit::Internal).error("records-lost", "records that were on the branch are gone");
        }
        if !acknowledged.is_empty() {
            let message = format!("{} acknowledged records did not arrive on the branch", acknowledged.len());
            self.report.warning("not-landed", &message);
        }
        Ok(())
    }

    fn finish(mut self, common: &CommonArgs) -> Exit {
        let jobs: Vec<Value> = self.stories.iter().map(JobStory::to_json).collect();
        self.report.member("jobs", jobs);
        self.report.emit(common)
    }

    fn say(&self, text: &str) {
        if self.talks {
            // A reader that went away is no reason to stop the jobs.
            let _ = std::io::stdout().lock().write_all(text.as_bytes());
        }
    }
}

fn states(remote: &Remote, config: &Config) -> Result<Vec<BranchState>, String> {
    config.memories().iter().map(|memory| BranchState::read(remote, &memory.branch)).collect()
}

/// The records that the server said it appended.
fn acknowledged(workspace: &Workspace) -> BTreeSet<Digest> {
    let log = std::fs::read(workspace.transaction_log()).unwrap_or_default();
    let events = log.split(|byte| *byte == b'\n').filter_map(|line| MutationEvent::parse(line).ok());
    events.map(|event| event.record_sha()).collect()
}

fn write_inputs(workspace: &Workspace, compiled: &Compiled) -> std::io::Result<()> {
    std::fs::write(workspace.config(), &compiled.config_bytes)?;
    std::fs::write(workspace.prompt(), &compiled.prompt)
}

fn choose_agent(args: &DryRun, source: &Path) -> Result<Agent, Box<Report>> {
    if let Some(command) = &args.agent {
        return Ok(Agent::Command(command.clone(), args.agent_env.clone()));
    }
    let beside = source.with_extension("script.jsonl");
    let file = match &args.script {
        Some(file) => file,
        None if beside.is_file() => &beside,
        None => {
            let message = format!(
                "nobody plays the agent: write tool calls into {}, one a line, such as {}; or give --script FILE, or --agent 'CMD'",
                beside.display(),
                r#"{"tool":"ledger_append","arguments":{"type":"note","payload":{"text":"hello"}}}"#
            );
            return Err(failed(Exit::Usage, "no-agent", &message));
        }
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| failed(Exit::Io, "unreadable", &format!("{}: {error}", file.display())))?;
    let calls = script::parse(&text)
        .map_err(|fault| failed(Exit::Usage, "bad-script", &format!("{}: {fault}", file.display())))?;
    Ok(Agent::Script(calls))
}

fn failed(exit: Exit, code: &str, message: &str) -> Box<Report> {
    let mut report = Report::new(exit);
    report.error(code, message);
    Box::new(report)
}
