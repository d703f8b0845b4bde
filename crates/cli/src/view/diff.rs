//! `daybook diff`: what differs between two commits of a memory branch.

use daybook_branch::{Oid, Snapshot};
use daybook_core::Digest;
use daybook_runner::{CommonArgs, Exit, MAX_TEXT, Report, plain};
use daybook_view::row::Row;
use daybook_view::status::size;
use daybook_view::style::{Paint, Style};
use serde_json::{Value, json};

use super::rows_json;
use crate::args::Diff;
use crate::diff::{BranchState, changes};
use crate::ledger_view::LedgerView;
use crate::remote_fault::{exit_of, told};
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal, failed, unreadable};

pub(crate) fn run(args: &Diff, common: &CommonArgs) -> Exit {
    Shown::finish(diff(args, common), common, !args.showing.no_pager)
}

fn diff(args: &Diff, common: &CommonArgs) -> Result<Shown, Refusal> {
    let now = shown::now()?;
    let (from, to) = args.range.split_once("..").ok_or_else(|| {
        failed(Exit::Usage, "bad-range", "a range is two commits with two dots between them, such as HEAD~1..HEAD")
    })?;
    let opened = Opened::open(&args.target)?;
    let snapshot = opened.snapshot().ok_or_else(|| {
        failed(Exit::Usage, "not-a-branch", "a folder has no commits to compare; name a repository and --branch")
    })?;
    let (from, to) = (commit(snapshot, from)?, commit(snapshot, to)?);
    let before = BranchState::at(snapshot, Some(from)).map_err(unreadable)?;
    let after = BranchState::at(snapshot, Some(to)).map_err(unreadable)?;
    let added = only_in(&after.ledger, &before.ledger);
    let removed = only_in(&before.ledger, &after.ledger);
    let files = changes(&before, &after);

    let mut report = Report::new(Exit::Ok);
    report
        .count("records-added", added.len() as u64)
        .count("records-removed", removed.len() as u64)
        .count("files-changed", files.len() as u64);
    report.member("from", from.to_string()).member("to", to.to_string());
    report.member("added", rows_json(&added, now)).member("removed", rows_json(&removed, now));
    let bytes = |state: &BranchState, path: &str| state.files.get(path).map(|(_, bytes)| *bytes);
    let listed = files.iter().map(|(path, change)| {
        json!({"path": path, "change": change, "before": bytes(&before, path), "after": bytes(&after, path)})
    });
    report.member("files", listed.collect::<Vec<Value>>());

    let style = shown::style(&args.showing, common);
    let mut text = format!("{from}..{to}: {} records added, {} removed", added.len(), removed.len());
    text.push_str(&format!(", {} files differ\n", files.len()));
    text.push_str(&records(&removed, "-", Paint::Bad, now, &style));
    text.push_str(&records(&added, "+", Paint::Good, now, &style));
    for (path, change) in &files {
        let sizes = [bytes(&before, path), bytes(&after, path)].into_iter().flatten().map(size);
        let sizes = sizes.collect::<Vec<_>>().join(" → ");
        text.push_str(&format!("{change:<8} {} ({sizes})\n", plain(path, 2 * MAX_TEXT)));
    }
    Ok(Shown::new(text, report))
}

fn commit(snapshot: &Snapshot, named: &str) -> Result<Oid, Refusal> {
    let named = if named.is_empty() { "HEAD" } else { named };
    let found =
        snapshot.find_commit(named).map_err(|fault| failed(exit_of(&fault), fault.kind().code(), &told(&fault)))?;
    found.ok_or_else(|| {
        let message = format!("branch {} has no commit {}, or several", snapshot.branch(), plain(named, MAX_TEXT));
        failed(Exit::Usage, "no-such-commit", &message)
    })
}

/// The rows of the records that only the first ledger has, in its order.
fn only_in(ledger: &LedgerView, other: &LedgerView) -> Vec<Row> {
    let is_missing = |sha: Digest| !other.ledger.contains(&sha);
    let entries = ledger.ledger.order().filter(|entry| is_missing(entry.sha()));
    let rows =
        entries.filter_map(|entry| Some(Row { record: ledger.record(entry.location())?, location: entry.location() }));
    rows.collect()
}

fn records(rows: &[Row], sign: &str, paint: Paint, now: i64, style: &Style) -> String {
    let line = |row: &Row| format!("{} {}", style.paint(paint, sign), row.line(now, style, 2));
    rows.iter().map(line).collect()
}
