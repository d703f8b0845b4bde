//! The one function that quotes.

/// How a text stands in YAML.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Quoted {
    /// On one line, as it is printed.
    Line(String),
    /// As a literal block: the indicator, and the lines.
    Block(&'static str, Vec<String>),
}

/// Words that some reader of YAML takes for something else than a text.
const WORDS: &[&str] = &["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];

/// Quotes a text so that every reader of YAML, of version 1.1 and 1.2, reads the same text.
pub(crate) fn quote(text: &str) -> Quoted {
    if is_plain(text) {
        return Quoted::Line(text.to_owned());
    }
    if text.contains('\n') && is_block(text) {
        let body = text.trim_end_matches('\n');
        let indicator = match text.len() - body.len() {
            0 => "|-",
            1 => "|",
            _ => "|+",
        };
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        if indicator != "|-" {
            lines.pop();
        }
        return Quoted::Block(indicator, lines);
    }
    if text.chars().all(is_printable) {
        return Quoted::Line(format!("'{}'", text.replace('\'', "''")));
    }
    Quoted::Line(double(text))
}

fn is_plain(text: &str) -> bool {
    let starts = text.starts_with("${{") || text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/');
    starts
        && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// A literal block keeps every line as it is, if the first one does not start with a blank.
fn is_block(text: &str) -> bool {
    !text.starts_with([' ', '\n', '\t'])
        && text.split('\n').all(|line| line.chars().all(|c| c == '\t' || is_printable(c)))
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn double(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if is_printable(c) => quoted.push(c),
            c if u32::from(c) < 0x1_0000 => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}
