//! Where a filter looks: a path of member names into the payload.

use std::borrow::Cow;
use std::fmt;

use crate::json::walk;

/// Most names in a path, `payload` not counted.
pub const MAX_DEPTH: usize = 8;

/// The payload's own place in a path.
const ROOT: &str = "payload";

/// A path such as `payload.issue.labels`: one to eight names, each a letter or underscore, then letters, digits,
/// underscores and dashes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Box<str>);

impl FieldPath {
    /// Reads a path; `None` where it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let names = text.strip_prefix(ROOT)?.strip_prefix('.')?;
        let all_are_names = names.split('.').all(is_name);
        (all_are_names && names.split('.').count() <= MAX_DEPTH).then(|| Self(text.into()))
    }

    /// The path as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The canonical text of the value at this path in a payload's canonical text; `None` where there is none.
    ///
    /// An array has one member, `length`. Text that is not canonical has no members.
    #[must_use]
    pub fn find<'a>(&self, payload: &'a str) -> Option<Cow<'a, str>> {
        let mut names = self.0.split('.').skip(1).peekable();
        let mut value = payload.as_bytes();
        while let Some(name) = names.next() {
            match value.first()? {
                b'{' => value = member(value, name.as_bytes())?,
                b'[' if name == "length" && names.peek().is_none() => {
                    return Some(Cow::Owned(items(value)?.to_string()));
                }
                _ => return None,
            }
        }
        std::str::from_utf8(value).ok().map(Cow::Borrowed)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The value of a member of an object. Names have one canonical spelling, so their bytes are compared.
fn member<'a>(object: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = object.strip_prefix(b"{")?;
    loop {
        let key_start = rest.strip_prefix(b"\"")?;
        let after_key = walk::string(key_start)?;
        let key = key_start.get(..key_start.len() - after_key.len() - 1)?;
        let value = after_key.strip_prefix(b":")?;
        let after_value = walk::value(value, 0)?;
        if key == name {
            return value.get(..value.len() - after_value.len());
        }
        rest = after_value.strip_prefix(b",")?;
    }
}

/// How many items an array has.
fn items(array: &[u8]) -> Option<usize> {
    let mut rest = array.strip_prefix(b"[")?;
    if rest == b"]" {
        return Some(0);
    }
    let mut count = 1;
    loop {
        rest = walk::value(rest, 0)?;
        match rest.strip_prefix(b",") {
            Some(next) => rest = next,
            None => return Some(count),
        }
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_to_eight_names() {
        for good in ["payload.a", "payload._", "payload.a-b.c_d", "payload.a.b.c.d.e.f.g.h", "payload.payload"] {
            assert_eq!(FieldPath::parse(good).map(|path| path.to_string()).as_deref(), Some(good));
        }
        let wrong = [
            "",
            "payload",
            "payload.",
            "payload..a",
            "payload.a.",
            "payload.1",
            "payload.-a",
            "payload.a b",
            "a.b",
            "payload.é",
            "payloads.a",
            "Payload.a",
            "payload.a.b.c.d.e.f.g.h.i",
            "payload.a\n",
            "payload.a'",
        ];
        for wrong in wrong {
            assert_eq!(FieldPath::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn values_are_found_whatever_stands_before_them() {
        let payload =
            r#"{"10":{"a":0},"\u0001":"\"}","a":[1,[2,3],{"a":"]"}],"b":{"c":{"d":null}},"e":{},"f":[],"length":"x"}"#;
        let at = |path: &str| FieldPath::parse(path).unwrap().find(payload).map(Cow::into_owned);
        let cases = [
            ("payload.a", Some(r#"[1,[2,3],{"a":"]"}]"#)),
            ("payload.a.length", Some("3")),
            ("payload.f.length", Some("0")),
            ("payload.a.length.x", None),
            ("payload.a.a", None),
            ("payload.b.c.d", Some("null")),
            ("payload.b.c.d.e", None),
            ("payload.b.c", Some(r#"{"d":null}"#)),
            ("payload.e.x", None),
            ("payload.length", Some(r#""x""#)),
            ("payload.length.length", None),
            ("payload.z", None),
        ];
        for (path, expected) in cases {
            assert_eq!(at(path).as_deref(), expected, "{path}");
        }
        for scalar in [r#""text""#, "1", "null", "true"] {
            assert_eq!(FieldPath::parse("payload.length").unwrap().find(scalar), None, "{scalar}");
        }
    }
}
