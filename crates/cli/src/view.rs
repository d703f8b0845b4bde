//! The commands that show what an agent remembers. Each opens a target, reads, and shows; the forms are `daybook_view`'s.

pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod heads;
pub(crate) mod limits;
pub(crate) mod log;
pub(crate) mod output;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod show;
pub(crate) mod status;

use daybook_runner::Exit;
use daybook_view::row::Row;
use serde_json::Value;

use crate::args::Conditions;
use crate::target::{Refusal, failed};

/// Rows as data.
fn rows_json(rows: &[Row], now: i64) -> Value {
    rows.iter().map(|row| row.to_json(now)).collect::<Vec<_>>().into()
}

/// The conditions as a query of the tool `ledger_query`, with a page where one is asked for.
fn query_of(
    conditions: &Conditions,
    limit: Option<u64>,
    after: Option<&str>,
) -> Result<daybook_core::query::Query, Refusal> {
    use daybook_core::json::{Text, Value, parse};
    use daybook_core::query::Query;

    let mut members = Vec::new();
    let mut add = |name: &str, value: Value| members.push((Text::new(name), value));
    if let Some(kind) = &conditions.kind {
        add("type", Value::String(Text::new(kind)));
    }
    if let Some(text) = &conditions.conditions {
        let value = parse(text.as_bytes())
            .map_err(|fault| failed(Exit::Usage, "invalid-filter", &format!("--where is no JSON: {fault}")))?;
        add("where", value);
    }
    if let Some(limit) = limit {
        #[expect(clippy::cast_precision_loss, reason = "a limit that is not exact is far above the greatest")]
        add("limit", Value::Number(limit as f64));
    }
    if let Some(after) = after {
        add("after", Value::String(Text::new(after)));
    }
    Query::parse(&Value::Object(members)).map_err(|fault| failed(Exit::Usage, fault.code(), &fault.to_string()))
}
