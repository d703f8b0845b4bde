//! String contents in their canonical spelling, and the order of keys.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Contents of a JSON string as canonical JSON spells them between the quotes.
///
/// Keeping the spelling makes lone surrogates, which no Rust string can hold, ordinary: they are escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(Box<str>);

impl Text {
    /// The canonical spelling of a Rust string.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut spelling = String::with_capacity(text.len());
        for character in text.chars() {
            push_canonical(character, &mut spelling);
        }
        Self::from_canonical(spelling)
    }

    pub(super) fn from_canonical(spelling: String) -> Self {
        Self(spelling.into())
    }

    /// The canonical spelling, without quotes.
    #[must_use]
    pub fn spelling(&self) -> &str {
        &self.0
    }

    /// The text itself; `None` where it holds a lone surrogate.
    #[must_use]
    pub fn to_str(&self) -> Option<Cow<'_, str>> {
        decode(&self.0)
    }

    /// Length in UTF-16 units, the measure of §2's bounds.
    #[must_use]
    pub fn utf16_len(&self) -> usize {
        units(self.0.as_bytes()).count()
    }
}

/// Order of object keys: array indices first, by number, then the others by UTF-16 units.
impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_keys(self.0.as_bytes(), other.0.as_bytes())
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Appends one character in its canonical spelling.
pub(super) fn push_canonical(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '\0'..='\u{1f}' => push_unit_escape(u32::from(character), out),
        _ => out.push(character),
    }
}

/// Appends `\uXXXX` in lower case.
pub(super) fn push_unit_escape(unit: u32, out: &mut String) {
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.push(char::from_digit((unit >> shift) & 0xf, 16).unwrap_or('0'));
    }
}

/// Order of two keys in canonical spelling.
pub(super) fn compare_keys(left: &[u8], right: &[u8]) -> Ordering {
    match (array_index(left), array_index(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) if is_plain(left) && is_plain(right) => left.cmp(right),
        (None, None) => units(left).cmp(units(right)),
    }
}

/// The number of a key that ECMAScript orders first: decimal 0 to 4294967294 without leading zero or sign.
fn array_index(key: &[u8]) -> Option<u32> {
    match key {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] if key.len() <= 10 => {
            std::str::from_utf8(key).ok()?.parse().ok().filter(|&index| index < u32::MAX)
        }
        _ => None,
    }
}

/// Bytes order such keys as UTF-16 units do.
fn is_plain(key: &[u8]) -> bool {
    key.iter().all(|&byte| byte < 0x80 && byte != b'\\')
}

/// The text behind a canonical spelling; `None` where it holds a lone surrogate.
pub(crate) fn decode(spelling: &str) -> Option<Cow<'_, str>> {
    if !spelling.contains('\\') {
        return Some(Cow::Borrowed(spelling));
    }
    char::decode_utf16(units(spelling.as_bytes())).collect::<Result<String, _>>().ok().map(Cow::Owned)
}

/// UTF-16 units of a canonical spelling. Text that is not one yields some units, never a failure.
pub(crate) fn units(spelling: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let text = std::str::from_utf8(spelling).unwrap_or_default();
    let mut characters = text.chars();
    let mut low = None;
    std::iter::from_fn(move || {
        if let Some(unit) = low.take() {
            return Some(unit);
        }
        let character = match characters.next()? {
            '\\' => match characters.next()? {
                'b' => '\u{8}',
                't' => '\t',
                'n' => '\n',
                'f' => '\u{c}',
                'r' => '\r',
                'u' => {
                    return characters
                        .by_ref()
                        .take(4)
                        .map(|digit| digit.to_digit(16).and_then(|digit| u16::try_from(digit).ok()).unwrap_or(0))
                        .reduce(|unit, digit| (unit << 4) | digit);
                }
                escaped => escaped,
            },
            character => character,
        };
        match character.encode_utf16(&mut [0; 2]) {
            [high, second] => {
                low = Some(*second);
                Some(*high)
            }
            [unit] => Some(*unit),
            _ => None,
        }
    })
}
