//! Numbers: IEEE-754 doubles in the ECMAScript shortest spelling.

/// Longest spelling that `Number.prototype.toString` produces, with room to spare.
const LONGEST: usize = 32;

/// Appends the canonical spelling of a finite number.
pub(super) fn write(number: f64, out: &mut String) {
    out.push_str(ryu_js::Buffer::new().format_finite(number));
}

/// Splits a canonically spelled number off the front; `None` where there is none.
pub(super) fn take_canonical(input: &[u8]) -> Option<&[u8]> {
    let digits = input.strip_prefix(b"-").unwrap_or(input);
    let run = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = digits.get(run..)?;
    let plain = !matches!(rest.first(), Some(b'.' | b'e' | b'E' | b'+' | b'-'));
    // Up to 15 digits every integer is a double and its own shortest spelling.
    if plain && (1..=15).contains(&run) {
        let leading_zero = digits.first() == Some(&b'0');
        let negative = digits.len() != input.len();
        return (!leading_zero || (run == 1 && !negative)).then_some(rest);
    }
    let length = input.iter().take_while(|byte| is_number_byte(**byte)).count();
    if length > LONGEST {
        return None;
    }
    let (spelling, rest) = input.split_at_checked(length)?;
    let spelling = std::str::from_utf8(spelling).ok()?;
    let number = spelling.parse::<f64>().ok().filter(|number| number.is_finite())?;
    (ryu_js::Buffer::new().format_finite(number) == spelling).then_some(rest)
}

/// Splits a number by the JSON grammar off the front and returns its spelling.
pub(super) fn take_json(input: &[u8]) -> Option<(&str, &[u8])> {
    let mut rest = input.strip_prefix(b"-").unwrap_or(input);
    rest = match rest {
        [b'0', tail @ ..] => tail,
        [b'1'..=b'9', ..] => skip_digits(rest),
        _ => return None,
    };
    if let [b'.', tail @ ..] = rest {
        rest = some_digits(tail)?;
    }
    if let [b'e' | b'E', tail @ ..] = rest {
        rest = some_digits(tail.strip_prefix(b"+").or(tail.strip_prefix(b"-")).unwrap_or(tail))?;
    }
    let (spelling, _) = input.split_at_checked(input.len() - rest.len())?;
    Some((std::str::from_utf8(spelling).ok()?, rest))
}

/// Whether the double nearest to an integer spelling stands for exactly what was written: it equals the integer, or
/// the spelling is the one by which the double itself is printed.
pub(super) fn integer_is_kept(spelling: &str, number: f64) -> bool {
    // An integer below 2^53 is kept; `{:.0}` prints every digit of a larger one.
    spelling.len() <= 15
        || format!("{number:.0}") == spelling
        || ryu_js::Buffer::new().format_finite(number) == spelling
}

/// Whether a number is spelled as an integer: no fraction, no exponent.
pub(super) fn is_integer_spelling(spelling: &str) -> bool {
    spelling.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

fn skip_digits(input: &[u8]) -> &[u8] {
    let run = input.iter().take_while(|byte| byte.is_ascii_digit()).count();
    input.get(run..).unwrap_or_default()
}

fn some_digits(input: &[u8]) -> Option<&[u8]> {
    let rest = skip_digits(input);
    (rest.len() < input.len()).then_some(rest)
}
