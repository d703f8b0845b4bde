//! Puts the parts of a source together and lets the configuration check them.

use daybook_core::config::{Config, Name};
use daybook_workflow::{Secrets, Text};
use serde_json::{Map, Value, json};

use crate::files::Files;
use crate::foreign::{FOREIGN, instead};
use crate::keys::{DETECTION, TOP, names};
use crate::pins::Pins;
use crate::problem::{Place, Problem};
use crate::settings::{PersistOn, Settings};
use crate::shape::Shape;
use crate::{Compiled, engine, faults, frontmatter, limits, outputs, read, steps, tools, trigger, yaml};

/// A source that was read and checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    pub(crate) compiled: Compiled,
    pub(crate) settings: Settings,
}

/// Reads a source. Without pins, as in a dry run, actions of the author are not resolved.
pub(crate) fn source(
    text: &str,
    file_name: &str,
    files: &dyn Files,
    pins: Option<&Pins>,
) -> Result<Source, Vec<Problem>> {
    let workflow = workflow_name(file_name).map_err(|problem| vec![problem])?;
    let parts = frontmatter::split(text).map_err(|problem| vec![problem])?;
    let tree = yaml::read(parts.yaml)?;

    let mut shape = Shape::new(files);
    let mut settings = Settings::default();
    let (mut memories, mut ledgers) = (Vec::new(), Vec::new());
    let (mut bounds, mut weights) = (Map::new(), Map::new());
    for entry in shape.entries(&tree, "the frontmatter") {
        let node = &entry.value;
        let shape = &mut shape;
        match entry.key.as_str() {
            "name" => settings.title = read::line(shape, node, "name"),
            "on" => settings.trigger = trigger::read(shape, node),
            "if" => settings.condition = steps::condition(shape, node, "if"),
            "roles" => settings.roles = trigger::roles(shape, node).unwrap_or_default(),
            "run-name" => settings.run_name = read::value(shape, node, "run-name", Secrets::None),
            "permissions" => {
                let reason = "asked for by the source, for the agent";
                settings.permissions = read::permissions(shape, node, "permissions", false, reason);
            }
            "env" => settings.env = read::env(shape, node, "env", Secrets::Named),
            "environment" => settings.environment = read::any(shape, node, "environment", Secrets::None),
            "concurrency" => settings.concurrency = read::any(shape, node, "concurrency", Secrets::None),
            "runs-on" => settings.runs_on = runner(shape, node, "runs-on", &settings),
            "trusted-runs-on" => settings.trusted_runs_on = runner(shape, node, "trusted-runs-on", &settings),
            "timeout-minutes" => {
                settings.timeout_minutes = read::number(shape, node, "timeout-minutes", 1, 330).unwrap_or_default();
            }
            "steps" => settings.steps = steps::read(shape, node, "steps", Secrets::Named, pins),
            "engine" => settings.engine = engine::read(shape, node, pins),
            "mcp-servers" => settings.mcp_servers = engine::servers(shape, node),
            "tools" => (memories, ledgers) = tools::read(shape, node, workflow.as_str()),
            "safe-outputs" => bounds = outputs::read(shape, node, &mut settings, pins),
            "threat-detection" => weights = detection(shape, node, &mut settings, pins),
            "persist-on" => settings.persist_on = persist_on(shape, node),
            other => match instead(FOREIGN, other) {
                Some(hint) => shape.foreign_key(entry, other, hint),
                None => shape.unknown_key(entry, "the frontmatter", names(TOP)),
            },
        }
    }
    if pins.is_some() {
        complete(&mut shape, &tree);
    }
    let mut wire = json!({
        "version": 1,
        "workflow": workflow.as_str(),
        "memories": memories,
        "ledgers": ledgers,
        "safe-outputs": bounds,
        "detection": weights,
    });
    let config = faults::check(&mut shape, &mut wire);
    let (Some((config, config_bytes)), true) = (config, shape.is_sound()) else {
        return Err(shape.into_problems());
    };
    let refused = scripts_without_sandbox(&shape, &config, &settings);
    if !refused.is_empty() {
        refused.into_iter().for_each(|problem| shape.problem(problem));
        return Err(shape.into_problems());
    }
    let warnings = limits::warnings(&shape, &config);
    let title = settings.title.clone();
    let compiled = Compiled { config, config_bytes, title, prompt: parts.prompt.to_owned(), warnings };
    Ok(Source { compiled, settings })
}

/// A workflow runs at some event, and something is its agent. A dry run needs neither.
fn complete(shape: &mut Shape<'_>, tree: &yaml::Node) {
    for (key, example) in [("on", "on: workflow_dispatch"), ("engine", "engine: claude")] {
        if !matches!(&tree.data, yaml::Data::Map(entries) if entries.iter().any(|entry| entry.key == key)) {
            let hint = Some(format!("write {example}, for example"));
            let message = format!("the frontmatter needs {key}");
            shape.problem(Problem::new("missing-key", Place::START, message).with_hint(hint));
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

fn runner(shape: &mut Shape<'_>, node: &yaml::Node, key: &str, settings: &Settings) -> daybook_workflow::Node {
    match read::runner(shape, node, key) {
        Some(daybook_workflow::Node::Text(text)) if key == "trusted-runs-on" && text.contains("${{") => {
            read::refuse(shape, node, format!("{key} cannot be an expression"), "name the runner");
            settings.trusted_runs_on.clone()
        }
        Some(runner) => runner,
        None => settings.runs_on.clone(),
    }
}

/// What is returned is part of the configuration; the author's own steps are settings.
fn detection(
    shape: &mut Shape<'_>,
    node: &yaml::Node,
    settings: &mut Settings,
    pins: Option<&Pins>,
) -> Map<String, Value> {
    let (steps, weights): (Vec<_>, Vec<_>) =
        shape.entries(node, "threat-detection").iter().cloned().partition(|entry| entry.key == "steps");
    for entry in steps {
        settings.detection = steps::read(shape, &entry.value, "threat-detection.steps", Secrets::Named, pins);
    }
    let weights = yaml::Node { place: node.place, data: yaml::Data::Map(weights) };
    shape.members(&weights, DETECTION, "threat-detection", "detection")
}

fn persist_on(shape: &mut Shape<'_>, node: &yaml::Node) -> PersistOn {
    match read::line(shape, node, "persist-on").as_deref() {
        Some("success") => PersistOn::Success,
        Some("always") | None => PersistOn::Always,
        Some(other) => {
            read::refuse(shape, node, format!("persist-on is {other:?}; allowed is always or success"), "");
            PersistOn::Always
        }
    }
}

/// §4: a script of the author's runs where the kernel can take its rights away, and nowhere else.
fn scripts_without_sandbox(shape: &Shape<'_>, config: &Config, settings: &Settings) -> Vec<Problem> {
    let runner = settings.trusted_runs_on.texts().join(" ").to_ascii_lowercase();
    if !["macos", "windows"].iter().any(|system| runner.contains(system)) {
        return Vec::new();
    }
    let validated = config.memories().iter().filter(|memory| memory.validation.is_some());
    let validated = validated.map(|memory| format!("memories[{}].validation.script", memory.id));
    let selected = config
        .ledgers()
        .iter()
        .filter(|ledger| ledger.compaction.as_ref().is_some_and(|compaction| compaction.script.is_some()));
    let selected = selected.map(|ledger| format!("ledgers[{}].compaction.script", ledger.name));
    validated
        .chain(selected)
        .map(|member| {
            let message = "scripts run in a sandbox that only Linux has, and trusted-runs-on is another system";
            let hint = Some("leave trusted-runs-on out, or name a Linux runner".to_owned());
            Problem::new("script-without-sandbox", shape.place_of(&member), message).with_hint(hint)
        })
        .collect()
}

/// A text that was checked to hold no expression.
pub(crate) fn inert(text: &str) -> Text {
    Text::inert(text).unwrap_or_else(|_| Text::fixed(text))
}
