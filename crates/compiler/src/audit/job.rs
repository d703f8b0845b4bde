//! Rules for compiled workflows: each job against its row of the table.

use daybook_workflow::{Level, Scope};
use serde_json::Value;

use crate::emit::conditions::{AGENT, DETECT, DETECT_AUTHOR, PERSIST, PLAN, TOOLS, is_guarded};
use crate::trigger::DANGEROUS;

use super::Findings;
use super::reader::{jobs, members};
use super::table::{Role, installs, is_trusted, needs, rights, role, terms};
use super::{bindings, condition, steps, tokens};

const WORKFLOW_KEYS: &[&str] = &["name", "run-name", "on", "permissions", "jobs"];
const JOB_KEYS: &[&str] = &[
    "name",
    "needs",
    "if",
    "runs-on",
    "environment",
    "concurrency",
    "permissions",
    "timeout-minutes",
    "outputs",
    "steps",
];

pub(crate) fn check(text: &str, workflow: &Value, findings: &mut Findings) {
    for (key, _) in members(workflow).filter(|(key, _)| !WORKFLOW_KEYS.contains(key)) {
        findings.error("unexpected-key", "workflow", format!("a compiled workflow has no {key} of its own"));
    }
    if workflow["permissions"].as_object().is_none_or(|permissions| !permissions.is_empty()) {
        findings.error("permissions-not-empty", "workflow", "permissions at the top must be {}");
    }
    events(text, workflow, findings);
    present(workflow, findings);
    let author_detects = workflow["jobs"].get(DETECT_AUTHOR).is_some();
    let builds = workflow["jobs"].get(TOOLS).is_some();
    for (id, job) in jobs(workflow) {
        let Some(role) = role(id) else {
            findings.error("unknown-job", id, "no job of a compiled workflow has this key");
            continue;
        };
        for (key, _) in members(job).filter(|(key, _)| !JOB_KEYS.contains(key)) {
            findings.error("unexpected-key", id, format!("a job of a compiled workflow has no {key}"));
        }
        permissions(id, &role, job, findings);
        order(id, &role, job, author_detects, builds, findings);
        surroundings(id, &role, job, findings);
        tokens::check(id, &role, job, findings);
        steps::check(id, &role, job, findings);
        bindings::check(id, &role, job, author_detects, findings);
    }
    roles(workflow, findings);
    runners(workflow, findings);
}

fn present(workflow: &Value, findings: &mut Findings) {
    let has = |name: &str| workflow["jobs"].get(name).is_some();
    let is_maintenance = jobs(workflow).any(|(id, _)| id.starts_with(PLAN));
    if !is_maintenance && (!has(AGENT) || !has(DETECT)) {
        findings.error("job-missing", "workflow", "a compiled workflow has the jobs agent and detect");
    }
    if has(AGENT) && !has(PERSIST) {
        findings.note("no-persistence", "workflow", "nothing is persisted; that is so where a workflow has no memory");
    }
}

// DB-3-02, DB-B-10
fn permissions(id: &str, role: &Role<'_>, job: &Value, findings: &mut Findings) {
    let Some(permissions) = job["permissions"].as_object() else {
        findings.error("permissions-missing", id, "every job states its permissions");
        return;
    };
    let rights = rights(role);
    let held = permissions
        .iter()
        .filter_map(|(scope, level)| Some((Scope::parse(scope)?, Level::parse(level.as_str().unwrap_or_default())?)));
    for (scope, level) in held {
        let allowed = rights.anything
            || rights.must == Some((scope, level))
            || rights.may == Some((scope, level))
            || (rights.reads && level == Level::Read);
        if !allowed {
            let message = format!("this job must not hold {}: {}", scope.name(), level.name());
            findings.error("right-too-many", id, message);
        }
    }
    if let Some((scope, level)) = rights.must
        && permissions.get(scope.name()).and_then(Value::as_str) != Some(level.name())
    {
        findings.error("right-missing", id, format!("this job needs {}: {}", scope.name(), level.name()));
    }
}

fn order(id: &str, role: &Role<'_>, job: &Value, author_detects: bool, builds: bool, findings: &mut Findings) {
    let named: Vec<&str> = match &job["needs"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut wanted = needs(role, author_detects);
    if builds && installs(role) {
        wanted.push(TOOLS.to_owned());
    }
    for missing in wanted.iter().filter(|wanted| !named.contains(&wanted.as_str())) {
        findings.error("needs-missing", id, format!("this job must need {missing}"));
    }
    let found = condition::terms(job["if"].as_str().unwrap_or_default());
    for missing in terms(role, author_detects).iter().filter(|term| !found.contains(term)) {
        findings.error("condition-missing", id, format!("the condition of this job must have the term {missing}"));
    }
}

fn surroundings(id: &str, role: &Role<'_>, job: &Value, findings: &mut Findings) {
    if job["timeout-minutes"].as_u64().is_none() {
        findings.error("timeout-missing", id, "every job has a time limit");
    }
    let text = job["runs-on"].to_string();
    if is_trusted(role) && text.contains("${{") {
        findings.error("runner-chosen", id, "the runner of a trusted job cannot be an expression");
    }
    if is_trusted(role) && job.get("environment").is_some() {
        findings.error("unexpected-key", id, "a trusted job has no environment");
    }
    let cancels = job["concurrency"]["cancel-in-progress"] != false;
    match role {
        Role::Agent => {}
        Role::Plan(name) | Role::Apply(name) => {
            let group = job["concurrency"]["group"].as_str() == Some(&format!("daybook-maintenance-{name}"));
            if !group || cancels {
                findings.error(
                    "concurrency-changed",
                    id,
                    "plan and apply of a ledger share one group and cancel nothing",
                );
            }
        }
        _ if job.get("concurrency").is_some() => {
            let message =
                "this job has no concurrency group: GitHub cancels what waits in one, and memory would be lost";
            findings.error("concurrency-changed", id, message);
        }
        _ => {}
    }
}

fn events(text: &str, workflow: &Value, findings: &mut Findings) {
    for event in DANGEROUS.iter().filter(|event| has_event(workflow, event)) {
        let reason = format!("# {event} is used for this reason: ");
        if text.lines().take_while(|line| line.starts_with('#')).any(|line| line.starts_with(&reason)) {
            findings.note("dangerous-event", "workflow", format!("{event} is used, with a reason"));
        } else {
            findings.error("dangerous-event", "workflow", format!("{event} is used without a stated reason"));
        }
    }
}

fn has_event(workflow: &Value, event: &str) -> bool {
    match &workflow["on"] {
        Value::String(name) => name == event,
        Value::Array(names) => names.iter().any(|name| name == event),
        Value::Object(events) => events.contains_key(event),
        _ => false,
    }
}

/// Where anybody can cause an event, the agent's job says who may.
fn roles(workflow: &Value, findings: &mut Findings) {
    let found = condition::terms(workflow["jobs"][AGENT]["if"].as_str().unwrap_or_default());
    if is_guarded(|event| has_event(workflow, event), &found) == Some(false) {
        findings.error("roles-missing", AGENT, "anybody can start the agent; its condition must say who may");
    }
}

/// Runners that GitHub makes anew for each job.
const HOSTED: &[&str] = &["ubuntu-", "windows-", "macos-"];

/// The trusted jobs of a run share one runner, so that none of them can be moved to where an author's code runs. In
/// maintenance the jobs of each ledger do.
fn runners(workflow: &Value, findings: &mut Findings) {
    let trusted: Vec<_> = jobs(workflow)
        .filter_map(|(id, job)| Some((id, role(id).filter(is_trusted)?, job)))
        .filter(|(_, role, _)| *role != Role::Check)
        .collect();
    let ledger = |role: &Role<'_>| match role {
        Role::Plan(name) | Role::Apply(name) => (*name).to_owned(),
        _ => String::new(),
    };
    for (id, one, job) in &trusted {
        let first = trusted.iter().find(|(_, other, _)| ledger(other) == ledger(one));
        if first.is_some_and(|(.., first)| first["runs-on"] != job["runs-on"]) {
            let message = format!("trusted jobs share one runner; this one runs on {}", job["runs-on"]);
            findings.error("runner-differs", id, message);
        }
    }
    let Some((.., first)) = trusted.first() else {
        return;
    };
    let agents = &workflow["jobs"][AGENT]["runs-on"];
    let hosted = agents.as_str().is_some_and(|label| HOSTED.iter().any(|prefix| label.starts_with(prefix)));
    if !hosted && *agents == first["runs-on"] {
        let message = "trusted jobs run where the agent ran; that is safe only where each job gets a fresh machine";
        findings.note("runner-shared", AGENT, message);
    }
}
