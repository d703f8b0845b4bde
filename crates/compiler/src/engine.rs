//! What runs as the agent, and which servers it has.

use daybook_workflow::Secrets;
use serde_json::{Map, Value};

use crate::emit::engines::CLIS;
use crate::keys::{ENGINE, ENGINE_IDS, did_you_mean, names};
use crate::pins::Pins;
use crate::problem::Problem;
use crate::read::{line, refuse, wrong};
use crate::settings::Engine;
use crate::shape::Shape;
use crate::steps;
use crate::yaml::{Data, Node};

pub(crate) fn read(shape: &mut Shape<'_>, node: &Node, pins: Option<&Pins>) -> Option<Engine> {
    let (mut id, mut version, mut model, mut own_steps) = (None, None, None, None);
    match &node.data {
        Data::Text(text) => id = Some(text.clone()),
        Data::Map(entries) => {
            for entry in entries {
                let key = format!("engine.{}", entry.key);
                match entry.key.as_str() {
                    "id" => id = line(shape, &entry.value, &key),
                    "version" => version = word(shape, &entry.value, &key),
                    "model" => model = word(shape, &entry.value, &key),
                    "steps" => own_steps = Some(steps::read(shape, &entry.value, &key, Secrets::Named, pins)),
                    _ => shape.unknown_key(entry, "engine", names(ENGINE)),
                }
            }
        }
        _ => wrong(shape, node, "engine", "the name of an engine, or a map with an id"),
    }
    match (id.as_deref(), own_steps) {
        (Some("custom"), Some(steps)) if !steps.is_empty() && version.is_none() && model.is_none() => {
            Some(Engine::Custom(steps))
        }
        (Some("custom"), _) => {
            let message = "engine custom needs steps, and has neither version nor model".to_owned();
            shape.problem(Problem::new("missing-key", node.place, message));
            None
        }
        (Some(id), steps) => match (CLIS.iter().find(|cli| cli.id == id), steps) {
            (Some(cli), None) => {
                Some(Engine::Cli { cli, version: version.unwrap_or_else(|| cli.version.to_owned()), model })
            }
            (Some(_), Some(_)) => {
                refuse(shape, node, format!("engine {id} has no steps of its own"), "use the engine custom");
                None
            }
            (None, _) => {
                let other: String = id.chars().take(64).collect();
                let message = format!("engine {other:?} is not supported; allowed are {}", ENGINE_IDS.join(", "));
                let hint = did_you_mean(&other, ENGINE_IDS.into_iter())
                    .unwrap_or_else(|| "engine: {id: custom, steps: […]} runs any agent that speaks MCP".to_owned());
                shape.problem(Problem::new("unsupported-engine", node.place, message).with_hint(Some(hint)));
                None
            }
        },
        (None, _) => {
            shape.problem(Problem::new("missing-key", node.place, "engine needs an id"));
            None
        }
    }
}

/// A text that stands on a command line.
fn word(shape: &mut Shape<'_>, node: &Node, key: &str) -> Option<String> {
    let text = line(shape, node, key)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/');
    if text.is_empty() || text.starts_with('-') || !text.chars().all(allowed) {
        refuse(shape, node, format!("{key} is {text:?}; allowed are letters, digits and . - _ : /"), "");
        return None;
    }
    Some(text)
}

/// Servers besides Daybook's own.
pub(crate) fn servers(shape: &mut Shape<'_>, node: &Node) -> Map<String, Value> {
    let mut servers = Map::new();
    for entry in shape.entries(node, "mcp-servers") {
        let key = format!("mcp-servers.{}", entry.key);
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if entry.key == "daybook" || entry.key.is_empty() || !entry.key.chars().all(word) {
            refuse(
                shape,
                &entry.value,
                format!("{key} is no name of a server"),
                "letters, digits, _ and -; daybook is reserved",
            );
            continue;
        }
        let value = entry.value.to_json();
        if !matches!(entry.value.data, Data::Map(_)) || !(value["command"].is_string() || value["url"].is_string()) {
            wrong(shape, &entry.value, &key, "a map with a command or a url");
            continue;
        }
        if value.to_string().contains("${{") {
            let hint = "set a variable under env and write ${NAME} here";
            refuse(shape, &entry.value, format!("{key} holds an expression"), hint);
            continue;
        }
        servers.insert(entry.key.clone(), value);
    }
    servers
}
