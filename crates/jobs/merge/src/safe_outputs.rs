//! The safe-output file: lines of the agent, and lines that only this step may write.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::log::Claim;

/// The file after the merge, and what became of its lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    pub(crate) text: Vec<u8>,
    /// Lines that stayed.
    pub(crate) kept: u64,
    /// Lines taken out because they pass for ours.
    pub(crate) taken_out: u64,
    /// Lines that stayed although they are not text.
    pub(crate) not_utf8: u64,
}

/// Takes out every line that passes for an audit entry, keeps the others byte for byte, and adds one line for each
/// claim. A last line without a newline gets one, so that it is not glued to ours.
// DB-5.2-16, DB-9-11
pub(crate) fn merge(old: &[u8], claims: &[Claim]) -> Merged {
    let mut merged = Merged::default();
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        if passes_for_ours(text.trim()) {
            merged.taken_out += 1;
            continue;
        }
        merged.kept += 1;
        merged.not_utf8 += u64::from(matches!(text, Cow::Owned(_)));
        merged.text.extend_from_slice(line);
        if line.last() != Some(&b'\n') {
            merged.text.push(b'\n');
        }
    }
    for claim in claims {
        merged.text.extend_from_slice(claim.event.to_line().as_bytes());
        merged.text.push(b'\n');
    }
    merged
}

/// Whether any reader could take the line for an audit entry: one that keeps the first of two equal keys or the last,
/// one that treats `-` and `_` alike, or one that repairs what is not quite JSON.
fn passes_for_ours(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}');
    match serde_json::from_str(line) {
        Ok(AuditType(found)) => found,
        Err(_) => normal(line).contains(OURS),
    }
}

const OURS: &str = "ledger_mutation";

fn normal(text: &str) -> String {
    text.trim().to_ascii_lowercase().replace('-', "_")
}

/// Whether a JSON value is an object with a member `type` that names an audit entry.
struct AuditType(bool);

impl<'de> Deserialize<'de> for AuditType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Members).map(Self)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if normal(&key) == "type" {
                let value: serde_json::Value = map.next_value()?;
                found |= value.as_str().is_some_and(|value| normal(value) == OURS);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_stay_byte_for_byte_and_the_last_one_is_closed() {
        let old = b"{\"type\":\"noop\"}\r\n\n  {\"body\":\"ledger_mutation\",\"type\":\"add_comment\"}\n\xff\xfe\n[1,\"ledger_mutation\"]\nlast";
        let merged = merge(old, &[]);
        assert_eq!(merged.text, [old.as_slice(), b"\n"].concat());
        assert_eq!((merged.kept, merged.taken_out, merged.not_utf8), (6, 0, 1));
        assert_eq!(merge(&merged.text, &[]).text, merged.text);
        assert_eq!(merge(b"", &[]).text, b"");
    }

    #[test]
    fn whatever_some_reader_could_take_for_ours_goes() {
        for line in [
            r#"{"type":"ledger_mutation"}"#,
            r#" {"type" : "ledger\u005fmutation", "x": [{}]} "#,
            r#"{"type":"ledger-mutation"}"#,
            r#"{"type":"Ledger_Mutation "}"#,
            r#"{"type":"noop","type":"ledger_mutation"}"#,
            r#"{"type":"ledger_mutation","type":"noop"}"#,
            "\u{feff}{\"type\":\"ledger_mutation\"}",
            r#"{"type":"ledger_mutation""#,
            r"{type: 'ledger_mutation'}",
            r#"{"type":"noop"}{"type":"ledger_mutation"}"#,
        ] {
            assert_eq!(merge(line.as_bytes(), &[]).taken_out, 1, "{line}");
        }
    }
}
