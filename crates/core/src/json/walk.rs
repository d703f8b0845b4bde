//! The one-pass check that bytes are canonical JSON: nothing is built, nothing is printed again.
//!
//! Each function takes the input from its front and returns what follows, or `None` where the input is not canonical.
//! The caller has checked that the input is UTF-8.

use std::cmp::Ordering;

use super::text::compare_keys;
use super::{MAX_DEPTH, number};

/// Splits one canonical value at `depth` off the front.
pub(crate) fn value(input: &[u8], depth: usize) -> Option<&[u8]> {
    if depth > MAX_DEPTH {
        return None;
    }
    match input {
        [b'"', rest @ ..] => string(rest),
        [b'{', b'}', rest @ ..]
        | [b'[', b']', rest @ ..]
        | [b't', b'r', b'u', b'e', rest @ ..]
        | [b'n', b'u', b'l', b'l', rest @ ..]
        | [b'f', b'a', b'l', b's', b'e', rest @ ..] => Some(rest),
        [b'{', rest @ ..] => object(rest, depth),
        [b'[', rest @ ..] => array(rest, depth),
        _ => number::take_canonical(input),
    }
}

/// Splits the contents of a string and its closing quote off the front.
pub(crate) fn string(mut input: &[u8]) -> Option<&[u8]> {
    loop {
        match plain_run(input) {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', rest @ ..] => input = escape(rest)?,
            _ => return None,
        }
    }
}

/// Skips bytes that stand for themselves inside a string.
fn plain_run(mut input: &[u8]) -> &[u8] {
    while let Some((chunk, rest)) = input.split_first_chunk::<8>() {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            let run = usize::try_from(special.trailing_zeros() / 8).unwrap_or(0);
            return input.get(run..).unwrap_or_default();
        }
        input = rest;
    }
    let run = input.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count();
    input.get(run..).unwrap_or_default()
}

/// Marks, in the top bit of each of eight bytes, quotes, backslashes and controls. Marks above the lowest may be false.
const fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let quote = word ^ (ONES * 0x22);
    let backslash = word ^ (ONES * 0x5c);
    let zero_quote = quote.wrapping_sub(ONES) & !quote;
    let zero_backslash = backslash.wrapping_sub(ONES) & !backslash;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero_quote | zero_backslash | control) & TOPS
}

/// Splits what follows a backslash off the front: the short escapes, `\u00xx` for the other controls, and surrogates
/// that stand alone (a pair would be written as the character itself).
fn escape(input: &[u8]) -> Option<&[u8]> {
    match input {
        [b'"' | b'\\' | b'b' | b't' | b'n' | b'f' | b'r', rest @ ..] => Some(rest),
        [b'u', b'0', b'0', high @ (b'0' | b'1'), low @ (b'0'..=b'9' | b'a'..=b'f'), rest @ ..] => {
            let has_short_form = matches!((high, low), (b'0', b'8' | b'9' | b'a' | b'c' | b'd'));
            (!has_short_form).then_some(rest)
        }
        [b'u', b'd', b'8'..=b'9' | b'a'..=b'b', second, third, rest @ ..] => {
            let pair = matches!(rest, [b'\\', b'u', b'd', b'c'..=b'f', ..]);
            (is_lower_hex(*second) && is_lower_hex(*third) && !pair).then_some(rest)
        }
        [b'u', b'd', b'c'..=b'f', second, third, rest @ ..] => {
            (is_lower_hex(*second) && is_lower_hex(*third)).then_some(rest)
        }
        _ => None,
    }
}

const fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn array(mut input: &[u8], depth: usize) -> Option<&[u8]> {
    loop {
        match value(input, depth + 1)? {
            [b',', rest @ ..] => input = rest,
            [b']', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

fn object(mut input: &[u8], depth: usize) -> Option<&[u8]> {
    let mut previous: Option<&[u8]> = None;
    loop {
        let key_start = input.strip_prefix(b"\"")?;
        let after_key = string(key_start)?;
        let key = key_start.get(..key_start.len() - after_key.len() - 1)?;
        if previous.is_some_and(|previous| compare_keys(previous, key) != Ordering::Less) {
            return None;
        }
        previous = Some(key);
        match value(after_key.strip_prefix(b":")?, depth + 1)? {
            [b',', rest @ ..] => input = rest,
            [b'}', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}
