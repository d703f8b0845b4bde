//! Checks the shape of a tree against a table and turns it into members of the configuration.
//!
//! Only kinds are checked here. Which values are allowed is the configuration's own business; the places of all
//! members are kept, so that what it refuses can be shown in the source.

use serde_json::{Map, Value};

use crate::keys::{Key, Kind, did_you_mean};
use crate::problem::{Place, Problem};
use crate::yaml::{Data, Entry, Node};

/// Problems found so far, and where each member of the configuration comes from.
#[derive(Default)]
pub(crate) struct Shape {
    problems: Vec<Problem>,
    places: Vec<(String, Place)>,
}

impl Shape {
    /// Adds a problem.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Every problem, in the order of their places.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| Place { line: problem.line, column: problem.column });
        self.problems
    }

    /// Whether no problem was found.
    pub(crate) fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Keeps where a member comes from.
    pub(crate) fn stands_at(&mut self, member: impl Into<String>, place: Place) {
        self.places.push((member.into(), place));
    }

    /// The place of a member, or of the nearest member around it.
    pub(crate) fn place_of(&self, member: &str) -> Place {
        let mut member = member;
        loop {
            if let Some((_, place)) = self.places.iter().find(|(name, _)| name == member) {
                return *place;
            }
            match member.rsplit_once('.') {
                Some((around, _)) => member = around,
                None => return Place::START,
            }
        }
    }

    /// The entries of a map; an empty value counts as an empty map.
    pub(crate) fn entries<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Entry] {
        match &node.data {
            Data::Map(entries) => entries,
            Data::Null => &[],
            other => {
                let message = format!("{what} is {}; it must be a map", other.kind());
                self.problem(Problem::new("wrong-kind", node.place, message));
                &[]
            }
        }
    }

    /// Reports a key that nobody knows.
    pub(crate) fn unknown_key<'a>(&mut self, entry: &Entry, around: &str, allowed: impl Iterator<Item = &'a str>) {
        let key: String = entry.key.chars().take(64).collect();
        let message = format!("{around} has no key {key:?}");
        let hint = did_you_mean(&key, allowed);
        self.problem(Problem::new("unknown-key", entry.place, message).with_hint(hint));
    }

    /// Turns a map into members by a table. `around` names the map in messages, `member` in the configuration.
    pub(crate) fn members(&mut self, node: &Node, table: &[Key], around: &str, member: &str) -> Map<String, Value> {
        let mut members = Map::new();
        for entry in self.entries(node, around) {
            let Some(key) = table.iter().find(|key| key.name == entry.key) else {
                self.unknown_key(entry, around, table.iter().map(|key| key.name));
                continue;
            };
            let inner = format!("{member}.{}", key.member);
            self.stands_at(inner.as_str(), entry.value.place);
            if let Some(value) = self.value(entry, key.kind, &format!("{around}.{}", key.name), &inner) {
                members.insert(key.member.to_owned(), value);
            }
        }
        members
    }

    fn value(&mut self, entry: &Entry, kind: Kind, around: &str, member: &str) -> Option<Value> {
        let node = &entry.value;
        let wanted = match (kind, &node.data) {
            (Kind::Ignored, _) => return None,
            (Kind::Text, Data::Text(text)) => return Some(text.as_str().into()),
            (Kind::Bool, Data::Bool(value)) => return Some((*value).into()),
            (Kind::Number, Data::Number(number)) if number.is_u64() => return Some(number.clone().into()),
            (Kind::Texts, Data::Text(text)) => return Some(Value::from(vec![text.as_str()])),
            (Kind::Texts, Data::List(items)) if items.iter().all(|item| matches!(item.data, Data::Text(_))) => {
                return Some(node.to_json());
            }
            (Kind::Schema, Data::Map(_) | Data::Bool(_)) => return Some(node.to_json()),
            (Kind::FalseOr(_), Data::Bool(false)) => return Some(false.into()),
            (Kind::FalseOr(table) | Kind::Map(table), Data::Map(_) | Data::Null) => {
                return Some(self.members(node, table, around, member).into());
            }
            (Kind::Text, _) => "a text",
            (Kind::Bool, _) => "true or false",
            (Kind::Number, _) => "a whole number from 0",
            (Kind::Texts, _) => "a text or a list of texts",
            (Kind::Schema, _) => "a JSON Schema: a map, true or false",
            (Kind::FalseOr(_), _) => "false or a map",
            (Kind::Map(_), _) => "a map",
        };
        let message = format!("{around} is {}; it must be {wanted}", node.data.kind());
        self.problem(Problem::new("wrong-kind", node.place, message));
        None
    }
}
