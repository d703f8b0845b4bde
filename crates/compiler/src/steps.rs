//! Steps that an author wrote.

use daybook_workflow::{Action, Condition, Expr, PinnedAction, Script, Secrets, Step};

use crate::keys::{STEP, names};
use crate::pins::Pins;
use crate::problem::Problem;
use crate::read::{env, line, number, refuse, text, value, wrong};
use crate::shape::Shape;
use crate::yaml::{Data, Node};

/// Ids that the compiler's own steps have.
pub(crate) const OWN_IDS: &[&str] =
    &["restore", "merge", "detect", "safe-outputs", "bound", "persist", "plan", "apply", "tools"];

/// Reads a list of steps. Without pins, as in a dry run, actions are not resolved.
pub(crate) fn read(
    shape: &mut Shape<'_>,
    node: &Node,
    around: &str,
    secrets: Secrets,
    pins: Option<&Pins>,
) -> Vec<Step> {
    let Data::List(nodes) = &node.data else {
        wrong(shape, node, around, "a list of steps");
        return Vec::new();
    };
    let numbered = nodes.iter().enumerate();
    numbered.filter_map(|(at, node)| step(shape, node, &format!("{around}[{at}]"), secrets, pins)).collect()
}

fn step(shape: &mut Shape<'_>, node: &Node, around: &str, secrets: Secrets, pins: Option<&Pins>) -> Option<Step> {
    let mut action = None;
    let mut with = Vec::new();
    let mut step = Step::run("Run a script of the author's", Script::new("").ok()?);
    for entry in shape.entries(node, around) {
        let key = format!("{around}.{}", entry.key);
        let node = &entry.value;
        match entry.key.as_str() {
            "name" => step.name = value(shape, node, &key, Secrets::None)?,
            "id" => step.id = Some(id(shape, node, &key)?),
            "if" => step.condition = condition(shape, node, &key)?,
            "run" => action = Some(Action::Run(script(shape, node, &key)?)),
            "uses" => action = Some(Action::Uses(pinned(shape, node, &key, pins)?, Vec::new())),
            "with" => with = inputs(shape, node, &key, secrets),
            "env" => step.env = env(shape, node, &key, secrets),
            "timeout-minutes" => step.timeout_minutes = number(shape, node, &key, 1, 360),
            "continue-on-error" => step.continue_on_error = truth(shape, node, &key)?,
            "shell" => step.shell = line(shape, node, &key),
            "working-directory" => step.working_directory = value(shape, node, &key, Secrets::None),
            _ => shape.unknown_key(entry, around, names(STEP)),
        }
    }
    match action {
        Some(Action::Run(script)) if with.is_empty() => step.action = Action::Run(script),
        Some(Action::Uses(pin, _)) => {
            if pin.name() == crate::pins::CHECKOUT && !with.iter().any(|(name, _)| name == "persist-credentials") {
                with.push(("persist-credentials".to_owned(), daybook_workflow::Text::fixed("false")));
            }
            step.action = Action::Uses(pin, with);
        }
        _ => {
            let message = format!("{around} needs either run, or uses with an optional with");
            shape.problem(Problem::new("missing-key", node.place, message));
            return None;
        }
    }
    Some(step)
}

fn script(shape: &mut Shape<'_>, node: &Node, key: &str) -> Option<Script> {
    let text = text(shape, node, key)?;
    Script::new(&text).map_or_else(
        |_| {
            let message = format!("{key} holds ${{{{, which would be pasted into the script");
            let hint = "put the expression into env and use the variable in the script".to_owned();
            shape.problem(Problem::new("expression-in-run", node.place, message).with_hint(Some(hint)));
            None
        },
        Some,
    )
}

fn id(shape: &mut Shape<'_>, node: &Node, key: &str) -> Option<String> {
    let id = line(shape, node, key)?;
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if OWN_IDS.contains(&id.as_str())
        || !id.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        || !id.chars().all(word)
    {
        let hint = format!("ids hold letters, digits, _ and -; reserved are {}", OWN_IDS.join(", "));
        refuse(shape, node, format!("{key} is {id:?}"), &hint);
        return None;
    }
    Some(id)
}

pub(crate) fn condition(shape: &mut Shape<'_>, node: &Node, key: &str) -> Option<Condition> {
    let text = match &node.data {
        Data::Bool(value) => value.to_string(),
        _ => text(shape, node, key)?,
    };
    match Expr::author_condition(&text, Secrets::None) {
        Ok(expr) => Some(Condition::new([expr])),
        Err(fault) => {
            refuse(shape, node, format!("{key}: {fault}"), "");
            None
        }
    }
}

fn inputs(shape: &mut Shape<'_>, node: &Node, key: &str, secrets: Secrets) -> Vec<(String, daybook_workflow::Text)> {
    let entries = shape.entries(node, key);
    let mut inputs = Vec::new();
    for entry in entries {
        if entry.key == "persist-credentials" && !matches!(entry.value.data, Data::Bool(false)) {
            let hint = "a script that needs the token names it in its env";
            refuse(shape, &entry.value, format!("{key}.persist-credentials must be false"), hint);
            continue;
        }
        if let Some(value) = value(shape, &entry.value, &format!("{key}.{}", entry.key), secrets) {
            inputs.push((entry.key.clone(), value));
        }
    }
    inputs
}

fn truth(shape: &mut Shape<'_>, node: &Node, key: &str) -> Option<bool> {
    match node.data {
        Data::Bool(value) => Some(value),
        _ => {
            wrong(shape, node, key, "true or false");
            None
        }
    }
}

fn pinned(shape: &mut Shape<'_>, node: &Node, key: &str, pins: Option<&Pins>) -> Option<PinnedAction> {
    let text = line(shape, node, key)?;
    let Some((name, reference)) = text.split_once('@').filter(|(name, _)| !name.starts_with(['.', '/', '$'])) else {
        let hint = "allowed is owner/repository@version; put what a local action does into steps";
        refuse(shape, node, format!("{key} is {text:?}"), hint);
        return None;
    };
    let found = match pins {
        Some(pins) => pins.resolve(name, reference).cloned(),
        None => PinnedAction::new(name, &"0".repeat(40), "v0").map_err(|fault| fault.to_string()),
    };
    found
        .map_err(|fault| {
            let hint = format!(
                "add \"{name}\": {{\"commit\": \"<40 digits>\", \"version\": \"{}\"}} to actions in .github/daybook.pins.json",
                if reference.starts_with('v') { reference } else { "v1.2.3" }
            );
            shape.problem(Problem::new("unpinned-action", node.place, format!("{key}: {fault}")).with_hint(Some(hint)));
        })
        .ok()
}
