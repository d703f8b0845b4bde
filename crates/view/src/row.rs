//! One record as a row: as JSON, as a paragraph, as a line.

use daybook_core::shard::Location;
use daybook_core::{Digest, Record};
use daybook_runner::{MAX_TEXT, plain};
use serde_json::{Value, json};

use crate::age;
use crate::pretty::{excerpt, indented};
use crate::style::{Paint, Style};

/// Most lines of a payload in a list of records.
const MAX_LINES: usize = 16;

/// Hexadecimal digits of a shortened digest.
const SHORT: usize = 12;

/// A record and where it lies.
#[derive(Debug, Clone)]
pub struct Row {
    /// The record.
    pub record: Record,
    /// Its place.
    pub location: Location,
}

/// A digest as people tell it: the first digits.
#[must_use]
pub fn short(sha: &Digest) -> String {
    let text = sha.to_string();
    let digits = text.rsplit(':').next().unwrap_or_default();
    digits.chars().take(SHORT).collect()
}

impl Row {
    /// The row as data. The payload is `null` where a string in it cannot be represented, and `unrepresentable` says so.
    #[must_use]
    pub fn to_json(&self, now: i64) -> Value {
        let record = &self.record;
        let payload = record.payload();
        let mut row = json!({
            "id": record.id().to_string(),
            "sha": record.sha().to_string(),
            "type": record.kind(),
            "timestamp": record.timestamp(),
            "age_seconds": age::seconds(record.timestamp(), now),
            "parents": record.parents().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "shard": self.location.shard.to_string(),
            "line": self.location.line,
        });
        if let Some(members) = row.as_object_mut() {
            if payload.is_err() {
                members.insert("unrepresentable".to_owned(), true.into());
            }
            members.insert("payload".to_owned(), payload.unwrap_or(Value::Null));
        }
        row
    }

    /// The row as a paragraph; `whole` shows the payload to its end.
    #[must_use]
    pub fn paragraph(&self, now: i64, style: &Style, whole: bool) -> String {
        let record = &self.record;
        let parents: Vec<String> = record.parents().iter().map(short).collect();
        let parents = if parents.is_empty() { "none".to_owned() } else { parents.join(", ") };
        let mut text =
            format!("{} {}\n", style.paint(Paint::Faint, "record"), style.paint(Paint::Id, &record.id().to_string()));
        let rows = [
            ("type", style.paint(Paint::Kind, &plain(record.kind(), MAX_TEXT))),
            ("age", self.age(now, style)),
            ("sha", record.sha().to_string()),
            ("parents", parents),
            ("shard", format!("{} line {}", self.location.shard, self.location.line)),
        ];
        for (name, value) in rows {
            text.push_str(&format!("{} {value}\n", style.paint(Paint::Faint, &format!("{name:<7}"))));
        }
        text.push('\n');
        text + &indented(record.payload_text(), "    ", if whole { usize::MAX } else { MAX_LINES })
    }

    /// The row as one line, within the width that the style has after `used` columns.
    #[must_use]
    pub fn line(&self, now: i64, style: &Style, used: usize) -> String {
        let record = &self.record;
        let age = self.age(now, style);
        let kind = plain(record.kind(), 24);
        let taken = used + 40 + age.chars().count().max(14) + kind.chars().count().max(12) + 6;
        let room = style.left(taken).unwrap_or(MAX_TEXT);
        format!(
            "{}  {}  {}  {}\n",
            style.paint(Paint::Id, &record.id().to_string()),
            style.paint(Paint::Faint, &format!("{age:<14}")),
            style.paint(Paint::Kind, &format!("{kind:<12}")),
            excerpt(record.payload_text(), room.saturating_sub(1)),
        )
    }

    fn age(&self, now: i64, style: &Style) -> String {
        let at = self.record.timestamp();
        if style.absolute { at.to_owned() } else { age::ago(at, now) }
    }
}
