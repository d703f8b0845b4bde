//! JSON text to tree: strict for what we write, as ECMAScript reads for what we explain.

use super::text::{Text, push_canonical, push_unit_escape};
use super::{MAX_DEPTH, Value, number};

/// A JSON text that is refused on write (FORMATS §1), or is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonFault {
    /// Not JSON.
    #[error("not JSON")]
    Syntax,
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// A value lies too deep.
    #[error("nested too deep")]
    TooDeep,
    /// An object names a key twice.
    #[error("an object has the same key twice")]
    DuplicateKey,
    /// An integer that a double cannot hold.
    #[error("an integer that a double cannot hold")]
    InexactInteger,
    /// A number beyond the largest double.
    #[error("a number beyond the range of a double")]
    Overflow,
    /// A string with half a surrogate pair.
    #[error("a string with a lone surrogate")]
    LoneSurrogate,
}

impl JsonFault {
    /// The code by which replies and reports name the fault.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Syntax => "invalid-json",
            Self::NotUtf8 => "not-utf8",
            Self::TooDeep => "too-deep",
            Self::DuplicateKey => "duplicate-key",
            Self::InexactInteger => "inexact-integer",
            Self::Overflow => "number-overflow",
            Self::LoneSurrogate => "lone-surrogate",
        }
    }
}

/// Parses a JSON text by the write rules: whatever canonical form would change is refused.
///
/// # Errors
/// The first [`JsonFault`] in the text.
pub fn parse(text: &[u8]) -> Result<Value, JsonFault> {
    parse_to_depth(text, MAX_DEPTH)
}

/// As [`parse`], for a message that carries such values some levels down.
///
/// # Errors
/// As [`parse`]; [`JsonFault::TooDeep`] beyond `depth` levels.
pub fn parse_to_depth(text: &[u8], depth: usize) -> Result<Value, JsonFault> {
    parse_with(text, Rules::Write, depth)
}

/// Parses as `JSON.parse` does: the last of two equal keys wins, integers are rounded, surrogates may stand alone, and
/// a number beyond the range of a double becomes an infinity, for which no canonical text exists.
pub(crate) fn parse_as_ecmascript(text: &[u8]) -> Result<Value, JsonFault> {
    parse_with(text, Rules::EcmaScript, MAX_DEPTH)
}

#[derive(Clone, Copy, PartialEq)]
enum Rules {
    Write,
    EcmaScript,
}

fn parse_with(text: &[u8], rules: Rules, max_depth: usize) -> Result<Value, JsonFault> {
    let text = std::str::from_utf8(text).map_err(|_| JsonFault::NotUtf8)?;
    let mut parser = Parser { rest: text.as_bytes(), rules, max_depth };
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.rest.is_empty() { Ok(value) } else { Err(JsonFault::Syntax) }
}

struct Parser<'a> {
    rest: &'a [u8],
    rules: Rules,
    max_depth: usize,
}

impl Parser<'_> {
    fn skip_space(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] = self.rest {
            self.rest = tail;
        }
    }

    /// Takes `token` after white space, if it comes next.
    fn accept(&mut self, token: &[u8]) -> bool {
        self.skip_space();
        let tail = self.rest.strip_prefix(token);
        self.rest = tail.unwrap_or(self.rest);
        tail.is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonFault> {
        self.skip_space();
        if depth > self.max_depth && !self.rest.is_empty() {
            return Err(JsonFault::TooDeep);
        }
        match self.rest.first() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.accept(b"null") => Ok(Value::Null),
            _ if self.accept(b"true") => Ok(Value::Bool(true)),
            _ if self.accept(b"false") => Ok(Value::Bool(false)),
            _ => Err(JsonFault::Syntax),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonFault> {
        let mut items = Vec::new();
        if !self.accept(b"[") {
            return Err(JsonFault::Syntax);
        }
        if self.accept(b"]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.accept(b"]") {
                return Ok(Value::Array(items));
            }
            if !self.accept(b",") {
                return Err(JsonFault::Syntax);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonFault> {
        let mut members: Vec<(Text, Value)> = Vec::new();
        if !self.accept(b"{") {
            return Err(JsonFault::Syntax);
        }
        if self.accept(b"}") {
            return Ok(Value::Object(members));
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            if !self.accept(b":") {
                return Err(JsonFault::Syntax);
            }
            members.push((key, self.value(depth + 1)?));
            if self.accept(b"}") {
                return self.in_order(members).map(Value::Object);
            }
            if !self.accept(b",") {
                return Err(JsonFault::Syntax);
            }
        }
    }

    /// Members in canonical order, each key once.
    fn in_order(&self, mut members: Vec<(Text, Value)>) -> Result<Vec<(Text, Value)>, JsonFault> {
        members.reverse();
        members.sort_by(|(left, _), (right, _)| left.cmp(right));
        let before = members.len();
        // The sort is stable and the list was reversed, so the first of equal keys is the one that came last.
        members.dedup_by(|(later, _), (kept, _)| later == kept);
        if self.rules == Rules::Write && members.len() < before {
            return Err(JsonFault::DuplicateKey);
        }
        Ok(members)
    }

    fn number(&mut self) -> Result<Value, JsonFault> {
        let (spelling, rest) = number::take_json(self.rest).ok_or(JsonFault::Syntax)?;
        let number = spelling.parse::<f64>().map_err(|_| JsonFault::Syntax)?;
        self.rest = rest;
        if self.rules == Rules::Write && !number.is_finite() {
            return Err(JsonFault::Overflow);
        }
        if self.rules == Rules::Write
            && number::is_integer_spelling(spelling)
            && !number::integer_is_kept(spelling, number)
        {
            return Err(JsonFault::InexactInteger);
        }
        Ok(Value::Number(number))
    }

    fn string(&mut self) -> Result<Text, JsonFault> {
        let mut rest = self.rest.strip_prefix(b"\"").ok_or(JsonFault::Syntax)?;
        let mut spelling = String::new();
        loop {
            let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count();
            let (text, tail) = rest.split_at_checked(plain).ok_or(JsonFault::Syntax)?;
            spelling.push_str(std::str::from_utf8(text).map_err(|_| JsonFault::NotUtf8)?);
            match tail {
                [b'"', tail @ ..] => {
                    self.rest = tail;
                    return Ok(Text::from_canonical(spelling));
                }
                [b'\\', tail @ ..] => rest = self.escape(tail, &mut spelling)?,
                _ => return Err(JsonFault::Syntax),
            }
        }
    }

    /// Reads what follows a backslash and appends its canonical spelling.
    fn escape<'b>(&self, input: &'b [u8], out: &mut String) -> Result<&'b [u8], JsonFault> {
        let (&letter, rest) = input.split_first().ok_or(JsonFault::Syntax)?;
        let character = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b't' => '\t',
            b'n' => '\n',
            b'f' => '\u{c}',
            b'r' => '\r',
            b'u' => return self.unicode_escape(rest, out),
            _ => return Err(JsonFault::Syntax),
        };
        push_canonical(character, out);
        Ok(rest)
    }

    fn unicode_escape<'b>(&self, input: &'b [u8], out: &mut String) -> Result<&'b [u8], JsonFault> {
        let (unit, rest) = take_unit(input).ok_or(JsonFault::Syntax)?;
        if let Some(character) = char::from_u32(unit) {
            push_canonical(character, out);
            return Ok(rest);
        }
        if let Some((low, tail)) = rest.strip_prefix(b"\\u").and_then(take_unit)
            && (0xd800..0xdc00).contains(&unit)
            && (0xdc00..0xe000).contains(&low)
        {
            let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            push_canonical(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), out);
            return Ok(tail);
        }
        if self.rules == Rules::Write {
            return Err(JsonFault::LoneSurrogate);
        }
        push_unit_escape(unit, out);
        Ok(rest)
    }
}

fn take_unit(input: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = input.split_at_checked(4)?;
    let unit = digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))?;
    Some((unit, rest))
}
