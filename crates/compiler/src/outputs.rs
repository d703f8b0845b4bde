//! Safe outputs: what the configuration bounds, and the author's jobs.

use daybook_workflow::{Node as Yaml, Secrets, Text};
use serde_json::{Map, Value};

use crate::keys::{INPUT, INPUT_TYPES, JOB, LEDGER_OUTPUTS, OUTPUTS, did_you_mean, names};
use crate::pins::Pins;
use crate::problem::Problem;
use crate::read::{any, env, line, number, permissions, refuse, runner};
use crate::settings::{AuthorJob, Settings, USUAL_RUNNER};
use crate::shape::Shape;
use crate::steps;
use crate::yaml::{Data, Entry, Node};

/// Reads `safe-outputs`; what is returned is part of the configuration.
pub(crate) fn read(
    shape: &mut Shape<'_>,
    node: &Node,
    settings: &mut Settings,
    pins: Option<&Pins>,
) -> Map<String, Value> {
    let entries = shape.entries(node, "safe-outputs");
    let is_ours = |entry: &&Entry| LEDGER_OUTPUTS.iter().any(|key| key.name == entry.key);
    for entry in entries.iter().filter(|entry| !is_ours(entry)) {
        if entry.key == "jobs" {
            for job in shape.entries(&entry.value, "safe-outputs.jobs") {
                settings.author_jobs.extend(author_job(shape, job, pins));
            }
        } else if did_you_mean(&entry.key, names(OUTPUTS)).is_none() {
            let hint = format!("write a job under safe-outputs.jobs.{} that does it", entry.key);
            shape.foreign_key(entry, &format!("safe-outputs.{}", entry.key), &hint);
        } else {
            shape.unknown_key(entry, "safe-outputs", names(OUTPUTS));
        }
    }
    let mut types: Vec<&str> = settings.author_jobs.iter().map(|job| job.output.as_str()).collect();
    types.sort_unstable();
    if let Some(twice) = types.windows(2).find(|pair| pair[0] == pair[1]) {
        refuse(shape, node, format!("two jobs act on outputs of the type {}", twice[0]), "");
    }
    settings.requests_compaction = entries
        .iter()
        .any(|entry| entry.key == "ledger-request-compaction" && entry.value.to_json()["max"].as_u64() != Some(0));
    let ours = entries.iter().filter(is_ours).cloned().collect();
    let ours = Node { place: node.place, data: Data::Map(ours) };
    shape.members(&ours, LEDGER_OUTPUTS, "safe-outputs", "safe-outputs")
}

fn author_job(shape: &mut Shape<'_>, entry: &Entry, pins: Option<&Pins>) -> Option<AuthorJob> {
    let around = format!("safe-outputs.jobs.{}", entry.key);
    let output = entry.key.replace('-', "_");
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = output.starts_with(|c: char| c.is_ascii_lowercase());
    if !starts || output.len() > 64 || !output.chars().all(word) || output.starts_with("ledger_") {
        let hint = "names hold lower-case letters, digits, _ and -; ledger- is reserved";
        refuse(shape, &entry.value, format!("{around} is no name of a job"), hint);
        return None;
    }
    let mut job = AuthorJob {
        output,
        description: None,
        inputs: Value::Object(Map::new()),
        permissions: daybook_workflow::Permissions::default(),
        environment: None,
        runs_on: Yaml::text(USUAL_RUNNER),
        timeout_minutes: 15,
        env: Vec::new(),
        steps: Vec::new(),
    };
    for entry in shape.entries(&entry.value, &around) {
        let key = format!("{around}.{}", entry.key);
        let node = &entry.value;
        match entry.key.as_str() {
            "description" => job.description = line(shape, node, &key),
            "inputs" => job.inputs = inputs(shape, node, &key)?,
            "permissions" => {
                job.permissions = permissions(shape, node, &key, true, &format!("asked for by {around} in the source"));
            }
            "environment" => job.environment = any(shape, node, &key, Secrets::None),
            "runs-on" => job.runs_on = runner(shape, node, &key)?,
            "timeout-minutes" => job.timeout_minutes = number(shape, node, &key, 1, 360)?,
            "env" => job.env = env(shape, node, &key, Secrets::Named),
            "steps" => job.steps = steps::read(shape, node, &key, Secrets::NamedAndToken, pins),
            _ => shape.unknown_key(entry, &around, names(JOB)),
        }
    }
    if job.steps.is_empty() {
        shape.problem(Problem::new("missing-key", entry.place, format!("{around} needs steps")));
        return None;
    }
    Some(job)
}

/// What the agent has to say in an output of this type.
fn inputs(shape: &mut Shape<'_>, node: &Node, key: &str) -> Option<Value> {
    let mut inputs = Map::new();
    for entry in shape.entries(node, key) {
        let around = format!("{key}.{}", entry.key);
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if entry.key.is_empty() || entry.key.len() > 64 || entry.key == "type" || !entry.key.chars().all(word) {
            let hint = "names hold letters, digits, _ and -; type is taken";
            refuse(shape, &entry.value, format!("{around} is no name of an input"), hint);
            return None;
        }
        let input = shape.members(&entry.value, INPUT, &around, &around);
        let kind = input.get("type").and_then(Value::as_str).unwrap_or("string");
        if !INPUT_TYPES.contains(&kind) {
            let message = format!("{around}.type is {kind:?}; allowed are {}", INPUT_TYPES.join(", "));
            refuse(shape, &entry.value, message, "");
            return None;
        }
        if (kind == "choice") != input.contains_key("options") {
            refuse(shape, &entry.value, format!("{around} needs options with the type choice, and only there"), "");
            return None;
        }
        inputs.insert(entry.key.clone(), input.into());
    }
    let inputs = Value::Object(inputs);
    if Text::inert(&inputs.to_string()).is_err() {
        refuse(shape, node, format!("{key} holds an expression"), "");
        return None;
    }
    Some(inputs)
}
