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

/// Where the YAML of a source starts.
const START: Place = Place { line: 2, column: 1, length: 1 };

/// Reads the YAML of a frontmatter; places are those in the source. An empty text is an empty map.
pub(crate) fn read(yaml: &str) -> Result<Node, Vec<Problem>> {
    if yaml.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Node { place: START, data: Data::Map(Vec::new()) });
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
    let spanned: Spanned<Tree> =
        serde_saphyr::from_str_with_options(yaml, options).map_err(|fault| vec![unreadable(yaml, &fault)])?;
    let mut reading = Reading { yaml, problems: Vec::new() };
    let node = reading.node(spanned);
    if reading.problems.is_empty() { Ok(node) } else { Err(reading.problems) }
}

/// What the YAML reader says of some faults, and what is said here instead: its words name its own options.
const SAID: &[(&str, &str, &str)] = &[
    ("duplicate mapping key", "a key stands here for the second time", "keep one of them, with what stands under both"),
    ("alias replay", "the aliases stand for more than any workflow needs", "write out what the aliases stand for"),
    ("budget breached", "there are more values, or deeper ones, than any workflow needs", "make it smaller"),
    ("recursion limit", "there are more values, or deeper ones, than any workflow needs", "make it smaller"),
    ("merge keys", "merge keys (<<) are not read", "write out what they stand for"),
    ("expected string scalar", "a key must be a text", ""),
    ("tabs disallowed", "a tab stands where only spaces may", "YAML is indented with spaces, never with tabs"),
    ("unknown anchor", "an alias names no anchor", "a text that starts with * needs quotes"),
    ("unexpected character", "a character that starts nothing here", "a text that starts with @ or ` needs quotes"),
    ("mapping values are not allowed", "a second colon in one line", "a text that holds \": \" needs quotes"),
    ("unclosed quote", "a quote has no end", ""),
];

fn unreadable(yaml: &str, fault: &serde_saphyr::Error) -> Problem {
    let mut place = fault.location().map_or(START, |location| place(&location));
    let message = fault.without_snippet().to_string();
    // The reader counts lines from the frontmatter's start; the place says it right.
    let said = message.lines().next().unwrap_or_default();
    let said = said.split(" at line ").next().unwrap_or_default();
    let Some((_, told, hint)) = SAID.iter().find(|row| said.contains(row.0)) else {
        return Problem::new("invalid-yaml", place, format!("the frontmatter is not valid: {said}"));
    };
    let mut told = (*told).to_owned();
    let line = usize::try_from(place.line - LINES_BEFORE - 1).ok().and_then(|row| yaml.lines().nth(row));
    let from = usize::try_from(place.column - 1).unwrap_or_default();
    if said.contains("duplicate") {
        let key: String = line.unwrap_or_default().chars().skip(from).take_while(|c| !":\"' ".contains(*c)).collect();
        place.length = key.chars().count().max(1) as u64;
        told.push_str(&format!(": {key}"));
    }
    let hint = (!hint.is_empty()).then(|| (*hint).to_owned());
    Problem::new("invalid-yaml", place, format!("the frontmatter is not valid: {told}")).with_hint(hint)
}

/// Turns what the YAML reader built into nodes.
struct Reading<'y> {
    yaml: &'y str,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn node(&mut self, spanned: Spanned<Tree>) -> Node {
        let place = place(&spanned.referenced);
        let data = match spanned.value {
            Tree::Null => Data::Null,
            Tree::Bool(value) => Data::Bool(value),
            Tree::Number(value) => {
                self.decimal(&spanned.referenced, &value, place);
                Data::Number(value)
            }
            Tree::Text(value) => Data::Text(value),
            Tree::List(items) => Data::List(items.into_iter().map(|item| self.node(item)).collect()),
            Tree::Map(pairs) => Data::Map(pairs.into_iter().map(|pair| self.entry(pair)).collect()),
        };
        Node { place, data }
    }

    fn entry(&mut self, (key, value): (Spanned<String>, Spanned<Tree>)) -> Entry {
        Entry { place: place(&key.referenced), key: key.value, value: self.node(value) }
    }

    /// What one reader of YAML takes for eight another takes for ten or for a text.
    fn decimal(&mut self, location: &serde_saphyr::Location, value: &Number, place: Place) {
        let span = location.span();
        let start = span.byte_offset().and_then(|offset| usize::try_from(offset).ok());
        let written = start.and_then(|start| self.yaml.get(start..)).unwrap_or_default();
        let digits = written.trim_start_matches(['+', '-']);
        let other_base = ["0x", "0o", "0b", "0X", "0O", "0B"].iter().any(|prefix| digits.starts_with(prefix));
        let word: String = written.chars().take_while(|c| c.is_ascii_alphanumeric() || "+-_.".contains(*c)).collect();
        if other_base || (word.contains('_') && word.starts_with(|c: char| c.is_ascii_digit())) {
            let message = format!("{word:?} is a number to some readers of YAML and a text to others");
            let hint = Some(format!("write {value}, or \"{word}\" in quotes where a text is meant"));
            self.problems.push(Problem::new("ambiguous-number", place, message).with_hint(hint));
        }
    }
}

fn place(location: &serde_saphyr::Location) -> Place {
    let length = location.span().len().max(1);
    Place { line: location.line() + LINES_BEFORE, column: location.column(), length }
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
        read(yaml).unwrap_err().remove(0)
    }

    #[test]
    fn every_node_knows_its_place_in_the_source() {
        let tree = read("on: issues\ntools:\n  ledger:\n    triage:\n      max-shards: 12\n").unwrap();
        let Data::Map(top) = &tree.data else { panic!("{tree:?}") };
        assert_eq!((top[1].key.as_str(), top[1].place), ("tools", Place { line: 3, column: 1, length: 5 }));
        let Data::Map(tools) = &top[1].value.data else { panic!("{tree:?}") };
        let Data::Map(ledgers) = &tools[0].value.data else { panic!("{tree:?}") };
        let Data::Map(triage) = &ledgers[0].value.data else { panic!("{tree:?}") };
        assert_eq!(triage[0].place, Place { line: 6, column: 7, length: 10 });
        assert_eq!(triage[0].value.place, Place { line: 6, column: 19, length: 2 });
    }

    #[test]
    fn words_and_padded_numbers_stay_what_was_written() {
        let tree = read("on: {a: no, b: on, c: 010, d: 16, e: 1e3, f: ~, g: true, h: '5', i: 1.5, j: -3}\n").unwrap();
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
