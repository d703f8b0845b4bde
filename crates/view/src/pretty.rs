//! Payloads as text for people: indented without a change of order, spelling or meaning, and nothing in them is active.

use daybook_runner::{plain, visible_json};

const INDENT: &str = "  ";

/// The canonical text of a payload over several lines, each behind `margin`, at most `max` of them; the last one then
/// says how many are missing. Works for text that no string can hold, too: nothing is decoded.
#[must_use]
pub fn indented(canonical: &str, margin: &str, max: usize) -> String {
    let broken = broken(canonical);
    let visible = visible_json(&broken);
    let total = visible.split('\n').count();
    let mut text = String::new();
    for line in visible.split('\n').take(max) {
        text.push_str(margin);
        text.push_str(line);
        text.push('\n');
    }
    if total > max {
        text.push_str(&format!("{margin}… {} more lines\n", total - max));
    }
    text
}

/// The beginning of a payload in one line.
#[must_use]
pub fn excerpt(canonical: &str, max: usize) -> String {
    let end = canonical.char_indices().nth(max.saturating_mul(2)).map_or(canonical.len(), |(at, _)| at);
    let (start, cut) = (canonical.get(..end).unwrap_or_default(), end < canonical.len());
    let visible = visible_json(start);
    let text = plain(&visible, max);
    if cut && !text.ends_with('…') { text + "…" } else { text }
}

/// Puts line feeds and indentation between the tokens of canonical text.
fn broken(canonical: &str) -> String {
    let mut text = String::with_capacity(canonical.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut letters = canonical.chars().peekable();
    while let Some(letter) = letters.next() {
        if in_string {
            text.push(letter);
            match letter {
                '\\' => text.extend(letters.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        if matches!(letter, '}' | ']') {
            depth = depth.saturating_sub(1);
            new_line(&mut text, depth);
        }
        text.push(letter);
        match letter {
            '"' => in_string = true,
            '{' | '[' => match letters.next_if(|next| matches!(next, '}' | ']')) {
                Some(close) => text.push(close),
                None => {
                    depth += 1;
                    new_line(&mut text, depth);
                }
            },
            ',' => new_line(&mut text, depth),
            ':' => text.push(' '),
            _ => {}
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    for _ in 0..depth {
        text.push_str(INDENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_stay_and_lines_are_bounded() {
        let canonical = r#"{"2":[],"10":{},"a":[1,{"b":"x,{\"y\":[1]}"}],"c":null}"#;
        let expected = "{\n  \"2\": [],\n  \"10\": {},\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"y\\\":[1]}\"\n    }\n  ],\n  \"c\": null\n}";
        assert_eq!(broken(canonical), expected);
        assert_eq!(indented(canonical, "> ", 2), "> {\n>   \"2\": [],\n> … 9 more lines\n");
        for scalar in ["null", "\"a\"", "[]", "{}", "-1e+21"] {
            assert_eq!(broken(scalar), scalar);
        }
        assert_eq!(broken("[[[1]]]"), "[\n  [\n    [\n      1\n    ]\n  ]\n]");
    }

    // DB-9-14
    #[test]
    fn what_hides_or_commands_is_shown_as_an_escape() {
        let canonical = "{\"a\":\"x\u{202e}y\u{9b}31m\",\"b\":\"##[error]z\",\"c\":\"\\ud800\"}";
        let text = indented(canonical, "", 9);
        assert!(text.contains(r#""x\u202ey\u009b31m""#), "{text}");
        assert!(text.contains(r###""##\u005berror]z""###) && text.contains(r#""\ud800""#), "{text}");
        assert_eq!(excerpt(canonical, 14), r#"{"a":"x\u202ey…"#);
        assert_eq!(excerpt("{\"a\":\"::error::\"}", 99), "{\"a\":\": :error: :\"}");
    }
}
