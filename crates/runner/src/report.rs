//! What a binary read, decided and wrote, in each form.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::commands::{self, Place};
use crate::{CommonArgs, Exit, Format, MAX_TEXT, plain, sarif, visible_json};

/// Version of the JSON form; it grows when a member changes its meaning or goes.
pub const DOCUMENT_VERSION: u64 = 1;

/// The runner shows at most this many annotations of a step.
const MAX_ANNOTATIONS: usize = 10;

/// Longest message shown in an annotation or a line, in characters.
const MAX_MESSAGE: usize = 4 * MAX_TEXT;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something is wrong.
    Error,
    /// Something may be wrong, or was set aside.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The one report of a process; [`Report::emit`] prints it and gives the exit.
#[derive(Clone, Debug)]
pub struct Report {
    exit: Exit,
    outcome: &'static str,
    diagnostics: Vec<Value>,
    pictures: BTreeMap<usize, String>,
    counts: BTreeMap<String, u64>,
    read: Vec<String>,
    decided: Vec<String>,
    wrote: Vec<String>,
    members: Map<String, Value>,
}

impl Report {
    /// A report whose outcome is the name of its exit.
    #[must_use]
    pub fn new(exit: Exit) -> Self {
        Self::named(exit.name(), exit)
    }

    /// A report with an outcome of its own, such as `already_applied`.
    #[must_use]
    pub fn named(outcome: &'static str, exit: Exit) -> Self {
        Self {
            exit,
            outcome,
            diagnostics: Vec::new(),
            pictures: BTreeMap::new(),
            counts: BTreeMap::new(),
            read: Vec::new(),
            decided: Vec::new(),
            wrote: Vec::new(),
            members: Map::new(),
        }
    }

    /// What the outcome is called.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        self.outcome
    }

    /// Changes how the process ends, and the outcome with it.
    pub fn set_exit(&mut self, exit: Exit) -> &mut Self {
        self.exit = exit;
        self.outcome = exit.name();
        self
    }

    /// Changes how the process ends, under an outcome of its own.
    pub fn set_outcome(&mut self, outcome: &'static str, exit: Exit) -> &mut Self {
        self.exit = exit;
        self.outcome = outcome;
        self
    }

    /// How the process ends.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Adds a diagnostic with a severity, a code, a message and the members of `details` (an object or null). With the
    /// members `file`, `line` and `column` (from 1) it is shown at that place.
    pub fn diagnose(&mut self, severity: Severity, code: &str, message: &str, details: Value) -> &mut Self {
        let mut diagnostic = match details {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            other => Map::from_iter([("detail".to_owned(), other)]),
        };
        diagnostic.insert("code".to_owned(), code.into());
        diagnostic.insert("severity".to_owned(), severity.name().into());
        diagnostic.insert("message".to_owned(), message.into());
        self.diagnostics.push(diagnostic.into());
        self
    }

    /// Shows the diagnostic that was added last to people by these lines, in place of its own; what is foreign in them
    /// must be harmless already.
    pub fn picture(&mut self, lines: impl Into<String>) -> &mut Self {
        if let Some(last) = self.diagnostics.len().checked_sub(1) {
            self.pictures.insert(last, lines.into());
        }
        self
    }

    /// Adds an error without details.
    pub fn error(&mut self, code: &str, message: &str) -> &mut Self {
        self.diagnose(Severity::Error, code, message, Value::Null)
    }

    /// Adds a warning without details.
    pub fn warning(&mut self, code: &str, message: &str) -> &mut Self {
        self.diagnose(Severity::Warning, code, message, Value::Null)
    }

    /// Adds a note without details.
    pub fn note(&mut self, code: &str, message: &str) -> &mut Self {
        self.diagnose(Severity::Note, code, message, Value::Null)
    }

    /// Sets a count.
    pub fn count(&mut self, name: &str, value: u64) -> &mut Self {
        self.counts.insert(name.to_owned(), value);
        self
    }

    /// Adds a sentence about what was read.
    pub fn read(&mut self, sentence: impl Into<String>) -> &mut Self {
        self.read.push(sentence.into());
        self
    }

    /// Adds a sentence about what was decided.
    pub fn decided(&mut self, sentence: impl Into<String>) -> &mut Self {
        self.decided.push(sentence.into());
        self
    }

    /// Adds a sentence about what was written.
    pub fn wrote(&mut self, sentence: impl Into<String>) -> &mut Self {
        self.wrote.push(sentence.into());
        self
    }

    /// Sets a member of the JSON form that only this binary has. The shared members cannot be replaced.
    pub fn member(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// The JSON form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut document = self.members.clone();
        document.insert("version".to_owned(), DOCUMENT_VERSION.into());
        document.insert("outcome".to_owned(), self.outcome.into());
        document.insert("diagnostics".to_owned(), self.diagnostics.clone().into());
        document.insert("counts".to_owned(), json!(self.counts));
        document.insert("read".to_owned(), json!(self.read));
        document.insert("decided".to_owned(), json!(self.decided));
        document.insert("wrote".to_owned(), json!(self.wrote));
        document.into()
    }

    /// The text of the report in one form, ending with a newline.
    #[must_use]
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Json => format!("{}\n", visible_json(&self.to_json().to_string())),
            Format::Sarif => format!("{}\n", sarif::document(&self.diagnostics)),
            Format::Human => self.human(),
            Format::Github => {
                let mut text = self.human();
                for line in self.annotations() {
                    text.push_str(&line);
                    text.push('\n');
                }
                text
            }
        }
    }

    /// Prints the report on standard output in the form that the arguments ask for, and gives the exit. Where the
    /// output cannot be written, the exit is [`Exit::Io`]; a reader that has read enough is no such case.
    #[must_use]
    pub fn emit(&self, common: &CommonArgs) -> Exit {
        self.emit_as(common.format())
    }

    /// Prints the report on standard output in this form, and gives the exit.
    #[must_use]
    pub fn emit_as(&self, format: Format) -> Exit {
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(self.render(format).as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Exit::Io,
            _ => self.exit,
        }
    }

    fn human(&self) -> String {
        let mut text = format!("outcome: {}\n", self.outcome);
        for (heading, sentences) in [("read", &self.read), ("decided", &self.decided), ("wrote", &self.wrote)] {
            for sentence in sentences {
                text.push_str(&format!("  {heading:<8} {}\n", plain(sentence, MAX_MESSAGE)));
            }
        }
        if !self.counts.is_empty() {
            let counts: Vec<String> = self.counts.iter().map(|(name, value)| format!("{name} {value}")).collect();
            text.push_str(&format!("  {:<8} {}\n", "counts", counts.join(", ")));
        }
        for (number, diagnostic) in self.diagnostics.iter().enumerate() {
            if let Some(picture) = self.pictures.get(&number) {
                text.push_str(picture.trim_end());
                text.push_str("\n\n");
                continue;
            }
            let code = text_of(diagnostic, "code");
            let place = place_of(diagnostic);
            let place =
                place.map(|place| format!("{}:{}:{}: ", plain(place.file, MAX_MESSAGE), place.line, place.column));
            text.push_str(&format!(
                "{}[{}]: {}{}\n",
                text_of(diagnostic, "severity"),
                plain(code, MAX_TEXT),
                place.unwrap_or_default(),
                plain(text_of(diagnostic, "message"), MAX_MESSAGE)
            ));
            if let Some(hint) = diagnostic.get("hint").and_then(Value::as_str) {
                text.push_str(&format!("  hint: {}\n", plain(hint, MAX_MESSAGE)));
            }
        }
        text
    }

    /// Errors come first, so that the bound never hides one behind a notice.
    fn annotations(&self) -> Vec<String> {
        let ranked = ["error", "warning", "note"].into_iter().flat_map(|severity| {
            self.diagnostics.iter().filter(move |diagnostic| text_of(diagnostic, "severity") == severity)
        });
        ranked
            .take(MAX_ANNOTATIONS)
            .map(|diagnostic| {
                let title = plain(text_of(diagnostic, "code"), MAX_TEXT);
                let place = place_of(diagnostic);
                let hint = diagnostic.get("hint").and_then(Value::as_str).filter(|_| place.is_some());
                let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                let message = plain(&format!("{}{hint}", text_of(diagnostic, "message")), MAX_MESSAGE);
                let command = match text_of(diagnostic, "severity") {
                    "error" => "error",
                    "warning" => "warning",
                    _ => "notice",
                };
                commands::annotation(command, place, &title, &message)
            })
            .collect()
    }
}

fn text_of<'a>(diagnostic: &'a Value, member: &str) -> &'a str {
    diagnostic.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// The place of a diagnostic that has one.
pub(crate) fn place_of(diagnostic: &Value) -> Option<Place<'_>> {
    let number = |member| diagnostic.get(member).and_then(Value::as_u64).filter(|number| *number > 0);
    let file = diagnostic.get("file").and_then(Value::as_str).filter(|file| !file.is_empty())?;
    Some(Place { file, line: number("line")?, column: number("column")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_always_holds_the_shared_members_and_they_cannot_be_replaced() {
        let mut report = Report::new(Exit::Refused);
        report.member("outcome", "ok").member("heads", json!(["sha256:aa"])).count("records", 2);
        report.diagnose(Severity::Error, "invalid-sha", "no", json!({"code": "fine", "line": 3}));
        let document = report.to_json();
        assert_eq!(document["outcome"], "refused");
        assert_eq!(document["heads"][0], "sha256:aa");
        assert_eq!(document["counts"]["records"], 2);
        assert_eq!(document["diagnostics"][0]["code"], "invalid-sha");
        assert_eq!(document["diagnostics"][0]["line"], 3);
        for member in ["read", "decided", "wrote"] {
            assert_eq!(document[member], json!([]));
        }
        assert_eq!(report.render(Format::Json).lines().count(), 1);
    }

    #[test]
    fn json_shows_hidden_characters_as_escapes_and_means_the_same() {
        let mut report = Report::new(Exit::Ok);
        report.member("payload", "a\u{202e}b\u{e0041}\u{9b}c");
        let text = report.render(Format::Json);
        assert!(text.contains(r"a\u202eb\udb40\udc41\u009bc"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), report.to_json());
    }

    #[test]
    fn foreign_text_stays_text_in_every_form() {
        let mut report = Report::new(Exit::Ok);
        report.read("x\n::add-mask::secret").warning("a::b", "m\n::error::forged");
        for format in [Format::Human, Format::Github] {
            let text = report.render(format);
            let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("::")).collect();
            assert_eq!(commands.len(), usize::from(format == Format::Github), "{text}");
            assert!(commands.iter().all(|line| line.starts_with("::warning ")), "{text}");
        }
    }

    #[test]
    fn a_place_is_shown_in_every_form_and_a_picture_to_people_only() {
        let mut report = Report::new(Exit::Usage);
        let details = json!({"file": "a b.md", "line": 3, "column": 5, "length": 2, "hint": "type this"});
        report.diagnose(Severity::Error, "wrong-kind", "no number", details);
        assert!(report.render(Format::Human).contains("error[wrong-kind]: a b.md:3:5: no number\n  hint: type this\n"));
        let github = report.render(Format::Github);
        assert!(
            github.contains("::error file=a b.md,line=3,col=5,title=wrong-kind::no number (type this)"),
            "{github}"
        );
        let sarif: Value = serde_json::from_str(&report.render(Format::Sarif)).unwrap();
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!((&result["ruleId"], &result["level"]), (&json!("wrong-kind"), &json!("error")));
        assert_eq!(result["message"]["text"], "no number (type this)");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.md");
        assert_eq!(place["region"], json!({"startLine": 3, "startColumn": 5}));
        report.picture("3 | max: x\n  |      ^");
        let human = report.render(Format::Human);
        assert!(human.ends_with("3 | max: x\n  |      ^\n\n") && !human.contains("no number"), "{human}");
        assert!(!report.to_json().to_string().contains("max: x"));
    }

    #[test]
    fn ten_annotations_and_errors_first() {
        let mut report = Report::new(Exit::Findings);
        for number in 0..15 {
            report.note("n", &format!("note {number}"));
        }
        report.error("e", "the important one");
        let lines = report.annotations();
        assert_eq!(lines.len(), MAX_ANNOTATIONS);
        assert!(lines[0].contains("the important one"));
    }
}
