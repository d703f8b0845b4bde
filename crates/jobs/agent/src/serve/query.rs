//! What a `ledger_query` call asks for, and how rows are shown (§5.2).

use daybook_core::json::Value as Json;
use daybook_core::query::Query;
use daybook_core::{Digest, Record, timestamp};
use daybook_projection::{Place, Row};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::failure::Failure;

/// A checked call.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) query: Query,
    pub(super) sequence: Sequence,
}

/// In which order, and from where on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    /// Ascending digests, after the cursor of the query.
    BySha,
    /// The latest, in the order of time.
    Latest,
    /// What came after a mark that this server gave.
    Since(Mark),
}

/// Where a reader in the order of time has got to. It means nothing to another projection than the one that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) projection: String,
    pub(super) place: Place,
}

const SEPARATOR: char = '~';

impl Mark {
    pub(super) fn to_text(&self) -> String {
        let Place { batch, timestamp, sha } = &self.place;
        [&self.projection, &batch.to_string(), timestamp, sha].map(String::as_str).join("~")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(SEPARATOR);
        let [projection, batch, instant, sha] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let at_start = instant.is_empty() && sha.is_empty();
        let sound = at_start || timestamp::is_canonical(instant.as_bytes()) && sha.parse::<Digest>().is_ok();
        if !sound || parts.next().is_some() {
            return None;
        }
        let place = Place { batch: batch.parse().ok()?, timestamp: instant.to_owned(), sha: sha.to_owned() };
        Some(Self { projection: projection.to_owned(), place })
    }
}

impl Asked {
    /// Takes the arguments of a query.
    pub(super) fn take(mut arguments: Arguments) -> Result<Self, Failure> {
        let order = arguments.optional_text("order")?;
        let since = arguments.optional_text("since")?;
        let by_time = match order.as_deref() {
            None => since.is_some(),
            Some("time") => true,
            Some("sha") => false,
            Some(_) => return Err(Failure::new("invalid-argument", "order must be sha or time")),
        };
        let members: Map<String, Value> = arguments.rest();
        let sequence = match since {
            Some(_) if !by_time => return Err(Failure::new("invalid-argument", "since belongs to order time")),
            Some(mark) => Sequence::Since(Mark::parse(&mark).ok_or_else(stale_mark)?),
            None if by_time => Sequence::Latest,
            None => Sequence::BySha,
        };
        let arguments = Json::try_from(&Value::Object(members)).map_err(Failure::json)?;
        let query = Query::parse(&arguments).map_err(Failure::query)?;
        if by_time && query.after().is_some() {
            return Err(Failure::new("invalid-argument", "after belongs to order sha; in order time use since"));
        }
        Ok(Self { query, sequence })
    }
}

/// A mark is another server's, or from before the ledger was read anew, or none at all.
pub(super) fn stale_mark() -> Failure {
    Failure::new("stale-mark", "since is not a nextSince of this server; ask again without it")
}

/// A record as results show it. A payload that no Unicode text can hold is said to be so.
pub(super) fn record(record: &Record) -> Value {
    show(
        json!({"id": record.id(), "parents": record.parents(), "sha": record.sha(), "timestamp": record.timestamp(), "type": record.kind()}),
        record.payload().ok(),
    )
}

/// The same of a row.
pub(super) fn row(row: &Row) -> Value {
    let parents: Value = serde_json::from_str(&row.parents).unwrap_or_default();
    show(
        json!({"id": row.id, "parents": parents, "sha": row.sha, "timestamp": row.timestamp, "type": row.kind}),
        serde_json::from_str(&row.payload).ok(),
    )
}

fn show(mut row: Value, payload: Option<Value>) -> Value {
    row["version"] = 1.into();
    if payload.is_none() {
        row["unrepresentable"] = true.into();
    }
    row["payload"] = payload.unwrap_or_default();
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back_as_they_went() {
        let sha = format!("sha256:{}", "0".repeat(64));
        let place = Place { batch: 3, timestamp: "2026-03-01T12:00:00.000Z".to_owned(), sha };
        for place in [place, Place::default()] {
            let mark = Mark { projection: "ab12".to_owned(), place };
            assert_eq!(Mark::parse(&mark.to_text()), Some(mark));
        }
        for wrong in ["", "~~~", "a~1~~x", "a~x~~", "a~1~~~", "a~1~2026-03-01T12:00:00.000Z~"] {
            assert_eq!(Mark::parse(wrong), None, "{wrong}");
        }
    }
}
