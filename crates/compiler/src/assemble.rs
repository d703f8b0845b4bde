//! Puts the parts of a source together and lets the configuration check them.

use daybook_core::config::{Config, ConfigFault, Name};
use serde_json::{Map, Value, json};

use crate::keys::{LEDGER_OUTPUTS, OTHER, OUTPUTS_OTHER, READ};
use crate::problem::{Place, Problem};
use crate::shape::Shape;
use crate::yaml::{Data, Entry, Node};
use crate::{Compiled, frontmatter, tools, yaml};

pub(crate) fn compile(source: &str, file_name: &str) -> Result<Compiled, Vec<Problem>> {
    let workflow = workflow_name(file_name).map_err(|problem| vec![problem])?;
    let parts = frontmatter::split(source).map_err(|problem| vec![problem])?;
    let tree = yaml::read(parts.yaml).map_err(|problem| vec![problem])?;

    let mut shape = Shape::default();
    let mut title = None;
    let (mut memories, mut ledgers, mut outputs) = (Vec::new(), Vec::new(), Map::new());
    for entry in shape.entries(&tree, "the frontmatter") {
        match entry.key.as_str() {
            "name" => title = text(&mut shape, entry),
            "on" => {}
            "tools" => (memories, ledgers) = tools::read(&mut shape, &entry.value, workflow.as_str()),
            "safe-outputs" => outputs = safe_outputs(&mut shape, &entry.value),
            other if OTHER.contains(&other) => {}
            _ => shape.unknown_key(entry, "the frontmatter", READ.iter().chain(OTHER).copied()),
        }
    }
    if !shape.is_sound() {
        return Err(shape.into_problems());
    }
    let wire = json!({
        "version": 1,
        "workflow": workflow.as_str(),
        "memories": memories,
        "ledgers": ledgers,
        "safe-outputs": outputs,
    });
    let checked = Config::parse(wire.to_string().as_bytes()).and_then(|config| Ok((config.to_bytes()?, config)));
    match checked {
        Ok((config_bytes, config)) => Ok(Compiled { config, config_bytes, title, prompt: parts.prompt.to_owned() }),
        Err(fault) => {
            shape.problem(located(&shape, &fault));
            Err(shape.into_problems())
        }
    }
}

fn workflow_name(file_name: &str) -> Result<Name, Problem> {
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    Name::parse(stem).ok_or_else(|| {
        let message =
            format!("the file name {file_name:?} gives the workflow no name; allowed are letters, digits, _ and -");
        let hint = Some("rename the file, for example to triage.md".to_owned());
        Problem::new("bad-file-name", Place::START, message).with_hint(hint)
    })
}

fn text(shape: &mut Shape, entry: &Entry) -> Option<String> {
    match &entry.value.data {
        Data::Text(text) => Some(text.clone()),
        other => {
            let message = format!("{} is {}; it must be a text", entry.key, other.kind());
            shape.problem(Problem::new("wrong-kind", entry.value.place, message));
            None
        }
    }
}

fn safe_outputs(shape: &mut Shape, node: &Node) -> Map<String, Value> {
    let entries = shape.entries(node, "safe-outputs");
    let is_ours = |entry: &&Entry| LEDGER_OUTPUTS.iter().any(|key| key.name == entry.key);
    for entry in entries.iter().filter(|entry| !is_ours(entry) && !OUTPUTS_OTHER.contains(&entry.key.as_str())) {
        let allowed = LEDGER_OUTPUTS.iter().map(|key| key.name).chain(OUTPUTS_OTHER.iter().copied());
        shape.unknown_key(entry, "safe-outputs", allowed);
    }
    let ours = entries.iter().filter(is_ours).cloned().collect();
    let ours = Node { place: node.place, data: Data::Map(ours) };
    shape.members(&ours, LEDGER_OUTPUTS, "safe-outputs", "safe-outputs")
}

/// Shows in the source what the configuration refuses.
fn located(shape: &Shape, fault: &ConfigFault) -> Problem {
    let place = fault.member().map_or(Place::START, |member| shape.place_of(&member));
    Problem::new("not-allowed", place, fault.to_string())
}
