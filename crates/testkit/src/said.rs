//! What programs said while tests ran them: with `DAYBOOK_SAID=FOLDER` in the environment, every diagnostic that a test
//! sees is kept in that folder, so that the examples of the documentation can be held to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// The variable that names the folder.
pub const FOLDER: &str = "DAYBOOK_SAID";

/// The messages of each code.
pub type Said = BTreeMap<String, BTreeSet<String>>;

/// Runs a program to its end and keeps what it said, in any form.
///
/// # Panics
/// Where it cannot be started.
#[must_use]
pub fn output(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", command.get_program().display()));
    keep_output(&output);
    output
}

/// Keeps what a program said: reports in JSON, each on a line, and lines for people.
pub fn keep_output(output: &Output) {
    for line in [&output.stdout, &output.stderr].into_iter().flat_map(|text| text.split(|byte| *byte == b'\n')) {
        if let Ok(report) = serde_json::from_slice(line) {
            keep_all(&report);
        } else if let Some((code, message)) = std::str::from_utf8(line).ok().and_then(line_for_people) {
            keep(code, message);
        }
    }
}

/// Keeps every diagnostic in a document: each object with a code and a message.
pub fn keep_all(document: &Value) {
    match document {
        Value::Object(members) => {
            if let (Some(Value::String(code)), Some(Value::String(message))) =
                (members.get("code"), members.get("message"))
            {
                keep(code, message);
            }
            members.values().for_each(keep_all);
        }
        Value::Array(items) => items.iter().for_each(keep_all),
        _ => {}
    }
}

/// The code of a fault that a test has brought about in this process, kept with its words.
pub fn code<Fault: Display>(fault: &Fault, code: impl FnOnce(&Fault) -> &'static str) -> &'static str {
    let code = code(fault);
    keep(code, &fault.to_string());
    code
}

/// Keeps one diagnostic.
///
/// # Panics
/// Where the folder does not take it.
pub fn keep(code: &str, message: &str) {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let file = folder.join(format!("{}.jsonl", std::process::id()));
    let line = format!("{}\n", json!([code, message]));
    let appended = fs::create_dir_all(folder)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(file))
        .and_then(|mut file| file.write_all(line.as_bytes()));
    appended.expect("what was said is kept");
}

/// What tests have left in a folder.
///
/// # Errors
/// Where it cannot be read.
pub fn read(folder: &Path) -> io::Result<Said> {
    let mut said = Said::new();
    for file in fs::read_dir(folder)? {
        for line in fs::read_to_string(file?.path())?.lines() {
            let (code, message): (String, String) = serde_json::from_str(line)?;
            said.entry(code).or_default().insert(message);
        }
    }
    Ok(said)
}

/// Whether an example shows one of these messages: the whole of it, or what follows the place or the purpose before a
/// colon. What differs from run to run may differ.
#[must_use]
pub fn shows(example: &str, messages: &BTreeSet<String>) -> bool {
    let example = lasting(example);
    messages.iter().any(|message| {
        let message = lasting(message);
        message.strip_suffix(&example).is_some_and(|before| before.is_empty() || before.ends_with(": "))
    })
}

/// A message with fixed words in place of its absolute paths, identifiers, digests and numbers.
fn lasting(message: &str) -> String {
    static PATTERNS: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
        let pattern = |pattern: &str| Regex::new(pattern).expect("a pattern");
        [
            (pattern(r#"(^|[\s"'(`])/[^\s"',:;)`]+"#), "$1/path"),
            (pattern("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "id"),
            (pattern(r"\b[0-9a-f]{12,64}\b"), "digest"),
            (pattern("[0-9]+"), "0"),
        ]
    });
    PATTERNS.iter().fold(message.to_owned(), |text, (pattern, word)| pattern.replace_all(&text, *word).into_owned())
}

/// The code and the message of a line such as `error[code]: message`.
fn line_for_people(line: &str) -> Option<(&str, &str)> {
    let (before, message) = line.split_once("]: ")?;
    let code = ["error[", "warning[", "note["].iter().find_map(|severity| before.strip_prefix(severity))?;
    Some((code, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_shown_by_its_message_and_by_no_other() {
        let said = BTreeSet::from([
            "compaction of ledger triage was not asked for: the API answered 503".to_owned(),
            "shard 3f0cbb5f-2f0e-4c0e-9d0a-0b8f2c1e6a77 of /tmp/.tmp8/memory.git, 304278929d7784".to_owned(),
        ]);
        let same = [
            "compaction of ledger triage was not asked for: the API answered 503",
            "the API answered 500",
            "shard 00000000-0000-4000-8000-000000000001 of /home/you/memory.git, aaaaaaaaaaaa",
        ];
        for example in same {
            assert!(shows(example, &said), "{example}");
        }
        for example in ["API answered 503", "the API answered", "shard 1 of /home/you/memory.git, aaaaaaaaaaaa", ""] {
            assert!(!shows(example, &said), "{example}");
        }
    }

    #[test]
    fn a_line_for_people_has_its_code_in_brackets() {
        assert_eq!(line_for_people("error[not-json]: line 3: no"), Some(("not-json", "line 3: no")));
        assert_eq!(line_for_people("  decided  1 record"), None);
    }
}
