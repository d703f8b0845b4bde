//! The codes of diagnostics, as the sources say them.
//!
//! A code is a short literal. It is found by what stands around it: a call that reports, a field `code`, an exit or a
//! severity beside it, an arm of a function `code`. What is built otherwise is listed in [`BUILT_OTHERWISE`].

use std::collections::BTreeSet;

use crate::sources::{self, Source};

/// The page with one section for each code.
pub const PAGE: &str = "docs/diagnostics.md";

/// Codes that stand where the search does not see them: the code, the file, and how it is built there.
pub const BUILT_OTHERWISE: [(&str, &str, &str); 7] = [
    ("file-differs", "crates/cli/src/compile/output.rs", "a tuple with its message"),
    ("file-missing", "crates/cli/src/compile/output.rs", "a tuple with its message"),
    ("version-differs", "crates/cli/src/compile/output.rs", "a tuple with its message"),
    ("log-lines-dropped", "crates/jobs/merge/src/lib.rs", "one of two, by a condition"),
    ("log-too-long", "crates/jobs/merge/src/lib.rs", "one of two, by a condition"),
    ("name-collision", "crates/jobs/agent/src/restore.rs", "a key of a table"),
    ("no-report", "crates/cli/src/dry_run/process.rs", "a report written as JSON"),
];

/// Faults of ours, of a library or of the machine that no input brings about: the code and why no test provokes it.
pub const NOT_PROVOKED: [(&str, &str); 8] = [
    ("clock", "a machine whose clock stands before 1970 or after 9999"),
    ("cycle", "two records that name each other by digest are a collision of SHA-256"),
    ("internal", "a call to a tool that panics, which is a bug"),
    ("merge-failed", "libgit2 fails to merge texts that are in memory already for lack of memory only"),
    ("sandbox-unavailable", "said where the program was built for another system than the sandbox is for"),
    ("scan-failed", "a thread that panics, which is a bug"),
    ("segment-not-built", "records that no segment holds are refused before, one by one, by the rules of writers"),
    ("transition", "a state or a path that was checked and cannot be written all the same, which is a bug"),
];

/// What stands directly before a code.
const BEFORE: [&str; 13] = [
    ".error(",
    ".warning(",
    ".note(",
    "Problem::new(",
    "Failure::new(",
    "::usage(",
    "::refused(",
    "::io(",
    ".add(",
    ".add_many(",
    ".add_record(",
    "code:",
    "&mut refusals,",
];

/// Enumerations whose values stand directly before a code, in a call or in a row of a table.
const VALUES: [&str; 3] = ["Exit", "Severity", "Code"];

/// Every code that the programs can print.
#[must_use]
pub fn in_sources(sources: &[Source]) -> BTreeSet<String> {
    let texts = sources.iter().filter_map(|source| Some((&source.path, program_text(source)?)));
    let mut found: BTreeSet<String> = texts.flat_map(|(path, text)| in_program(path, &text)).collect();
    found.extend(BUILT_OTHERWISE.map(|(code, ..)| code.to_owned()));
    found
}

/// The codes that [`PAGE`] has a section for, in its order.
#[must_use]
pub fn in_page(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("### ")).collect()
}

/// The example of a code's section.
#[must_use]
pub fn example<'a>(page: &'a str, code: &str) -> Option<&'a str> {
    let (_, section) = page.split_once(&format!("\n### {code}\n\n```text\n"))?;
    Some(section.split_once("\n```\n")?.0)
}

/// Every text that a test compares what it sees with: test sources, tests inside of sources, and expected outputs.
#[must_use]
pub fn test_texts() -> Vec<String> {
    let rust = sources::rust().into_iter().filter(|source| !source.path.starts_with("crates/testkit/"));
    let inside = |source: Source| {
        if is_program(&source.path) {
            source.text.split_once("\n#[cfg(test)]\nmod ").map(|(_, tests)| tests.to_owned())
        } else {
            Some(source.text)
        }
    };
    let outputs = sources::files(&["testdata/err"], ".out").into_iter().map(|source| source.text);
    rust.filter_map(inside).chain(outputs).collect()
}

/// Whether a text names a code: as a literal, or in brackets as a report for people does.
#[must_use]
pub fn names(text: &str, code: &str) -> bool {
    [format!("\"{code}\""), format!("[{code}]")].iter().any(|name| text.contains(name))
}

/// Whether a file is part of a program: no test, no bench, nothing of this crate.
fn is_program(path: &str) -> bool {
    path.contains("/src/") && !path.starts_with("crates/testkit/") && !path.ends_with("/tests.rs")
}

/// A source's text without comments and tests, where it is part of a program.
fn program_text(source: &Source) -> Option<String> {
    let program = source.text.split("\n#[cfg(test)]\nmod ").next().filter(|_| is_program(&source.path))?;
    let lines = program.lines().filter(|line| !line.trim_start().starts_with("//"));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

fn in_program(path: &str, text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let arms = bodies(&text, if path.ends_with("/diagnostic.rs") { "fn name(" } else { "fn code(" });
    let mut found = Vec::new();
    for (start, _) in text.match_indices('"') {
        let Some((literal, after)) = text[start + 1..].split_once('"') else { continue };
        let before = text[..start].trim_end();
        let in_arm = || before.ends_with("=>") && arms.iter().any(|(from, to)| (*from..*to).contains(&start));
        let is_printed = BEFORE.iter().any(|call| before.ends_with(call))
            || (follows_value(before) && !after.starts_with(" =>"))
            || (after.starts_with(", Exit::") && !before.ends_with("set_outcome("))
            || in_arm()
            || (path.ends_with("/denial.rs") && is_second_of_row(before))
            || (path.ends_with("/restore.rs") && before.ends_with("Err("))
            || (path.ends_with("/output.rs") && before.ends_with("diagnose(severity,"));
        if is_printed && is_code(literal) {
            found.push(literal.to_owned());
        }
    }
    found
}

/// Whether a text ends with a value of one of [`VALUES`] and a comma.
fn follows_value(before: &str) -> bool {
    let Some(before) = before.strip_suffix(',') else { return false };
    let kind = before.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric());
    kind.strip_suffix("::").is_some_and(|kind| VALUES.iter().any(|value| kind.ends_with(value)))
}

/// Whether a text ends with the start of a row and its first text, so that the second one follows.
fn is_second_of_row(before: &str) -> bool {
    let first = before.strip_suffix("\",").and_then(|before| before.rsplit_once('"'));
    first.is_some_and(|(before, _)| before.trim_end().ends_with('('))
}

/// Where the bodies of functions lie that start like this.
fn bodies(text: &str, start: &str) -> Vec<(usize, usize)> {
    let ends = |from: usize| {
        let mut depth = 0_i32;
        text[from..].char_indices().find_map(|(at, letter)| {
            depth += match letter {
                '{' => 1,
                '}' => -1,
                _ => return None,
            };
            (depth == 0).then_some(from + at)
        })
    };
    text.match_indices(start).filter_map(|(from, _)| Some((from, ends(from)?))).collect()
}

fn is_code(literal: &str) -> bool {
    literal.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && literal.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
