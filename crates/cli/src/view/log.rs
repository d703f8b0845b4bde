//! `daybook log`: records, the newest first.

use daybook_core::Digest;
use daybook_runner::{CommonArgs, Exit};
use daybook_view::age;
use daybook_view::filter::Filter;
use daybook_view::graph::Lanes;
use daybook_view::newest::{self, Stamp};
use daybook_view::row::Row;
use daybook_view::style::Style;

use super::{query_of, rows_json};
use crate::args::Log;
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal, Scan, failed};

pub(crate) fn run(args: &Log, common: &CommonArgs) -> Exit {
    Shown::finish(log(args, common), common, !args.showing.no_pager)
}

fn log(args: &Log, common: &CommonArgs) -> Result<Shown, Refusal> {
    let now = shown::now()?;
    let filter = filter(args, now)?;
    let opened = Opened::open(&args.target)?;
    let mut scan = opened.scan(|line| filter.admits(line).then(|| Stamp::of(line)))?;
    let stamps = std::mem::take(&mut scan.notes).into_iter().flatten().collect();
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let (shas, total) = if args.graph {
        (newest::children_first(&scan.ledger, stamps, limit), scan.ledger.len())
    } else {
        newest::first(stamps, limit)
    };
    let rows = scan.rows(&shas)?;
    let mut report = shown::about(&scan.ledger);
    report.count("matching", total as u64).count("shown", rows.len() as u64);
    report.member("records", rows_json(&rows, now));
    let style = shown::style(&args.showing, common);
    let mut text = if args.graph { graph(&scan, &rows, args, now, &style) } else { list(&rows, args, now, &style) };
    let left = total.saturating_sub(rows.len());
    if left > 0 {
        text.push_str(&format!("… {left} more; --limit 0 shows all\n"));
    }
    Ok(Shown::new(text, report))
}

fn filter(args: &Log, now: i64) -> Result<Filter, Refusal> {
    let instant = |option: &str, text: &Option<String>| {
        let Some(text) = text else { return Ok(None) };
        age::instant(text, now).map(Some).ok_or_else(|| {
            let message = format!(
                "{option} {text:?}: allowed is a day such as 2026-03-01, a whole instant, or an age such as 3d"
            );
            failed(Exit::Usage, "bad-instant", &message)
        })
    };
    let asks = args.conditions.kind.is_some() || args.conditions.conditions.is_some();
    Ok(Filter {
        query: if asks { Some(query_of(&args.conditions, None, None)?) } else { None },
        since: instant("--since", &args.since)?,
        until: instant("--until", &args.until)?,
        contains: args.contains.clone(),
    })
}

fn list(rows: &[Row], args: &Log, now: i64, style: &Style) -> String {
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        if args.oneline {
            text.push_str(&row.line(now, style, 0));
        } else {
            text.push_str(if number > 0 { "\n" } else { "" });
            text.push_str(&row.paragraph(now, style, false));
        }
    }
    text
}

fn graph<T>(scan: &Scan<'_, T>, rows: &[Row], args: &Log, now: i64, style: &Style) -> String {
    let mut lanes = Lanes::default();
    let mut text = String::new();
    for row in rows {
        let parents: Vec<Digest> =
            row.record.parents().iter().copied().filter(|parent| scan.ledger.contains(parent)).collect();
        let drawn = lanes.draw(&row.record.sha(), &parents);
        for line in drawn.joins.iter() {
            text.push_str(&format!("{line}\n"));
        }
        if args.oneline {
            let used = drawn.node.chars().count() + 1;
            text.push_str(&format!("{} {}", drawn.node, row.line(now, style, used)));
        } else {
            let paragraph = row.paragraph(now, style, false);
            let mut lines = paragraph.lines();
            text.push_str(&format!("{} {}\n", drawn.node, lines.next().unwrap_or_default()));
            if let Some(forks) = &drawn.forks {
                text.push_str(&format!("{forks} {}\n", lines.next().unwrap_or_default()));
            }
            for line in lines {
                text.push_str(format!("{} {line}", drawn.beside).trim_end());
                text.push('\n');
            }
            text.push_str(&format!("{}\n", drawn.beside));
            continue;
        }
        for line in drawn.forks.iter() {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}
