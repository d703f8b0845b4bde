//! YAML as a tree, printed in one way only.

use crate::quote::{Quoted, quote};

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Nothing: a key without a value.
    Empty,
    /// A text.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Number(u64),
    /// A map; its order is kept.
    Map(Vec<(String, Item)>),
    /// A list.
    List(Vec<Node>),
}

/// A value of a map, with what is printed behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The value.
    pub node: Node,
    /// A comment of one line.
    pub comment: Option<String>,
}

impl From<Node> for Item {
    fn from(node: Node) -> Self {
        Self { node, comment: None }
    }
}

impl Node {
    /// Every text in it, at any depth.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::Map(entries) => entries.iter().flat_map(|(_, item)| item.node.texts()).collect(),
            Self::List(nodes) => nodes.iter().flat_map(Self::texts).collect(),
            Self::Empty | Self::Bool(_) | Self::Number(_) => Vec::new(),
        }
    }

    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A map without comments.
    #[must_use]
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, node)| (key.into(), node.into())).collect())
    }

    /// The value as a document.
    #[must_use]
    pub fn print(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Map(entries) if !entries.is_empty() => map(&mut out, entries, 0),
            Self::List(nodes) if !nodes.is_empty() => list(&mut out, nodes, 0),
            other => {
                value(&mut out, other, None, 0);
                let trimmed = out.trim_start().to_owned();
                out = trimmed;
            }
        }
        out
    }
}

const STEP: usize = 2;

fn map(out: &mut String, entries: &[(String, Item)], indent: usize) {
    for (number, (key, item)) in entries.iter().enumerate() {
        // A map behind "- " starts on that line.
        if number > 0 || !out.ends_with("- ") {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(&key_text(key));
        out.push(':');
        value(out, &item.node, item.comment.as_deref(), indent);
    }
}

fn key_text(key: &str) -> String {
    // GitHub's key `on` stands unquoted in every workflow.
    match quote(key) {
        _ if key == "on" => key.to_owned(),
        Quoted::Line(line) if !key.contains(':') => line,
        _ => format!("'{}'", key.replace('\'', "''")),
    }
}

fn list(out: &mut String, nodes: &[Node], indent: usize) {
    for node in nodes {
        out.push_str(&" ".repeat(indent));
        match node {
            Node::Map(entries) if !entries.is_empty() => {
                out.push_str("- ");
                map(out, entries, indent + STEP);
            }
            Node::List(nodes) if !nodes.is_empty() => {
                out.push_str("-\n");
                list(out, nodes, indent + STEP);
            }
            other => {
                out.push('-');
                value(out, other, None, indent);
            }
        }
    }
}

fn value(out: &mut String, node: &Node, comment: Option<&str>, indent: usize) {
    let comment = comment.map(|text| format!(" # {}", text.replace(['\n', '\r'], " "))).unwrap_or_default();
    match node {
        Node::Map(entries) if entries.is_empty() => out.push_str(&format!(" {{}}{comment}\n")),
        Node::List(nodes) if nodes.is_empty() => out.push_str(&format!(" []{comment}\n")),
        Node::Map(entries) => {
            out.push_str(&format!("{comment}\n"));
            map(out, entries, indent + STEP);
        }
        Node::List(nodes) => {
            out.push_str(&format!("{comment}\n"));
            list(out, nodes, indent + STEP);
        }
        Node::Empty => out.push_str(&format!("{comment}\n")),
        Node::Bool(value) => out.push_str(&format!(" {value}{comment}\n")),
        Node::Number(value) => out.push_str(&format!(" {value}{comment}\n")),
        Node::Text(text) => match quote(text) {
            Quoted::Line(line) => out.push_str(&format!(" {line}{comment}\n")),
            Quoted::Block(indicator, lines) => {
                out.push_str(&format!(" {indicator}{comment}\n"));
                for line in lines {
                    if !line.is_empty() {
                        out.push_str(&" ".repeat(indent + STEP));
                        out.push_str(&line);
                    }
                    out.push('\n');
                }
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an unrelated reader makes of a printed text.
    fn read_back(text: &str) -> String {
        let printed = Node::map([("a", Node::map([("b", Node::List(vec![Node::text(text)]))]))]).print();
        let value: serde_yaml::Value =
            serde_yaml::from_str(&printed).unwrap_or_else(|fault| panic!("{printed}{fault}"));
        value["a"]["b"][0].as_str().unwrap_or_else(|| panic!("not a text: {printed}")).to_owned()
    }

    #[test]
    fn every_text_reads_back_as_itself() {
        for text in [
            "",
            " ",
            "a",
            "a b",
            "yes",
            "No",
            "on",
            "null",
            "~",
            "010",
            "1e3",
            "0x1f",
            "1_000",
            "-",
            "- a",
            "a: b",
            "a:",
            "a #b",
            "#",
            "'",
            "\"",
            "'a'",
            "\\",
            "a\\nb",
            "a\nb",
            "a\nb\n",
            "a\n\nb\n\n",
            "\n",
            "\na",
            " a\nb",
            "a \nb\t\n",
            "\ta\nb",
            "a\r\nb",
            "{a}",
            "[a]",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a",
            "a\u{85}b",
            "a\u{2028}b",
            "\u{feff}a",
            "\u{0}",
            "\u{1b}[1m",
            "größe",
            "😀",
            "${{ a == 'b' }}",
            "${{ a }}: b",
            "?",
            "? a",
            ",",
            "a,b",
            "---",
            "...",
            "---\na",
            "2026-01-01",
            "=",
            "<<",
            ".5",
            "+1",
            "y",
            "# x\ny",
            "\u{7f}",
            "a\n# b\n",
            "a\n  b\n c\n",
            "a\n\n",
            "x\n \n",
            "1:30",
            "a:b",
        ] {
            assert_eq!(read_back(text), text, "{text:?}");
        }
    }

    #[test]
    fn every_text_of_few_awkward_characters_reads_back_as_itself() {
        let alphabet = ['a', ' ', '\n', ':', '#', '-', '\'', '"', '\\', '$', '{', '\t'];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer: Vec<String> =
                texts.iter().flat_map(|text| alphabet.iter().map(move |c| format!("{text}{c}"))).collect();
            for text in &longer {
                assert_eq!(&read_back(text), text, "{text:?}");
            }
            texts = longer.into_iter().take(1728).collect();
        }
    }

    #[test]
    fn keys_are_texts_too() {
        for key in ["on", "a b", "a: b", "yes", "1", "", "- a", "a:b", "#"] {
            let printed = Node::map([(key, Node::Bool(true))]).print();
            let value: serde_json::Value = serde_yaml::from_str(&printed).unwrap();
            assert_eq!(value, serde_json::json!({ key: true }), "{printed}");
        }
    }

    #[test]
    fn the_form_is_the_usual_one() {
        let commented = Item { node: Node::text("read"), comment: Some("why".to_owned()) };
        let step = Node::map([("name", Node::text("One")), ("run", Node::text("a\nb\n"))]);
        let map = Node::Map(vec![
            ("permissions".to_owned(), Node::Map(Vec::new()).into()),
            ("p".to_owned(), Node::Map(vec![("contents".to_owned(), commented)]).into()),
            ("steps".to_owned(), Node::List(vec![step, Node::Number(3)]).into()),
        ]);
        let expected =
            "permissions: {}\np:\n  contents: read # why\nsteps:\n  - name: One\n    run: |\n      a\n      b\n  - 3\n";
        assert_eq!(map.print(), expected);
    }
}
