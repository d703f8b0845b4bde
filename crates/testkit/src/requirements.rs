//! Requirements of `SPEC.md`, and where code and tests name them.
//!
//! A requirement is a row `| DB-5.3-04 | MUST | … |`. A comment that holds such an id names it: above a test or inside
//! of one it says that the test holds the requirement, anywhere else that the code next to it meets it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::sources::Source;

/// Where the map is kept.
pub const MAP: &str = "docs/requirements.md";

/// The heading of the list of requirements that no test names yet.
const NOT_YET: &str = "## Not yet";

/// One obligation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Its name, `DB-<section>-<number>`.
    pub id: String,
    /// `MUST` and the like; empty where the specification that we implement does not ask for it.
    pub level: String,
    /// What has to hold.
    pub text: String,
}

/// What `SPEC.md` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Specification {
    /// The requirements in their order.
    pub requirements: Vec<Requirement>,
    /// The ids that are listed as held by no test.
    pub not_yet: Vec<String>,
}

impl Specification {
    /// Reads the text of `SPEC.md`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut specification = Self::default();
        let mut in_list = false;
        for line in text.lines() {
            if line.starts_with("## ") {
                in_list = line == NOT_YET;
            } else if in_list && line.starts_with("- ") {
                specification.not_yet.extend(ids(line));
            } else if let Some(row) = line.strip_prefix("| DB-") {
                let mut cells = row.split(" | ").map(str::trim);
                let mut cell = || cells.next().unwrap_or_default().trim_end_matches('|').trim().to_owned();
                let (id, level, text) = (format!("DB-{}", cell()), cell(), cell());
                specification.requirements.push(Requirement { id, level, text });
            }
        }
        specification
    }
}

/// Where ids are named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// By id: what meets it.
    pub code: BTreeMap<String, BTreeSet<String>>,
    /// By id: tests that hold it.
    pub tests: BTreeMap<String, BTreeSet<String>>,
}

impl Places {
    /// Looks through Rust sources. A place reads `path` and the name of the item, so that it stays the same when lines
    /// move.
    #[must_use]
    pub fn in_sources(sources: &[Source]) -> Self {
        let mut places = Self::default();
        for source in sources {
            let lines: Vec<&str> = source.text.lines().collect();
            let tests = tests(&lines);
            for (number, line) in lines.iter().enumerate() {
                let Some((_, comment)) = line.split_once("//") else { continue };
                for id in ids(comment) {
                    let test = tests.iter().find(|test| (test.from..=test.to).contains(&number));
                    let (map, name) = match test {
                        Some(test) => (&mut places.tests, test.name.clone()),
                        None => (&mut places.code, item(&lines, number)),
                    };
                    map.entry(id).or_default().insert(format!("{} `{name}`", source.path));
                }
            }
        }
        places
    }
}

/// What is wrong with the whole: one sentence each, none where specification, code and tests fit.
#[must_use]
pub fn gaps(specification: &Specification, places: &Places) -> Vec<String> {
    let mut gaps = Vec::new();
    let mut known = BTreeSet::new();
    for requirement in &specification.requirements {
        let id = requirement.id.as_str();
        if !known.insert(id) {
            gaps.push(format!("{id} stands in SPEC.md twice"));
        }
        let is_listed = specification.not_yet.iter().any(|listed| listed == id);
        match (places.tests.contains_key(id), is_listed) {
            (false, false) => gaps.push(format!("{id} has no test")),
            (true, true) => gaps.push(format!("{id} has a test and is listed under \"Not yet\"; remove it there")),
            _ => {}
        }
    }
    let named = places.code.keys().chain(places.tests.keys()).chain(&specification.not_yet).collect::<BTreeSet<_>>();
    gaps.extend(
        named.into_iter().filter(|id| !known.contains(id.as_str())).map(|id| format!("{id} is not in SPEC.md")),
    );
    gaps
}

/// The text of [`MAP`].
#[must_use]
pub fn map(specification: &Specification, places: &Places) -> String {
    let mut text = String::from(
        "# Requirements, code and tests\n\nMade from `SPEC.md` and the comments that name its requirements, by the test \
         `crates/testkit/tests/requirements.rs` with `DAYBOOK_BLESS=1`. Not to be edited by hand.\n\n\
         | requirement | code | tests |\n|---|---|---|\n",
    );
    let cell = |map: &BTreeMap<String, BTreeSet<String>>, id: &str| {
        map.get(id).map(|places| places.iter().cloned().collect::<Vec<_>>().join("<br>")).unwrap_or_default()
    };
    for requirement in &specification.requirements {
        let id = &requirement.id;
        let tests = match cell(&places.tests, id) {
            none if none.is_empty() => "not yet".to_owned(),
            tests => tests,
        };
        let _ = writeln!(text, "| {id} | {} | {tests} |", cell(&places.code, id));
    }
    text
}

/// The ids in a text: `DB-`, a section, `-`, two digits.
fn ids(text: &str) -> Vec<String> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-' || letter == '.'))
        .filter_map(|word| {
            let (section, number) = word.trim_end_matches('.').strip_prefix("DB-")?.rsplit_once('-')?;
            let is_number = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
            (is_number && !section.is_empty()).then(|| format!("DB-{section}-{number}"))
        })
        .collect()
}

/// A test function with its comments: the lines from and to.
struct Test {
    name: String,
    from: usize,
    to: usize,
}

fn tests(lines: &[&str]) -> Vec<Test> {
    let is_test = |line: &str| matches!(line.trim(), "#[test]") || line.trim().starts_with("#[tokio::test");
    let mut found = Vec::new();
    for (attribute, _) in lines.iter().enumerate().filter(|(_, line)| is_test(line)) {
        let Some(start) = (attribute..lines.len()).find(|&number| name_of(lines[number]).is_some()) else { continue };
        let mut from = attribute;
        while from > 0 && (is_comment(lines[from - 1]) || lines[from - 1].trim_start().starts_with("#[")) {
            from -= 1;
        }
        let end = format!("{}}}", " ".repeat(indent(lines[start])));
        let to = (start..lines.len()).find(|&number| lines[number] == end).unwrap_or(start);
        found.push(Test { name: name_of(lines[start]).unwrap_or_default().to_owned(), from, to });
    }
    found
}

/// The item that a comment belongs to: the one it stands in, or the next one.
fn item(lines: &[&str], number: usize) -> String {
    let depth = indent(lines[number]);
    let after = lines[number + 1..].iter().find(|line| !is_comment(line) && !line.trim_start().starts_with("#["));
    if let Some(name) = after.and_then(|line| name_of(line)) {
        return name.to_owned();
    }
    let around = lines[..number].iter().rev().find(|line| indent(line) < depth && name_of(line).is_some());
    around.and_then(|line| name_of(line)).unwrap_or("the whole file").to_owned()
}

/// The name that a line declares, if it starts an item.
fn name_of(line: &str) -> Option<&str> {
    let mut words =
        line.trim_start().split([' ', '(', '<', ':', '{', '=', ';', ','].as_slice()).filter(|word| !word.is_empty());
    loop {
        match words.next()? {
            "pub" | "crate)" | "crate" | "super)" | "super" | "async" | "unsafe" | "default" | ")" => {}
            // `const fn` and `const NAME`.
            "const" => match words.next()? {
                "fn" => return words.next(),
                name => return Some(name),
            },
            "fn" | "struct" | "enum" | "trait" | "type" | "static" | "mod" => return words.next(),
            "impl" => return line.trim().strip_suffix(" {"),
            _ => return None,
        }
    }
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
