//! The terms of a condition.

/// Splits a condition at `&&` outside of parentheses and quotes. With `||` at that level it is one term.
pub(crate) fn terms(condition: &str) -> Vec<String> {
    let text = condition.trim();
    let text = text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(text);
    let (mut depth, mut quoted, mut start) = (0_i64, false, 0);
    let mut terms = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\'' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => depth -= 1,
            b'|' if !quoted && depth == 0 => return vec![text.trim().to_owned()],
            b'&' if !quoted && depth == 0 && bytes.get(at + 1) == Some(&b'&') => {
                terms.extend(text.get(start..at).map(|term| term.trim().to_owned()));
                at += 1;
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    terms.extend(text.get(start..).map(|term| term.trim().to_owned()));
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terms_that_must_all_hold_are_split() {
        assert_eq!(terms("${{ a && (b || c) && d == '&& x' }}"), ["a", "(b || c)", "d == '&& x'"]);
        assert_eq!(terms("a && b || c"), ["a && b || c"]);
        assert_eq!(terms("(a && b) && c"), ["(a && b)", "c"]);
    }
}
