//! The documentation against the sources: every code has a section and the other way round, and every link leads
//! somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use daybook_testkit::codes::{self, BUILT_OTHERWISE, NOT_PROVOKED, PAGE};
use daybook_testkit::sources::{self, Source};
use daybook_testkit::vectors::repository;

fn page(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_code_has_a_section_and_every_section_a_code() {
    let printed = codes::in_sources(&sources::rust());
    assert!(printed.len() > 300, "only {} codes were found", printed.len());
    let text = page(PAGE);
    let sections = codes::in_page(&text);
    let documented: BTreeSet<String> = sections.iter().map(|&code| code.to_owned()).collect();
    assert_eq!(documented.len(), sections.len(), "a code has two sections");
    let missing: Vec<_> = printed.difference(&documented).collect();
    let unknown: Vec<_> = documented.difference(&printed).collect();
    assert!(missing.is_empty(), "{PAGE} has no section for {missing:?}");
    assert!(unknown.is_empty(), "no source prints {unknown:?}");
}

#[test]
fn every_section_has_an_example_a_meaning_and_an_advice() {
    let text = page(PAGE);
    for section in text.split("\n### ").skip(1) {
        let (code, rest) = section.split_once('\n').expect("a section has lines");
        let (example, words) = rest.trim_start().trim_start_matches("```text\n").split_once("\n```\n").expect(code);
        let (meaning, advice) = words.split_once("What to do: ").unwrap_or_else(|| panic!("{code} gives no advice"));
        assert!(!example.trim().is_empty() && meaning.trim().len() > 1 && advice.trim().len() > 3, "{code}");
    }
}

/// What is listed as built otherwise is really there, so that the list cannot keep a section alive.
#[test]
fn what_is_built_otherwise_stands_in_its_file() {
    for (code, file, how) in BUILT_OTHERWISE {
        assert!(page(file).contains(&format!("\"{code}\"")), "{file} does not hold {code} ({how})");
    }
}

/// What a program can say, a test has seen it say, in its own source or in the text that it compares with.
#[test]
fn every_code_has_a_test() {
    let texts: Vec<String> = codes::test_texts();
    let is_seen = |code: &str| texts.iter().any(|text| codes::names(text, code));
    let text = page(PAGE);
    let all = codes::in_page(&text);
    let excused = NOT_PROVOKED.map(|(code, _)| code);
    let missing: Vec<_> = all.iter().filter(|code| !is_seen(code) && !excused.contains(code)).collect();
    assert!(missing.is_empty(), "no test sees {missing:?}");
    let stale: Vec<_> = excused.iter().filter(|code| !all.contains(code)).collect();
    assert!(stale.is_empty(), "there is no code {stale:?}");
}

/// The search sees each form in which a code is printed.
#[test]
fn the_search_sees_every_form() {
    let text = r#"
        fn a() { report.error("form-one", "x"); report.set_exit(Exit::Ok).warning(
            "form-two", "x"); failed(Exit::Usage, "form-three", "x"); Stop::refused("form-four", "x"); }
        fn code(self) -> &'static str { match self { Self::A => "form-five", Self::B { .. } => "form-six" } }
        const T: [(Code, &str); 1] = [(Code::A, "form-seven")];
        fn row() { match self { A => ("form-eight", Exit::Io) } }
        fn other() { let x = "not-a-code"; report.count("no-code", 1); }
        // report.error("in-a-comment", "x");
    "#;
    let source = |path: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let built: BTreeSet<String> = BUILT_OTHERWISE.map(|(code, ..)| code.to_owned()).into();
    let found: Vec<String> = codes::in_sources(&[source("crates/x/src/lib.rs")]).difference(&built).cloned().collect();
    let numbers = ["eight", "five", "four", "one", "seven", "six", "three", "two"];
    assert_eq!(found, numbers.map(|number| format!("form-{number}")));
    assert_eq!(codes::in_sources(&[source("crates/x/tests/lib.rs")]), built);
}

/// GitHub's name for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = outside_of_code(text)
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    headings.map(anchor).collect()
}

fn outside_of_code(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    })
}

/// The targets of `[text](target)` in a line, those in back-ticks left out.
fn targets(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect();
    prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut pages = sources::files(&["docs"], ".md");
    for name in ["README.md", "SPEC.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        pages.push(Source { path: name.to_owned(), text: page(name) });
    }
    let by_path: BTreeMap<&str, &str> = pages.iter().map(|page| (page.path.as_str(), page.text.as_str())).collect();
    let mut seen = 0;
    for page in &pages {
        for target in outside_of_code(&page.text).flat_map(targets) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (file, fragment) = target.split_once('#').unwrap_or((&target, ""));
            let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let path = if file.is_empty() { page.path.clone() } else { join(folder, file) };
            assert!(repository().join(&path).exists(), "{}: {target} leads nowhere", page.path);
            let leaves_the_book = page.path.starts_with("docs/") && !path.starts_with("docs/");
            assert!(!leaves_the_book, "{}: {target} is no page of the book", page.path);
            if !fragment.is_empty() {
                let text = by_path.get(path.as_str()).unwrap_or_else(|| panic!("{}: {target} is no page", page.path));
                assert!(anchors(text).contains(fragment), "{}: {target} names no heading", page.path);
            }
        }
    }
    assert!(seen > 60, "only {seen} links were found");
}

/// Every page is in the book's table of contents, and every entry of it is a page.
#[test]
fn the_book_has_every_page() {
    let summary = page("docs/SUMMARY.md");
    let listed: BTreeSet<String> = summary.lines().flat_map(targets).map(|target| join("docs", &target)).collect();
    let pages = sources::files(&["docs"], ".md").into_iter().map(|page| page.path);
    let pages: BTreeSet<String> = pages.filter(|path| path != "docs/SUMMARY.md").collect();
    assert_eq!(listed, pages);
}

fn join(folder: &str, file: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whoever types a recipe does what the gate does: each of its commands stands in `.ci/run`, but for the places of files,
/// and every script that the gate runs has a recipe.
#[test]
fn recipes_are_the_steps_of_the_gate() {
    let (recipes, gate) = (page("justfile"), page(".ci/run"));
    let words = |line: &str| -> Vec<String> {
        let text = line.replace("{{ binaries }}", "$binaries").replace("{{ archive }}", "$archive").replace('"', "");
        text.split_whitespace().map(str::to_owned).collect()
    };
    let steps: Vec<Vec<String>> = gate.lines().map(words).collect();
    let outside =
        ["gate", "default", "dry-run", "release", "compiled", "test", "examples", "engines", "mutations", "bench"];
    let mut recipe = "";
    let mut checked = 0;
    for line in recipes.lines() {
        match line.strip_prefix("    ") {
            None => recipe = line.split([':', ' ']).next().unwrap_or_default(),
            Some(_) if outside.contains(&recipe) => {}
            Some(command) => {
                assert!(steps.contains(&words(command)), "recipe {recipe}: `{command}` is not in .ci/run");
                checked += 1;
            }
        }
    }
    assert!(checked >= 8, "only {checked} commands were found");
    for word in gate.split_whitespace().filter(|word| word.starts_with("scripts/") && !word.contains("nodes.sh")) {
        assert!(recipes.contains(word), "{word} has no recipe");
    }
}
