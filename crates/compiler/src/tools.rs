//! The tools that keep something: ledgers and memories.

use serde_json::{Value, json};

use crate::foreign::{FOREIGN_TOOLS, instead};
use crate::keys::{LEDGER, MEMORY, TOOLS, names};
use crate::problem::Problem;
use crate::shape::Shape;
use crate::yaml::{Data, Node};

/// The id of a memory that has none.
const DEFAULT_ID: &str = "default";

/// Reads `tools` into the configuration's `memories` and `ledgers`.
pub(crate) fn read(shape: &mut Shape<'_>, tools: &Node, workflow: &str) -> (Vec<Value>, Vec<Value>) {
    let (mut found_memories, mut found_ledgers) = (Vec::new(), Vec::new());
    for entry in shape.entries(tools, "tools") {
        match entry.key.as_str() {
            "ledger" => found_ledgers = ledgers(shape, &entry.value),
            "repo-memory" => found_memories = memories(shape, &entry.value, workflow),
            other => match instead(FOREIGN_TOOLS, other) {
                Some(hint) => shape.foreign_key(entry, &format!("tools.{other}"), hint),
                None => shape.unknown_key(entry, "tools", names(TOOLS)),
            },
        }
    }
    (found_memories, found_ledgers)
}

fn ledgers(shape: &mut Shape<'_>, node: &Node) -> Vec<Value> {
    let mut ledgers = Vec::new();
    for entry in shape.entries(node, "tools.ledger") {
        let name = &entry.key;
        let member = format!("ledgers[{name}]");
        shape.stands_at(member.as_str(), entry.place);
        shape.stands_at(format!("ledgers[].name={name}"), entry.place);
        // A ledger without a memory implies one of its own name.
        shape.stands_at(format!("memories[].id={name}"), entry.place);
        shape.stands_at(format!("memories[{name}]"), entry.place);
        let mut members = shape.members(&entry.value, LEDGER, &format!("tools.ledger.{name}"), &member);
        members.insert("name".to_owned(), name.as_str().into());
        ledgers.push(members.into());
    }
    ledgers
}

fn memories(shape: &mut Shape<'_>, node: &Node, workflow: &str) -> Vec<Value> {
    match &node.data {
        Data::Bool(true) => vec![json!({ "id": DEFAULT_ID, "branch": default_branch(workflow, DEFAULT_ID) })],
        Data::Bool(false) => Vec::new(),
        Data::Map(_) => vec![memory(shape, node, workflow)],
        Data::List(nodes) => {
            for item in nodes.iter().filter(|item| !has_id(item)) {
                let message = "every memory of a list needs an id";
                shape.problem(Problem::new("missing-key", item.place, message));
            }
            nodes.iter().map(|item| memory(shape, item, workflow)).collect()
        }
        other => {
            let message = format!("tools.repo-memory is {}; it must be true, a map or a list of maps", other.kind());
            shape.problem(Problem::new("wrong-kind", node.place, message));
            Vec::new()
        }
    }
}

fn has_id(node: &Node) -> bool {
    matches!(&node.data, Data::Map(entries) if entries.iter().any(|entry| entry.key == "id"))
}

fn memory(shape: &mut Shape<'_>, node: &Node, workflow: &str) -> Value {
    let id = match node.to_json().get("id") {
        Some(Value::String(id)) => id.clone(),
        _ => DEFAULT_ID.to_owned(),
    };
    let member = format!("memories[{id}]");
    shape.stands_at(member.as_str(), node.place);
    shape.stands_at(format!("memories[].id={id}"), node.place);
    if let Data::Map(entries) = &node.data
        && let Some(entry) = entries.iter().find(|entry| entry.key == "target-repo")
    {
        let hint = "leave it out: the memory of another repository needs a second token, which no job has";
        shape.foreign_key(entry, "tools.repo-memory.target-repo", hint);
        return json!({});
    }
    let mut members = shape.members(node, MEMORY, "tools.repo-memory", &member);
    let mut branch = default_branch(workflow, &id);
    if let Some(Value::String(prefix)) = node.to_json().get("branch-prefix") {
        branch = branch.replacen("memory/", &format!("{prefix}/"), 1);
    }
    members.entry("id").or_insert_with(|| id.into());
    // Workflows that share one default branch would overwrite each other: the workflow's name is part of it.
    members.entry("branch").or_insert_with(|| branch.into());
    members.into()
}

fn default_branch(workflow: &str, id: &str) -> String {
    if id == DEFAULT_ID { format!("memory/{workflow}") } else { format!("memory/{workflow}-{id}") }
}
