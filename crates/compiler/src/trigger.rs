//! The events that start a workflow, and who may start the agent.

use daybook_workflow::{Item, Node as Yaml, Secrets};

use crate::problem::Problem;
use crate::read::{any, line, refuse, wrong};
use crate::settings::{Roles, Trigger};
use crate::shape::Shape;
use crate::yaml::{Data, Entry, Node};

/// Events of GitHub's workflow schema.
pub(crate) const EVENTS: &[&str] = &[
    "branch_protection_rule",
    "check_run",
    "check_suite",
    "create",
    "delete",
    "deployment",
    "deployment_status",
    "discussion",
    "discussion_comment",
    "fork",
    "gollum",
    "image_version",
    "issue_comment",
    "issues",
    "label",
    "merge_group",
    "milestone",
    "page_build",
    "public",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_target",
    "push",
    "registry_package",
    "release",
    "repository_dispatch",
    "schedule",
    "status",
    "watch",
    "workflow_call",
    "workflow_dispatch",
    "workflow_run",
];

/// Events that run with the repository's rights on what strangers send.
pub(crate) const DANGEROUS: &[&str] = &["pull_request_target", "workflow_run"];

/// Events that anybody can cause by writing something.
pub(crate) const BY_ANYBODY: &[&str] = &[
    "issues",
    "issue_comment",
    "discussion",
    "discussion_comment",
    "pull_request_review",
    "pull_request_review_comment",
];

/// Roles of a source, and what GitHub calls them.
pub(crate) const ROLES: &[(&str, &str)] =
    &[("owner", "OWNER"), ("member", "MEMBER"), ("collaborator", "COLLABORATOR"), ("contributor", "CONTRIBUTOR")];

pub(crate) fn read(shape: &mut Shape<'_>, node: &Node) -> Option<Trigger> {
    let mut trigger = Trigger { node: Yaml::Empty, events: Vec::new(), reasons: Vec::new() };
    let mut map = Vec::new();
    match &node.data {
        Data::Text(event) => map.push(event_of(shape, node, event, None, &mut trigger)?),
        Data::List(nodes) => {
            for node in nodes {
                let Data::Text(event) = &node.data else {
                    wrong(shape, node, "on[]", "the name of an event");
                    return None;
                };
                map.push(event_of(shape, node, event, None, &mut trigger)?);
            }
        }
        Data::Map(entries) => {
            for entry in entries {
                map.push(event_of(shape, &entry.value, &entry.key, Some(entry), &mut trigger)?);
            }
        }
        _ => wrong(shape, node, "on", "an event, a list of events or a map of events"),
    }
    if map.is_empty() {
        refuse(shape, node, "on names no event".to_owned(), "write on: workflow_dispatch, for example");
        return None;
    }
    trigger.node = Yaml::Map(map);
    Some(trigger)
}

fn event_of(
    shape: &mut Shape<'_>,
    node: &Node,
    event: &str,
    entry: Option<&Entry>,
    trigger: &mut Trigger,
) -> Option<(String, Item)> {
    if !EVENTS.contains(&event) {
        let place = entry.map_or(node.place, |entry| entry.place);
        let entry = Entry { key: event.to_owned(), place, value: node.clone() };
        shape.unknown_key(&entry, "on", EVENTS.iter().copied());
        return None;
    }
    let (settings, reason) = without_reason(shape, node, event, entry.is_some());
    let settings = match settings {
        Some(settings) => any(shape, &settings, &format!("on.{event}"), Secrets::None)?,
        None => Yaml::Empty,
    };
    if DANGEROUS.contains(&event) {
        match &reason {
            Some(reason) => trigger.reasons.push((event.to_owned(), reason.clone())),
            None => {
                let message = format!("on.{event} runs with the rights of this repository on what strangers send");
                let hint = format!("use another event, or state why it is safe here: on: {{{event}: {{reason: …}}}}");
                shape.problem(Problem::new("dangerous-event", node.place, message).with_hint(Some(hint)));
            }
        }
    }
    trigger.events.push(event.to_owned());
    Some((event.to_owned(), Item { node: settings, comment: reason.map(|reason| format!("reason: {reason}")) }))
}

fn without_reason(shape: &mut Shape<'_>, node: &Node, event: &str, is_map: bool) -> (Option<Node>, Option<String>) {
    let Data::Map(entries) = &node.data else {
        return (is_map.then(|| node.clone()).filter(|node| !matches!(node.data, Data::Null)), None);
    };
    let mut rest = entries.clone();
    let stated =
        rest.iter().position(|entry| entry.key == "reason" && DANGEROUS.contains(&event)).map(|at| rest.remove(at));
    let reason = stated.and_then(|entry| line(shape, &entry.value, &format!("on.{event}.reason")));
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    ((!rest.is_empty()).then_some(Node { place: node.place, data: Data::Map(rest) }), reason)
}

pub(crate) fn roles(shape: &mut Shape<'_>, node: &Node) -> Option<Roles> {
    let nodes = match &node.data {
        Data::Text(_) => std::slice::from_ref(node),
        Data::List(nodes) if !nodes.is_empty() => nodes,
        _ => {
            wrong(shape, node, "roles", "a role or a list of roles");
            return None;
        }
    };
    let mut associations = Vec::new();
    for node in nodes {
        let word = line(shape, node, "roles")?;
        if word == "all" && nodes.len() == 1 {
            return Some(Roles::Everyone);
        }
        match ROLES.iter().find(|row| row.0 == word) {
            Some(row) => associations.push(row.1),
            None => {
                let message =
                    format!("roles has {word:?}; allowed are owner, member, collaborator, contributor, or all alone");
                refuse(shape, node, message, "");
                return None;
            }
        }
    }
    Some(Roles::Associations(associations))
}
