//! A problem of a source as people see it: its line, underlined.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use daybook_compiler::Problem;
use daybook_runner::{MAX_TEXT, Severity, plain};

/// Most characters that are underlined; the renderer cuts a long line around them.
const MAX_UNDERLINED: usize = 60;

/// The lines of one problem.
pub(crate) fn picture(path: &str, source: &str, problem: &Problem, severity: Severity, coloured: bool) -> String {
    let level = match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let path = plain(path, 4 * MAX_TEXT);
    let message = plain(&problem.message, 8 * MAX_TEXT);
    let line = size(problem.line);
    let (text, span) = underlined(source.split('\n').nth(line.saturating_sub(1)).unwrap_or_default(), problem);
    let annotation = AnnotationKind::Primary.span(span);
    let snippet = Snippet::source(text).path(path).line_start(line).annotation(annotation);
    let mut group = level.primary_title(message).id(problem.code).element(snippet);
    if let Some(hint) = &problem.hint {
        group = group.element(Level::HELP.with_name("hint").message(plain(hint, 8 * MAX_TEXT)));
    }
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// A line, made harmless, and the bytes of it that are underlined.
fn underlined(line: &str, problem: &Problem) -> (String, Range<usize>) {
    let column = size(problem.column).saturating_sub(1);
    let end = column.saturating_add(size(problem.length).clamp(1, MAX_UNDERLINED));
    let mut text = String::with_capacity(line.len());
    let (mut from, mut to) = (None, None);
    let mut previous = ' ';
    for (at, character) in line.trim_end().chars().enumerate() {
        if at == column {
            from = Some(text.len());
        }
        text.push(harmless(previous, character));
        previous = character;
        if at < end {
            to = Some(text.len());
        }
    }
    // What stands at the end of a line is shown one behind it.
    let from = from.unwrap_or(text.len());
    (text, from..to.unwrap_or(from).max(from))
}

/// One character for one character, so that columns stay: what a terminal or a runner could obey is replaced.
fn harmless(previous: char, character: char) -> char {
    let obeyed = (previous == '#' && character == '[') || (previous == ':' && character == ':');
    let shown = plain(character.encode_utf8(&mut [0; 4]), 1);
    if character == '\t' {
        ' '
    } else if obeyed || !shown.starts_with(character) {
        '\u{fffd}'
    } else {
        character
    }
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: u64, column: u64, length: u64) -> Problem {
        let (code, message) = ("wrong-kind", "no number".to_owned());
        Problem { code, message, hint: Some("type 5".to_owned()), line, column, length }
    }

    #[test]
    fn the_line_stands_there_with_what_is_meant_underlined() {
        let source = "---\non: push\r\nmäx: fünf # five\r\n---\n";
        let shown = picture("a.md", source, &problem(3, 6, 4), Severity::Error, false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "error[wrong-kind]: no number");
        assert!(lines[1].contains("a.md:3:6"), "{shown}");
        let at = lines.iter().position(|line| line.contains("3 | mäx: fünf # five")).expect("the line");
        let column = |text: &str, mark: &str| text.split(mark).next().map(|text| text.chars().count());
        assert_eq!(column(lines[at + 1], "^"), column(lines[at], "fünf"), "{shown}");
        assert!(lines[at + 1].ends_with(" ^^^^") && shown.contains("hint: type 5"), "{shown}");
    }

    #[test]
    fn a_long_line_and_a_place_behind_its_end_stay_short() {
        let long = format!("x: [{}]", "1, ".repeat(200_000));
        for column in [1, 5, 300_000, 600_003, 700_000] {
            let shown = picture("a.md", &long, &problem(1, column, 9_999_999), Severity::Warning, false);
            assert!(shown.len() < 1500 && shown.contains('^'), "{column}: {shown}");
        }
        let shown = picture("a.md", "", &problem(7, 3, 2), Severity::Note, false);
        assert!(shown.contains("a.md:7:1") && shown.contains("no number"), "{shown}");
    }

    #[test]
    fn nothing_in_a_line_moves_the_cursor_or_commands_a_runner() {
        let source = "::error::x ##[error]y \u{1b}[31m \u{202e}z";
        let shown = picture("a.md", source, &problem(1, 3, 5), Severity::Error, false);
        assert!(
            !shown.contains("::") && !shown.contains("##[") && !shown.contains(['\u{1b}', '\u{202e}']),
            "{shown:?}"
        );
    }
}
