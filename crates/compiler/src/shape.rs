//! Checks the shape of a tree against a table and turns it into members of the configuration.
//!
//! Only kinds are checked here. Which values are allowed is the configuration's own business; the places of all
//! members are kept, so that what it refuses can be shown in the source.

use daybook_core::schema::PayloadSchema;
use serde_json::{Map, Value};

use crate::Files;
use crate::keys::{Key, Kind, did_you_mean};
use crate::problem::{Place, Problem};
use crate::size;
use crate::yaml::{Data, Entry, Node};

/// Problems found so far, and where each member of the configuration comes from.
pub(crate) struct Shape<'f> {
    problems: Vec<Problem>,
    places: Vec<(String, Place)>,
    files: &'f dyn Files,
}

impl<'f> Shape<'f> {
    /// A check under way; schemas and scripts may stand in these files.
    pub(crate) fn new(files: &'f dyn Files) -> Self {
        Self { problems: Vec::new(), places: Vec::new(), files }
    }

    /// Adds a problem.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Every problem, in the order of their places.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(Problem::place);
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

    /// Whether the author set this member.
    pub(crate) fn is_set(&self, member: &str) -> bool {
        self.places.iter().any(|(name, _)| name == member)
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

    /// Reports a key of another product.
    pub(crate) fn foreign_key(&mut self, entry: &Entry, key: &str, hint: &str) {
        let message = format!("{key} is not supported");
        self.problem(Problem::new("unsupported-key", entry.place, message).with_hint(Some(hint.to_owned())));
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
            (Kind::Text | Kind::Word(_) | Kind::Pattern(_), Data::Text(text)) => return Some(text.as_str().into()),
            (Kind::Scalar, Data::Text(_) | Data::Number(_) | Data::Bool(_)) => return Some(node.to_json()),
            (Kind::Bool, Data::Bool(value)) => return Some((*value).into()),
            (Kind::Number(_), Data::Number(number)) if number.is_u64() => return Some(number.clone().into()),
            (Kind::Texts, Data::Text(text)) => return Some(Value::from(vec![text.as_str()])),
            (Kind::Texts, Data::List(items)) if items.iter().all(|item| matches!(item.data, Data::Text(_))) => {
                return Some(node.to_json());
            }
            (Kind::Findings, Data::Map(entries))
                if entries.iter().all(|entry| matches!(entry.value.data, Data::Text(_))) =>
            {
                for entry in entries {
                    self.stands_at(format!("{member}[]={}", entry.key), entry.place);
                    self.stands_at(format!("{member}.{}", entry.key), entry.value.place);
                }
                return Some(node.to_json());
            }
            (Kind::Schema, Data::Map(_) | Data::Bool(_)) => return self.schema(node, node.to_json()),
            (Kind::FalseOr(_), Data::Bool(false)) => return Some(false.into()),
            (Kind::FalseOr(table) | Kind::Map(table), Data::Map(_) | Data::Null) => {
                return Some(self.members(node, table, around, member).into());
            }
            (Kind::Script, Data::Text(text)) => {
                return if is_file(text, SCRIPT_ENDINGS) {
                    self.file(node, text).map(Value::from)
                } else {
                    Some(text.as_str().into())
                };
            }
            (Kind::Schema, Data::Text(text)) if is_file(text, &[".json"]) => return self.schema_file(node, text),
            (Kind::KiB(_), _) if let Some(size) = size::kib(&node.data) => return Some(size.into()),
            (Kind::Bytes(_), _) if let Some(size) = size::bytes(&node.data) => return Some(size.into()),
            (Kind::Minutes(_), Data::Number(number))
                if let Some(seconds) = number.as_u64().and_then(|n| n.checked_mul(60)) =>
            {
                return Some(seconds.into());
            }
            (Kind::Text | Kind::Word(_) | Kind::Pattern(_), _) => "a text",
            (Kind::Script, _) => "a script, or the name of a file that ends with .js, .mjs or .cjs",
            (Kind::KiB(_), _) => "a whole number of KiB, or a size such as 100KiB",
            (Kind::Bytes(_), _) => "a whole number of bytes, or a size such as 100KiB",
            (Kind::Minutes(_), _) => "a whole number of minutes",
            (Kind::Bool, _) => "true or false",
            (Kind::Number(_), _) => "a whole number from 0",
            (Kind::Texts, _) => "a text or a list of texts",
            (Kind::Schema, _) => "a JSON Schema: a map, true or false, or the name of a file that ends with .json",
            (Kind::Scalar, _) => "a text, a number, true or false",
            (Kind::Findings, _) => "a map of texts",
            (Kind::FalseOr(_), _) => "false or a map",
            // Kinds that other modules read are no part of the configuration's tables.
            _ => "a map",
        };
        let message = format!("{around} is {}; it must be {wanted}", node.data.kind());
        self.problem(Problem::new("wrong-kind", node.place, message).with_hint(meant(kind, &node.data)));
        None
    }

    /// A file beside the source, as text.
    fn file(&mut self, node: &Node, name: &str) -> Option<String> {
        let read = if is_inside(name) {
            self.files.read(name)
        } else {
            Err("only files beside the source and in folders below are read".to_owned())
        };
        read.map_err(|fault| {
            let message = format!("the file {:?} cannot be used: {fault}", name.chars().take(128).collect::<String>());
            self.problem(Problem::new("file-unusable", node.place, message));
        })
        .ok()
    }

    /// A schema that every job can use: what no job takes would stop each run.
    fn schema(&mut self, node: &Node, schema: Value) -> Option<Value> {
        match PayloadSchema::compile(&schema) {
            Ok(_) => Some(schema),
            Err(fault) => {
                self.problem(Problem::new("schema-unusable", node.place, fault.to_string()));
                None
            }
        }
    }

    fn schema_file(&mut self, node: &Node, name: &str) -> Option<Value> {
        let text = self.file(node, name)?;
        match serde_json::from_str(&text) {
            Ok(schema) => self.schema(node, schema),
            Err(fault) => {
                let message = format!("the file {name:?} holds no JSON: {fault}");
                self.problem(Problem::new("file-unusable", node.place, message));
                None
            }
        }
    }
}

/// What was probably meant by a text in place of a truth value or of a number.
fn meant(kind: Kind, data: &Data) -> Option<String> {
    let Data::Text(text) = data else { return None };
    let number = text.trim_start_matches('0');
    match kind {
        Kind::Bool | Kind::FalseOr(_) => truth_meant(text),
        Kind::Number(_) | Kind::Minutes(_) | Kind::KiB(_) | Kind::Bytes(_)
            if !text.is_empty() && text.len() < 20 && text.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            let number = if number.is_empty() { "0" } else { number };
            Some(format!("write {number}, without quotes and without zeros in front"))
        }
        _ => None,
    }
}

/// YAML 1.1 took more words for truth values than YAML 1.2 does.
pub(crate) fn truth_meant(text: &str) -> Option<String> {
    let truth = match text.to_ascii_lowercase().as_str() {
        "yes" | "y" | "on" | "true" => "true",
        "no" | "n" | "off" | "false" => "false",
        _ => return None,
    };
    Some(format!("write {truth}; {text} is a text"))
}

const SCRIPT_ENDINGS: &[&str] = &[".js", ".mjs", ".cjs"];

/// Whether a text is the name of a file and not what such a file holds.
fn is_file(text: &str, endings: &[&str]) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    text.chars().all(name) && endings.iter().any(|ending| text.ends_with(ending))
}

fn is_inside(name: &str) -> bool {
    let name = name.strip_prefix("./").unwrap_or(name);
    name.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}
