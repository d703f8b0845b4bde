//! The examples of the page of diagnostics against the texts that the programs have.
//!
//! A message is a text of the sources with something in its holes. What is prose in a hole, or in one of its clauses, is a
//! text of the sources in turn. So an example whose words no program has any more is found.

use crate::codes;
use crate::sources::Source;

/// A hole, or a clause of one, with fewer words than this is a name, a number or a list.
const PROSE: usize = 4;
/// Letters that a text has to have outside of its holes: less than that says nothing.
const LETTERS: usize = 4;
/// How deep texts stand in texts, at most.
const DEPTH: usize = 4;

/// The texts of all programs.
#[derive(Debug)]
pub struct Texts(Vec<Vec<String>>);

impl Texts {
    /// The texts in some sources.
    #[must_use]
    pub fn of(sources: &[Source]) -> Self {
        let programs = sources.iter().filter_map(codes::program_text);
        let texts = programs.flat_map(|text| literals(&text)).map(|literal| pieces(&literal));
        Self(texts.filter(|pieces| letters(pieces) >= LETTERS).collect())
    }

    /// Whether a program says this.
    #[must_use]
    pub fn say(&self, message: &str) -> bool {
        self.say_within(message, DEPTH)
    }

    fn say_within(&self, message: &str, depth: usize) -> bool {
        let fits = |hole: &&str| {
            let clauses = || hole.split([';', ':', ',', '(']).all(|clause| self.is_short_or_said(clause, depth));
            self.is_short_or_said(hole, depth) || clauses()
        };
        let is_filled = |holes: Vec<&str>| holes.iter().all(fits);
        self.0.iter().any(|pieces| holes(pieces, message).is_some_and(is_filled))
    }

    fn is_short_or_said(&self, text: &str, depth: usize) -> bool {
        let text = text.trim_matches([' ', ';', ':', ',']);
        text.split_whitespace().count() < PROSE || (depth > 0 && self.say_within(text, depth - 1))
    }
}

/// The string literals of a source, with their escapes resolved as far as messages have any.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = text.chars();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let is_opening = letter == '"' && !(before == '\'' && letters.as_str().starts_with('\''));
        before = letter;
        if !is_opening {
            continue;
        }
        let mut literal = String::new();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => break,
                '\\' => match letters.next() {
                    Some('\n') => {
                        let rest = letters.as_str().trim_start();
                        letters = rest.chars();
                    }
                    Some('n') => literal.push('\n'),
                    Some(other) => literal.push(other),
                    None => break,
                },
                other => literal.push(other),
            }
        }
        found.push(literal);
    }
    found
}

/// What stands between the holes `{…}` of a format.
fn pieces(format: &str) -> Vec<String> {
    let plain = format.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut pieces = Vec::new();
    for (number, part) in plain.split('{').enumerate() {
        let piece = if number == 0 { part } else { part.split_once('}').map_or(part, |(_, piece)| piece) };
        pieces.push(piece.replace('\u{1}', "{").replace('\u{2}', "}"));
    }
    pieces
}

fn letters(pieces: &[String]) -> usize {
    pieces.iter().flat_map(|piece| piece.chars()).filter(char::is_ascii_alphabetic).count()
}

/// What a message has in the holes of a format, where it is one of that format.
fn holes<'a>(pieces: &[String], message: &'a str) -> Option<Vec<&'a str>> {
    let (first, rest) = pieces.split_first()?;
    let Some((last, middle)) = rest.split_last() else { return (message == first).then(Vec::new) };
    let mut open = message.strip_prefix(first.as_str())?.strip_suffix(last.as_str())?;
    let mut holes = Vec::new();
    for piece in middle {
        let (hole, behind) = open.split_once(piece.as_str())?;
        holes.push(hole);
        open = behind;
    }
    holes.push(open);
    Some(holes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_said_and_another_is_not() {
        let text = r#"fn a() { format!("{count} lines refused ({}): {why}", list); }
            const WHY: &str = "more of them than the \
                configuration allows"; const SET: &str = "braces {{}} stay braces, all of them";"#;
        let texts = Texts::of(&[Source { path: "crates/x/src/lib.rs".to_owned(), text: text.to_owned() }]);
        assert!(texts.say("3 lines refused (line 1, …): more of them than the configuration allows"));
        assert!(texts.say("braces {} stay braces, all of them"));
        assert!(!texts.say("3 lines refused (line 1, …): less of them than the configuration allows"));
        assert!(!texts.say("3 lines dropped (line 1, …): more of them than the configuration allows"));
    }
}
