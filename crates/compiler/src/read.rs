//! Reads values of a source into parts of a workflow.

use daybook_workflow::{Grant, Level, Node as Yaml, Permissions, Scope, Secrets, Text};

use crate::problem::Problem;
use crate::shape::{Shape, truth_meant};
use crate::yaml::{Data, Node};

/// Reports a value of the wrong kind.
pub(crate) fn wrong(shape: &mut Shape<'_>, node: &Node, around: &str, wanted: &str) {
    let message = format!("{around} is {}; it must be {wanted}", node.data.kind());
    let hint = match &node.data {
        Data::Text(text) if wanted.contains("true") => truth_meant(text),
        _ => None,
    };
    shape.problem(Problem::new("wrong-kind", node.place, message).with_hint(hint));
}

/// Reports a value that is not allowed.
pub(crate) fn refuse(shape: &mut Shape<'_>, node: &Node, message: String, hint: &str) {
    let hint = (!hint.is_empty()).then(|| hint.to_owned());
    shape.problem(Problem::new("not-allowed", node.place, message).with_hint(hint));
}

pub(crate) fn text(shape: &mut Shape<'_>, node: &Node, around: &str) -> Option<String> {
    match &node.data {
        Data::Text(text) => Some(text.clone()),
        _ => {
            wrong(shape, node, around, "a text");
            None
        }
    }
}

/// A text without expressions and control characters.
pub(crate) fn line(shape: &mut Shape<'_>, node: &Node, around: &str) -> Option<String> {
    let text = text(shape, node, around)?;
    if text.contains("${{") || text.chars().any(char::is_control) || text.len() > 512 {
        refuse(shape, node, format!("{around} must be one line of at most 512 bytes without ${{{{"), "");
        return None;
    }
    Some(text)
}

pub(crate) fn number(shape: &mut Shape<'_>, node: &Node, around: &str, min: u64, max: u64) -> Option<u64> {
    match &node.data {
        Data::Number(number) if number.as_u64().is_some_and(|number| (min..=max).contains(&number)) => number.as_u64(),
        Data::Number(number) => {
            refuse(shape, node, format!("{around} is {number}; allowed is {min} to {max}"), "");
            None
        }
        _ => {
            wrong(shape, node, around, "a whole number");
            None
        }
    }
}

/// A text, number or truth value in which expressions are meant.
pub(crate) fn value(shape: &mut Shape<'_>, node: &Node, around: &str, secrets: Secrets) -> Option<Text> {
    let text = match &node.data {
        Data::Text(text) => text.clone(),
        Data::Number(number) => number.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::Null => String::new(),
        _ => {
            wrong(shape, node, around, "a text, a number, true or false");
            return None;
        }
    };
    match Text::author(&text, secrets) {
        Ok(text) => Some(text),
        Err(fault) => {
            refuse(shape, node, format!("{around}: {fault}"), "");
            None
        }
    }
}

/// Environment variables.
pub(crate) fn env(shape: &mut Shape<'_>, node: &Node, around: &str, secrets: Secrets) -> Vec<(String, Text)> {
    let mut variables = Vec::new();
    for entry in shape.entries(node, around) {
        let name = &entry.key;
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts || !name.chars().all(word) || name.starts_with("DAYBOOK_") || name.starts_with("ACTIONS_") {
            let message = format!("{around} has a variable {:?}", name.chars().take(64).collect::<String>());
            let hint = "names hold letters, digits and _; DAYBOOK_ and ACTIONS_ are reserved";
            refuse(shape, &entry.value, message, hint);
            continue;
        }
        if let Some(value) = value(shape, &entry.value, &format!("{around}.{name}"), secrets) {
            variables.push((name.clone(), value));
        }
    }
    variables
}

/// Any value, expressions in it checked.
pub(crate) fn any(shape: &mut Shape<'_>, node: &Node, around: &str, secrets: Secrets) -> Option<Yaml> {
    Some(match &node.data {
        Data::Null => Yaml::Empty,
        Data::Bool(value) => Yaml::Bool(*value),
        Data::Number(number) => number.as_u64().map_or_else(|| Yaml::text(number.to_string()), Yaml::Number),
        Data::Text(_) => Yaml::text(value(shape, node, around, secrets)?.to_string()),
        Data::List(nodes) => Yaml::List(nodes.iter().filter_map(|node| any(shape, node, around, secrets)).collect()),
        Data::Map(entries) => {
            let mut map = Vec::new();
            for entry in entries {
                if entry.key.contains("${{") {
                    refuse(shape, &entry.value, format!("{around}: a key cannot be an expression"), "");
                }
                map.push((entry.key.clone(), any(shape, &entry.value, around, secrets)?));
            }
            Yaml::map(map)
        }
    })
}

/// Labels of a runner.
pub(crate) fn runner(shape: &mut Shape<'_>, node: &Node, around: &str) -> Option<Yaml> {
    if matches!(node.data, Data::Text(_) | Data::List(_) | Data::Map(_)) {
        return any(shape, node, around, Secrets::None);
    }
    wrong(shape, node, around, "the label of a runner, a list of labels or a map");
    None
}

/// Permissions; `writes` says whether write levels are allowed.
pub(crate) fn permissions(
    shape: &mut Shape<'_>,
    node: &Node,
    around: &str,
    writes: bool,
    default_reason: &str,
) -> Permissions {
    let mut permissions = Permissions::default();
    if let Data::Text(text) = &node.data {
        let hint = "name each scope and its level, such as issues: read";
        refuse(shape, node, format!("{around} is {text:?}: every job names what it needs"), hint);
        return permissions;
    }
    for entry in shape.entries(node, around) {
        let Some(scope) = Scope::parse(&entry.key) else {
            shape.unknown_key(entry, around, Scope::all().map(Scope::name));
            continue;
        };
        let key = format!("{around}.{}", entry.key);
        let (level, reason) = match &entry.value.data {
            Data::Text(level) => (level.clone(), default_reason.to_owned()),
            _ => {
                wrong(shape, &entry.value, &key, "read, write or none");
                continue;
            }
        };
        if level == "none" {
            continue;
        }
        let Some(level) = Level::parse(&level).filter(|level| scope.has(*level)) else {
            let levels: Vec<_> =
                [Level::Read, Level::Write].into_iter().filter(|level| scope.has(*level)).map(Level::name).collect();
            refuse(shape, &entry.value, format!("{key} is {level:?}; allowed is {} or none", levels.join(", ")), "");
            continue;
        };
        if level == Level::Write && !writes {
            let message = format!("{key} is write; the agent's job never holds a right to write");
            let hint = "give the right to a job under safe-outputs.jobs";
            shape.problem(
                Problem::new("agent-may-not-write", entry.value.place, message).with_hint(Some(hint.to_owned())),
            );
            continue;
        }
        match Grant::new(scope, level, &reason) {
            Ok(grant) => permissions = permissions.with(grant),
            Err(fault) => refuse(shape, &entry.value, format!("{key}: {fault}"), ""),
        }
    }
    permissions
}
