//! The one maintenance workflow of a repository (§5.3, DESIGN §3).

use daybook_core::Digest;
use daybook_workflow::{Condition, Expr, Item, Job, Level, Node, Permissions, Scope, Step, Text, Workflow};

use crate::pins::Pins;
use crate::problem::{Place, Problem};

use super::common::{Ground, job, script, temp};
use super::conditions::{APPLY, CHECK, PLAN};
use super::jobs::{grant, trusted_runner};
use super::slice::{Part, ledger_settings, slice};
use super::{Checked, fixed, header, prove, scripts};

/// The operation that compacts: what safe outputs ask for (§5.3), and the default of a person who runs the workflow.
const COMPACT: &str = "compact_ledger";

/// The operation that shows what compaction would do.
const PLAN_ONLY: &str = "plan_ledger";

/// The name of its file.
pub const FILE: &str = "daybook-maintenance.yml";

/// Emits the maintenance workflow for all sources of a repository; `None` where no ledger is compacted.
///
/// # Errors
///
/// Two workflows configure one ledger differently, or one ledger's name is spelled in two ways.
pub fn maintenance(sources: &[Checked], pins: &Pins) -> Result<Option<String>, Vec<Problem>> {
    let ledgers = ledgers(sources)?;
    if ledgers.is_empty() {
        return Ok(None);
    }
    let text = emit(&ledgers, pins).map_err(|problem| vec![problem])?;
    prove(&text)?;
    Ok(Some(text))
}

/// Each compacted ledger with the first source that has it.
fn ledgers(sources: &[Checked]) -> Result<Vec<(&str, &Checked)>, Vec<Problem>> {
    let mut found: Vec<(&str, &Checked)> = Vec::new();
    let mut problems = Vec::new();
    for checked in sources {
        for ledger in checked.source().compiled.config.ledgers() {
            let name = ledger.name.as_str();
            let before = found.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
            match before {
                None => found.push((name, checked)),
                Some((other, first)) if *other == name && same(first, checked, name) => {}
                Some((other, first)) => {
                    let message = format!(
                        "ledger {name} of {} and ledger {other} of {} are one and are configured differently",
                        checked.file_name(),
                        first.file_name()
                    );
                    let hint = "give both the same settings, or different names".to_owned();
                    problems.push(Problem::new("ledger-conflict", Place::START, message).with_hint(Some(hint)));
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let compacts = |name: &str, checked: &Checked| {
        checked.source().compiled.config.ledger(name).is_some_and(|ledger| ledger.compaction.is_some())
    };
    let mut found: Vec<_> = found.into_iter().filter(|(name, checked)| compacts(name, checked)).collect();
    found.sort_by_key(|(name, _)| *name);
    Ok(found)
}

fn same(first: &Checked, second: &Checked, name: &str) -> bool {
    let settings = |checked: &Checked| ledger_settings(&checked.source().compiled.config, name);
    settings(first) == settings(second)
}

// DB-5.3-01
fn emit(ledgers: &[(&str, &Checked)], pins: &Pins) -> Result<String, Problem> {
    let ground = Ground::new(pins)?;
    let names: Vec<&str> = ledgers.iter().map(|(name, _)| *name).collect();
    let runner = ledgers
        .first()
        .map_or_else(|| Node::text("ubuntu-latest"), |(_, checked)| trusted_runner(checked.source()).clone());
    let mut jobs: Vec<Job> = ground.tools_job(&runner).into_iter().collect();
    jobs.push(check(&names, &runner));
    for (name, checked) in ledgers {
        jobs.push(plan(&ground, name, checked)?);
        jobs.push(apply(&ground, name, checked)?);
    }
    let mut header = header("from all sources of this repository");
    header.push(format!("ledgers: {}", names.join(", ")));
    let workflow = Workflow { header, name: fixed("Daybook maintenance"), run_name: None, on: trigger(&names), jobs };
    Ok(workflow.print())
}

/// Once a day, at a minute that spreads repositories and never changes for one; and on request.
// DB-5.3-02
fn trigger(names: &[&str]) -> Node {
    let digest = Digest::of(names.join(" ").as_bytes()).to_string();
    let number = |at: usize| u64::from_str_radix(digest.get(at..at + 4).unwrap_or("0"), 16).unwrap_or(0);
    let cron = format!("{} {} * * *", number(7) % 60, number(11) % 24);
    let input = |members: Vec<(&str, Node)>| Node::map(members);
    let operation = input(vec![
        ("description", Node::text("What to do: compact, or only plan it")),
        ("type", Node::text("choice")),
        ("options", Node::List(vec![Node::text(COMPACT), Node::text(PLAN_ONLY)])),
        ("default", Node::text(COMPACT)),
    ]);
    let ledger = input(vec![
        ("description", Node::text("The ledger; empty for all")),
        ("type", Node::text("string")),
        ("default", Node::text("")),
    ]);
    let dispatch = Node::map([("inputs", Node::map([("operation", operation), ("ledger", ledger)]))]);
    let schedule = Node::List(vec![Node::map([("cron", Node::text(cron))])]);
    Node::Map(vec![
        ("schedule".to_owned(), Item { node: schedule, comment: Some("what is due is up to each plan".to_owned()) }),
        ("workflow_dispatch".to_owned(), dispatch.into()),
    ])
}

fn check(names: &[&str], runner: &Node) -> Job {
    let step = script("Check the name of the ledger", scripts::CHECK_LEDGER)
        .with_env("DAYBOOK_LEDGERS", fixed(&names.join(" ")))
        .with_env("DAYBOOK_LEDGER", Expr::fixed("inputs.ledger").into())
        .when(Condition::new([Expr::fixed("inputs.ledger != ''")]));
    job(CHECK, "Check the request", runner, 5, vec![step])
}

fn concurrency(name: &str) -> Node {
    Node::map([("group", Node::text(format!("daybook-maintenance-{name}"))), ("cancel-in-progress", Node::Bool(false))])
}

fn artifact(name: &str) -> String {
    format!("daybook-plan-{name}")
}

fn with_ledger(step: Step, checked: &Checked, name: &str, part: Part<'_>) -> Result<Step, Problem> {
    Ok(step
        .with_env("DAYBOOK_CONFIG", slice(&checked.source().compiled.config, part)?)
        .with_env("DAYBOOK_LEDGER", fixed(name))
        .with_env("GITHUB_TOKEN", Expr::fixed("github.token").into()))
}

// DB-3-07, DB-4.2-04
fn plan(ground: &Ground<'_>, name: &str, checked: &Checked) -> Result<Job, Problem> {
    let mut steps = ground.install();
    let step = with_ledger(script("Plan", scripts::PLAN).with_id("plan"), checked, name, Part::Plan(name))?;
    steps.push(step.with_env(
        "DAYBOOK_TRIGGER",
        Expr::fixed("github.event_name == 'schedule' && 'scheduled' || 'requested'").into(),
    ));
    let keep = ground.upload("Keep the plan", &artifact(name), temp("/daybook/plan/plan.json"), "error");
    let planned = || Condition::new([Expr::fixed("steps.plan.outputs.plan != ''")]);
    steps.extend(keep.into_iter().map(|step| step.when(planned())));
    let mut job = job(&format!("{PLAN}{name}"), &format!("Plan {name}"), trusted_runner(checked.source()), 30, steps);
    job.needs = ground.needs(&[CHECK]);
    job.condition = Condition::new([wanted(name)]);
    job.concurrency = Some(concurrency(name));
    job.permissions = Permissions::default().with(grant(Scope::Contents, Level::Read, "reads the ledger's branch")?);
    job.outputs = vec![("plan".to_owned(), Expr::step_output("plan", "plan").into())];
    Ok(job)
}

fn wanted(name: &str) -> Expr {
    Expr::any(&[
        Expr::fixed("inputs.ledger == ''"),
        Expr::fixed("github.event_name == 'schedule'"),
        Expr::input_is("ledger", name),
    ])
}

// DB-3-08
fn apply(ground: &Ground<'_>, name: &str, checked: &Checked) -> Result<Job, Problem> {
    let plan = format!("{PLAN}{name}");
    let mut steps = ground.install();
    steps.extend(ground.download("Fetch the plan", &artifact(name), temp("/daybook/plan")));
    let step = script("Apply", scripts::APPLY).with_id("apply");
    let digest: Text = Expr::job_output(&plan, "plan").into();
    steps.push(with_ledger(step, checked, name, Part::Apply(name))?.with_env("DAYBOOK_PLAN_SHA256", digest));
    let mut job = job(&format!("{APPLY}{name}"), &format!("Apply {name}"), trusted_runner(checked.source()), 30, steps);
    job.needs = ground.needs(&[&plan]);
    let compacts = [Expr::fixed("github.event_name == 'schedule'"), Expr::input_is("operation", COMPACT)];
    job.condition = Condition::new([planned(&plan), Expr::any(&compacts)]);
    job.concurrency = Some(concurrency(name));
    job.permissions =
        Permissions::default().with(grant(Scope::Contents, Level::Write, "replaces the shards that the plan names")?);
    Ok(job)
}

fn planned(plan: &str) -> Expr {
    Expr::is_set(&Expr::job_output(plan, "plan"))
}
