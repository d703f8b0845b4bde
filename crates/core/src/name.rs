//! Names of ledgers and memories (FORMATS §6).

/// Longest name in bytes.
pub const MAX_LEN: usize = 64;

/// Whether `text` is a name: a letter or digit, then letters, digits, `_` and `-`, at most 64 in all.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.len() <= MAX_LEN
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
