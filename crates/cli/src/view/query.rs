//! `daybook query`: what the tool `ledger_query` answers, page by page in ascending order of digests.

use daybook_core::Record;
use daybook_runner::{CommonArgs, Exit};
use daybook_view::newest;
use serde_json::Value;

use super::{query_of, rows_json};
use crate::args::Query;
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal};

pub(crate) fn run(args: &Query, common: &CommonArgs) -> Exit {
    Shown::finish(query(args, common), common, !args.showing.no_pager)
}

fn query(args: &Query, common: &CommonArgs) -> Result<Shown, Refusal> {
    let now = shown::now()?;
    let query = query_of(&args.conditions, args.limit, args.after.as_deref())?;
    let opened = Opened::open(&args.target)?;
    let mut scan = opened.scan(|line| query.matches(&Record::from_checked(line)).then(|| line.sha()))?;
    let matching = std::mem::take(&mut scan.notes).into_iter().flatten().collect();
    let (shas, more) = newest::ascending_after(matching, query.after(), query.limit());
    let rows = scan.rows(&shas)?;
    let cursor = shas.last().filter(|_| more).map(ToString::to_string);
    let mut report = shown::about(&scan.ledger);
    report.count("shown", rows.len() as u64).member("records", rows_json(&rows, now));
    report.member("hasMore", more).member("nextCursor", cursor.clone().map_or(Value::Null, Value::from));
    let style = shown::style(&args.showing, common);
    let mut text: String = rows.iter().map(|row| row.line(now, &style, 0)).collect();
    if let Some(cursor) = cursor {
        text.push_str(&format!("… there is more: --after {cursor}\n"));
    }
    Ok(Shown::new(text, report))
}
