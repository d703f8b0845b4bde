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
        let literals = programs.flat_map(|text| literals(&text));
        // As a format, and as it stands: nothing tells a constant with braces from a format.
        let texts = literals.flat_map(|literal| [pieces(trimmed(&literal)), vec![trimmed(&literal).to_owned()]]);
        Self(texts.filter(|pieces| letters(pieces) >= LETTERS).collect())
    }

    /// Words that a program passes on: those of a system or a library.
    pub fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|words| vec![(*words).to_owned()]));
    }

    /// Whether a program says this, or says it of a place that stands before it.
    #[must_use]
    pub fn say(&self, message: &str) -> bool {
        let of_place = || message.split_once(": ").is_some_and(|(place, rest)| !place.contains(' ') && self.say(rest));
        self.say_within(message, DEPTH) || of_place()
    }

    fn say_within(&self, message: &str, depth: usize) -> bool {
        let message = trimmed(message);
        let is_filled = |holes: Vec<&str>| holes.iter().all(|hole| self.is_filled_by(hole, depth));
        self.0.iter().any(|pieces| holes(pieces, message).is_some_and(is_filled))
    }

    /// Whether a hole may hold this: a few words, another text, or clauses that may each stand in a hole.
    fn is_filled_by(&self, text: &str, depth: usize) -> bool {
        let is_short = text.split_whitespace().count() < PROSE;
        let without_count = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ');
        let is_said = || depth > 0 && [text, without_count].iter().any(|text| self.say_within(text, depth - 1));
        let ends = || text.match_indices([';', ':', ',', '(']);
        is_short
            || is_said()
            || ends().any(|(at, _)| {
                let (first, rest) = (&text[..at], &text[at + 1..]);
                self.is_filled_by(first, depth) && self.is_filled_by(rest, depth)
            })
    }
}

/// A text without what joins it to others.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', ';', ':', ','])
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
