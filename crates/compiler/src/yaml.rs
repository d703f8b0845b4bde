//! YAML as a tree whose every node knows its place.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::options::MergeKeyPolicy;
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use crate::problem::{Place, Problem};

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) data: Data,
}

/// A key, its place and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) value: Node,
}

#[derive(Debug, Clone)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

impl Data {
    /// The kind, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "empty",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

impl Node {
    /// The node as JSON, without places.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(value) => Value::Number(value.clone()),
            Data::Text(value) => Value::String(value.clone()),
            Data::List(nodes) => nodes.iter().map(Self::to_json).collect(),
            Data::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect(),
        }
    }
}

/// The line of the source on which its YAML starts, less one.
const LINES_BEFORE: u64 = 1;

/// Reads the YAML of a frontmatter; places are those in the source. An empty text is an empty map.
pub(crate) fn read(yaml: &str) -> Result<Node, Problem> {
    if yaml.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Node { place: Place { line: 2, column: 1 }, data: Data::Map(Vec::new()) });
    }
    // `no` must stay a text and `010` must not become ten; far more than any workflow needs is a bomb.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_nodes: 20_000,
            max_events: 50_000,
            max_documents: 1,
            max_anchors: 64,
            max_aliases: 64,
            max_total_scalar_bytes: crate::MAX_SOURCE_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 5_000,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        with_snippet: false,
    };
    let spanned: Spanned<Tree> = serde_saphyr::from_str_with_options(yaml, options).map_err(|fault| {
        let place = fault.location().map_or(Place { line: 2, column: 1 }, |location| Place {
            line: location.line() + LINES_BEFORE,
            column: location.column(),
        });
        let message = fault.without_snippet().to_string();
        let message = message.lines().next().unwrap_or_default().to_owned();
        Problem::new("invalid-yaml", place, format!("the frontmatter is not valid: {message}"))
    })?;
    Ok(node(spanned))
}

fn node(spanned: Spanned<Tree>) -> Node {
    let place = place(&spanned.referenced);
    let data = match spanned.value {
        Tree::Null => Data::Null,
        Tree::Bool(value) => Data::Bool(value),
        Tree::Number(value) => Data::Number(value),
        Tree::Text(value) => Data::Text(value),
        Tree::List(items) => Data::List(items.into_iter().map(node).collect()),
        Tree::Map(pairs) => Data::Map(pairs.into_iter().map(entry).collect()),
    };
    Node { place, data }
}

fn entry((key, value): (Spanned<String>, Spanned<Tree>)) -> Entry {
    Entry { place: place(&key.referenced), key: key.value, value: node(value) }
}

fn place(location: &serde_saphyr::Location) -> Place {
    Place { line: location.line() + LINES_BEFORE, column: location.column() }
}

/// The tree as the YAML reader builds it.
enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Spanned<Tree>>),
    Map(Vec<(Spanned<String>, Spanned<Tree>)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Tree, E> {
        Number::from_f64(value).map(Tree::Number).ok_or_else(|| E::custom("a number that JSON cannot hold"))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(pair) = pairs.next_entry()? {
            map.push(pair);
        }
        Ok(Tree::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(yaml: &str) -> Problem {
        read(yaml).unwrap_err()
    }

    #[test]
    fn every_node_knows_its_place_in_the_source() {
        let tree = read("on: issues\ntools:\n  ledger:\n    triage:\n      max-shards: 12\n").unwrap();
        let Data::Map(top) = &tree.data else { panic!("{tree:?}") };
        assert_eq!((top[1].key.as_str(), top[1].place), ("tools", Place { line: 3, column: 1 }));
        let Data::Map(tools) = &top[1].value.data else { panic!("{tree:?}") };
        let Data::Map(ledgers) = &tools[0].value.data else { panic!("{tree:?}") };
        let Data::Map(triage) = &ledgers[0].value.data else { panic!("{tree:?}") };
        assert_eq!(triage[0].place, Place { line: 6, column: 7 });
        assert_eq!(triage[0].value.place, Place { line: 6, column: 19 });
    }

    #[test]
    fn words_and_padded_numbers_stay_what_was_written() {
        let tree = read("on: {a: no, b: on, c: 010, d: 0x10, e: 1e3, f: ~, g: true, h: '5', i: 1.5, j: -3}\n").unwrap();
        assert_eq!(
            tree.to_json(),
            serde_json::json!({"on": {"a": "no", "b": "on", "c": "010", "d": 16, "e": 1000.0, "f": null, "g": true,
                "h": "5", "i": 1.5, "j": -3}})
        );
    }

    #[test]
    fn repeated_keys_merge_keys_second_documents_and_bombs_are_refused_with_a_place() {
        assert_eq!(problem("a: 1\nb: 2\na: 3\n").line, 4);
        assert_eq!(problem("a: &x {b: 1}\nc:\n  <<: *x\n").code, "invalid-yaml");
        assert_eq!(problem("a: 1\n...\nb: 2\n").code, "invalid-yaml");
        assert_eq!(problem("a: [1, 2\nb: 3\n").code, "invalid-yaml");
        assert_eq!(problem("a: .nan\n").code, "invalid-yaml");
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..9 {
            let previous = level - 1;
            let aliases = vec![format!("*a{previous}"); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert_eq!(problem(&bomb).code, "invalid-yaml");
        let deep = format!("a: {}{}\n", "[".repeat(200), "]".repeat(200));
        assert_eq!(problem(&deep).code, "invalid-yaml");
    }

    #[test]
    fn nothing_but_comments_is_an_empty_map() {
        for yaml in ["", "\n", "# nothing\n  # here\n"] {
            assert!(matches!(read(yaml).unwrap().data, Data::Map(entries) if entries.is_empty()));
        }
    }
}
