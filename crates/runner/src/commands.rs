//! Workflow commands: the lines by which a step talks to the runner.
//!
//! The functions return the line, without a newline; [`Report`](crate::Report) prints it.

/// A place in a file of the repository; line and column count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'p> {
    /// The file, relative to the repository.
    pub file: &'p str,
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

/// A `notice` annotation.
#[must_use]
pub fn notice(title: &str, message: &str) -> String {
    annotation("notice", None, title, message)
}

/// A `warning` annotation.
#[must_use]
pub fn warning(title: &str, message: &str) -> String {
    annotation("warning", None, title, message)
}

/// An `error` annotation.
#[must_use]
pub fn error(title: &str, message: &str) -> String {
    annotation("error", None, title, message)
}

/// An annotation, shown at its place where it has one. The command is `error`, `warning` or `notice`.
#[must_use]
pub fn annotation(command: &'static str, place: Option<Place<'_>>, title: &str, message: &str) -> String {
    let place = place.map(|place| {
        let Place { file, line, column } = place;
        format!("file={},line={line},col={column},", escape(file))
    });
    format!("::{command} {}title={}::{}", place.unwrap_or_default(), escape(title), escape(message))
}

/// Escapes a title or a message so that it cannot end the command it stands in or start another one.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            ':' => escaped.push_str("%3A"),
            ',' => escaped.push_str("%2C"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    // DB-B-13
    #[test]
    fn a_message_cannot_leave_its_command() {
        let line = warning("a,file=b", "x\r\n::set-output name=y::z 100%");
        assert_eq!(line, "::warning title=a%2Cfile=b::x%0D%0A%3A%3Aset-output name=y%3A%3Az 100%25");
        assert_eq!(line.lines().count(), 1);
        assert_eq!(line.matches("::").count(), 2);
        let place = Place { file: "a,line=9::b", line: 2, column: 7 };
        let line = annotation("error", Some(place), "t", "m");
        assert_eq!(line, "::error file=a%2Cline=9%3A%3Ab,line=2,col=7,title=t::m");
    }
}
