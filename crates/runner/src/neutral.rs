//! Foreign text made harmless before it is shown.

/// How many characters of a foreign text are shown where nothing else is stated.
pub const MAX_TEXT: usize = 128;

/// One harmless line of plain text, for terminals, logs and annotations: no controls, no characters that reorder or
/// hide text, no sequence that a runner reads as a workflow command; at most `max` characters of the text.
// DB-9-14, DB-B-13
#[must_use]
pub fn plain(text: &str, max: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(max.saturating_mul(4)));
    let mut previous = ' ';
    for character in shorten(text, max) {
        // `::` starts a workflow command and `##[` its older form.
        if (character == ':' && previous == ':') || (character == '[' && previous == '#') {
            shown.push(' ');
        }
        shown.push(character);
        previous = character;
    }
    shown
}

/// One harmless line for Markdown: what [`plain`] does, and every mark that Markdown or HTML could read as its own is
/// escaped, so that the text renders as itself; at most `max` characters of the text.
#[must_use]
pub fn neutralise(text: &str, max: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(max.saturating_mul(4)));
    for character in shorten(text, max) {
        match character {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '@' => shown.push_str("&#64;"),
            // CommonMark: a backslash before any ASCII punctuation makes it a plain character.
            mark if mark.is_ascii_punctuation() => shown.extend(['\\', mark]),
            other => shown.push(other),
        }
    }
    shown
}

/// JSON text with every character that hides or reorders text written as an escape: it means the same, and a terminal
/// shows what is there. Line feeds, which only stand between tokens, are kept; `##[` loses its meaning to a runner.
// DB-9-14
#[must_use]
pub fn visible_json(text: &str) -> std::borrow::Cow<'_, str> {
    if text.is_ascii() && !text.contains("##[") && !text.contains('\u{7f}') {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let starts_a_command = character == '[' && text.get(..at).is_some_and(|before| before.ends_with("##"));
        if (hides(character) && character != '\n') || starts_a_command {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

fn shorten(text: &str, max: usize) -> impl Iterator<Item = char> {
    let cut = text.chars().nth(max).is_some();
    text.chars().take(max).map(|c| if hides(c) { '\u{fffd}' } else { c }).chain(cut.then_some('…'))
}

/// Whether a character is invisible or changes how its neighbours are shown.
fn hides(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // DB-9-14, DB-B-13
    #[test]
    fn plain_text_cannot_start_a_command_move_the_cursor_or_reorder_text() {
        assert_eq!(plain("::error::x", 64), ": :error: :x");
        assert_eq!(plain(":::", 64), ": : :");
        assert_eq!(plain("##[error]x", 64), "## [error]x");
        assert_eq!(plain("a\r\nb\u{1b}[31m", 64), "a\u{fffd}\u{fffd}b\u{fffd}[31m");
        assert_eq!(plain("a\u{202e}b\u{200b}c\u{feff}\u{e0041}", 64), "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}");
        assert_eq!(plain("größe 漢字", 64), "größe 漢字");
    }

    // DB-B-13
    #[test]
    fn markdown_and_html_render_as_themselves() {
        assert_eq!(neutralise("<img src=x>", 64), "&lt;img src\\=x&gt;");
        assert_eq!(neutralise("[a](https://b)", 64), "\\[a\\]\\(https\\:\\/\\/b\\)");
        assert_eq!(neutralise("@team `x` | **y**", 64), "&#64;team \\`x\\` \\| \\*\\*y\\*\\*");
        assert!(!neutralise("::warning::", 64).contains("::"));
    }

    #[test]
    fn long_text_is_cut_at_characters_not_bytes() {
        assert_eq!(plain("äöü", 3), "äöü");
        assert_eq!(plain("äöüß", 3), "äöü…");
        assert_eq!(plain(&"x".repeat(500), MAX_TEXT).chars().count(), MAX_TEXT + 1);
    }
}
