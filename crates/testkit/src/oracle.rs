//! The slow, obvious check of a stored line: read it as ECMAScript does, print it again, compare.
//!
//! It shares nothing with the check it judges: strings are UTF-16 units, objects are lists, the text is built anew.

use daybook_core::{CheckedLine, LineFault, Record};
use sha2::{Digest as _, Sha256};

/// What [`check`] says of a line, in the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A record.
    Accepted,
    /// Not UTF-8.
    NotUtf8,
    /// Not JSON.
    InvalidJson,
    /// Another version.
    UnsupportedVersion,
    /// Not the shape of a record.
    Shape,
    /// Another digest than claimed.
    InvalidSha,
    /// Not canonical.
    NotCanonical,
}

/// What the check under test says of a line.
///
/// # Panics
/// Where a record that was accepted does not keep the bytes that were checked.
#[must_use]
pub fn verdict(line: &[u8]) -> Verdict {
    match CheckedLine::check(line) {
        Ok(checked) => {
            let record = Record::from_checked(&checked);
            assert_eq!(record.line(), line);
            assert_eq!(record.payload_text().as_bytes(), checked.payload());
            Verdict::Accepted
        }
        Err(LineFault::NotUtf8) => Verdict::NotUtf8,
        Err(LineFault::InvalidJson) => Verdict::InvalidJson,
        Err(LineFault::UnsupportedVersion) => Verdict::UnsupportedVersion,
        Err(LineFault::Shape) => Verdict::Shape,
        Err(LineFault::InvalidSha) => Verdict::InvalidSha,
        Err(LineFault::NotCanonical) => Verdict::NotCanonical,
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Js {
    Null,
    Bool(bool),
    Number(f64),
    String(Vec<u16>),
    Array(Vec<Js>),
    Object(Vec<(Vec<u16>, Js)>),
}

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 32;

/// Checks a line without its newline.
#[must_use]
pub fn check(line: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(line) else { return Verdict::NotUtf8 };
    let mut reader = Reader { units: text.encode_utf16().collect(), at: 0, too_deep: false };
    let parsed = reader.document();
    if reader.too_deep {
        return Verdict::Shape;
    }
    let Some(value) = parsed else { return Verdict::InvalidJson };
    let Js::Object(members) = &value else { return Verdict::Shape };
    let member =
        |name: &str| members.iter().find(|(key, _)| String::from_utf16_lossy(key) == name).map(|(_, value)| value);
    match member("version") {
        Some(Js::Number(number)) if *number == 1.0 => {}
        Some(_) => return Verdict::UnsupportedVersion,
        None => return Verdict::Shape,
    }
    let names = ["id", "parents", "payload", "sha", "timestamp", "type", "version"];
    if members.len() != names.len() || names.iter().any(|name| member(name).is_none()) || !finite(&value) {
        return Verdict::Shape;
    }
    let text_of = |name: &str| match member(name) {
        Some(Js::String(units)) => String::from_utf16(units).ok(),
        _ => None,
    };
    let (Some(id), Some(sha), Some(time), Some(kind)) =
        (text_of("id"), text_of("sha"), text_of("timestamp"), text_of("type"))
    else {
        return Verdict::Shape;
    };
    let Some(Js::Array(parents)) = member("parents") else { return Verdict::Shape };
    let parents: Option<Vec<String>> = parents
        .iter()
        .map(|parent| match parent {
            Js::String(units) => String::from_utf16(units).ok().filter(|text| is_digest(text)),
            _ => None,
        })
        .collect();
    let Some(parents) = parents else { return Verdict::Shape };
    let ascending = parents.windows(2).all(|pair| pair[0] < pair[1]);
    let units = kind.encode_utf16().count();
    if !is_id(&id)
        || !is_digest(&sha)
        || !is_instant(&time)
        || !(1..=128).contains(&units)
        || parents.len() > 64
        || !ascending
    {
        return Verdict::Shape;
    }
    let without_sha: Vec<_> =
        members.iter().filter(|(key, _)| String::from_utf16_lossy(key) != "sha").cloned().collect();
    let digest: String =
        Sha256::digest(print(&Js::Object(without_sha))).iter().map(|byte| format!("{byte:02x}")).collect();
    if sha != format!("sha256:{digest}") {
        return Verdict::InvalidSha;
    }
    if print(&value).as_bytes() == line { Verdict::Accepted } else { Verdict::NotCanonical }
}

fn finite(value: &Js) -> bool {
    match value {
        Js::Number(number) => number.is_finite(),
        Js::Array(items) => items.iter().all(finite),
        Js::Object(members) => members.iter().all(|(_, value)| finite(value)),
        _ => true,
    }
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')))
}

fn is_id(text: &str) -> bool {
    let uuid = text.strip_prefix("ldg-").unwrap_or(text);
    uuid.chars().count() == 36
        && uuid.chars().enumerate().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            14 => c == '4',
            19 => matches!(c, '8' | '9' | 'a' | 'b'),
            _ => matches!(c, '0'..='9' | 'a'..='f'),
        })
}

fn is_instant(text: &str) -> bool {
    let shape = "dddd-dd-ddTdd:dd:dd.dddZ";
    if text.len() != shape.len()
        || !text.chars().zip(shape.chars()).all(|(c, s)| if s == 'd' { c.is_ascii_digit() } else { c == s })
    {
        return false;
    }
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap_or(u32::MAX);
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day) && number(11..13) < 24 && number(14..16) < 60 && number(17..19) < 60
}

fn array_index(key: &[u16]) -> Option<u64> {
    let text = String::from_utf16(key).ok()?;
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text && number < 4_294_967_295).then_some(number)
}

fn print(value: &Js) -> String {
    match value {
        Js::Null => "null".to_owned(),
        Js::Bool(value) => value.to_string(),
        Js::Number(number) => ecmascript_number(*number),
        Js::String(units) => quote(units),
        Js::Array(items) => format!("[{}]", items.iter().map(print).collect::<Vec<_>>().join(",")),
        Js::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(left, _), (right, _)| match (array_index(left), array_index(right)) {
                (Some(left), Some(right)) => left.cmp(&right),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => left.cmp(right),
            });
            let members: Vec<_> =
                members.into_iter().map(|(key, value)| format!("{}:{}", quote(key), print(value))).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn quote(units: &[u16]) -> String {
    let mut out = String::from("\"");
    for character in char::decode_utf16(units.iter().copied()) {
        match character {
            Ok('"') => out.push_str("\\\""),
            Ok('\\') => out.push_str("\\\\"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\t') => out.push_str("\\t"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok('\r') => out.push_str("\\r"),
            Ok(c) if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            Ok(c) => out.push(c),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    out.push('"');
    out
}

/// `Number.prototype.toString` from the digits and exponent that Rust's shortest form gives.
fn ecmascript_number(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let shortest = format!("{:e}", number.abs());
    // Of several shortest spellings ECMAScript takes the nearest, and of two as near the even one: what rounding the
    // exact value to that many digits gives.
    let precision = shortest.split('e').next().map_or(0, |mantissa| mantissa.len().saturating_sub(2));
    let nearest = format!("{:.precision$e}", number.abs());
    let scientific = if nearest.parse() == Ok(number.abs()) { nearest } else { shortest };
    let (mantissa, exponent) = scientific.split_once('e').expect("an exponent");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let k = i32::try_from(digits.len()).expect("few digits");
    let n = exponent.parse::<i32>().expect("a number") + 1;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let text = if k <= n && n <= 21 {
        format!("{digits}{}", zeros(n - k))
    } else if 0 < n && n <= 21 {
        let (whole, fraction) = digits.split_at(usize::try_from(n).expect("positive"));
        format!("{whole}.{fraction}")
    } else if -6 < n && n <= 0 {
        format!("0.{}{digits}", zeros(-n))
    } else {
        let exponent = n - 1;
        let exponent = if exponent < 0 { format!("e-{}", -exponent) } else { format!("e+{exponent}") };
        let (first, rest) = digits.split_at(1);
        if rest.is_empty() { format!("{first}{exponent}") } else { format!("{first}.{rest}{exponent}") }
    };
    format!("{sign}{text}")
}

struct Reader {
    units: Vec<u16>,
    at: usize,
    too_deep: bool,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.units.get(self.at).and_then(|unit| char::from_u32(u32::from(*unit)))
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        word.chars()
            .all(|c| {
                let found = self.peek() == Some(c);
                self.at += 1;
                found
            })
            .then_some(())
    }

    fn document(&mut self) -> Option<Js> {
        let value = self.value(0)?;
        self.space();
        (self.at == self.units.len()).then_some(value)
    }

    fn value(&mut self, depth: usize) -> Option<Js> {
        self.space();
        self.units.get(self.at)?;
        if depth > MAX_DEPTH {
            self.too_deep = true;
            return None;
        }
        match self.peek()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' => self.string().map(Js::String),
            'n' => self.word("null").map(|()| Js::Null),
            't' => self.word("true").map(|()| Js::Bool(true)),
            'f' => self.word("false").map(|()| Js::Bool(false)),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<Js> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek()? == ']' {
            self.at += 1;
            return Some(Js::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            let next = self.peek()?;
            self.at += 1;
            match next {
                ',' => {}
                ']' => return Some(Js::Array(items)),
                _ => return None,
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Js> {
        self.at += 1;
        let mut members: Vec<(Vec<u16>, Js)> = Vec::new();
        self.space();
        if self.peek()? == '}' {
            self.at += 1;
            return Some(Js::Object(members));
        }
        loop {
            self.space();
            if self.peek()? != '"' {
                return None;
            }
            let key = self.string()?;
            self.space();
            self.word(":")?;
            let value = self.value(depth + 1)?;
            members.retain(|(known, _)| *known != key);
            members.push((key, value));
            self.space();
            let next = self.peek()?;
            self.at += 1;
            match next {
                ',' => {}
                '}' => return Some(Js::Object(members)),
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<Js> {
        let start = self.at;
        while matches!(self.peek(), Some('0'..='9' | '-' | '+' | '.' | 'e' | 'E')) {
            self.at += 1;
        }
        let text = String::from_utf16(&self.units[start..self.at]).ok()?;
        let body = text.strip_prefix('-').unwrap_or(&text);
        let (mantissa, exponent) = match body.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (body, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        let exponent_ok = exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
        let whole_ok = digits(whole) && (whole == "0" || !whole.starts_with('0'));
        (whole_ok && fraction.is_none_or(digits) && exponent_ok).then(|| text.parse().ok().map(Js::Number))?
    }

    fn string(&mut self) -> Option<Vec<u16>> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let unit = *self.units.get(self.at)?;
            self.at += 1;
            match char::from_u32(u32::from(unit)) {
                Some('"') => return Some(out),
                Some('\\') => {
                    let escape = self.peek()?;
                    self.at += 1;
                    out.push(match escape {
                        '"' | '\\' | '/' => u16::try_from(u32::from(escape)).ok()?,
                        'b' => 8,
                        't' => 9,
                        'n' => 10,
                        'f' => 12,
                        'r' => 13,
                        'u' => {
                            let hex = self.units.get(self.at..self.at + 4)?;
                            self.at += 4;
                            let hex = String::from_utf16(hex).ok()?;
                            if !hex.chars().all(|c| c.is_ascii_hexdigit()) {
                                return None;
                            }
                            u16::from_str_radix(&hex, 16).ok()?
                        }
                        _ => return None,
                    });
                }
                Some(c) if c < ' ' => return None,
                _ => out.push(unit),
            }
        }
    }
}
