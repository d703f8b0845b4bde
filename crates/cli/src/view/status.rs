//! `daybook status`: how a ledger stands.

use daybook_compaction::Facts;
use daybook_runner::{CommonArgs, Exit};
use daybook_view::age;
use daybook_view::newest::{self, Stamp};
use daybook_view::status::{Configured, Status as Standing, size};

use super::limits::configured;
use crate::args::Status;
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal, Scan};

pub(crate) fn run(args: &Status, common: &CommonArgs) -> Exit {
    Shown::finish(status(args, common), common, !args.showing.no_pager)
}

fn status(args: &Status, common: &CommonArgs) -> Result<Shown, Refusal> {
    let now = shown::now()?;
    let configured = configured(&args.limits, &args.target)?;
    let opened = Opened::open(&args.target)?;
    let mut scan = opened.scan(Stamp::of)?;
    let standing = standing(&opened, &scan, &configured)?;
    let (newest, _) = newest::first(std::mem::take(&mut scan.notes), 1);
    let newest = scan.rows(&newest)?.pop();
    let ledger = &scan.ledger;
    let mut report = shown::about(ledger);
    let heads = ledger.heads().iter().map(|head| head.to_string().into());
    report.count("incomplete", ledger.incomplete()).count("pinned", standing.pinned.len() as u64);
    report.member("heads", heads.collect::<Vec<serde_json::Value>>());
    report.member("newest", newest.as_ref().map_or(serde_json::Value::Null, |row| row.to_json(now)));
    for (name, value) in standing.members(now) {
        report.member(name, value);
    }
    if standing.is_stuck() {
        let message =
            format!("shards run out, and compaction gains nothing more; {}", standing.ways_out().join("; or "));
        report.warning("ledger-full", &message);
    } else if standing.is_nearly_full() {
        let shards = &standing.bounds[0];
        let message = format!("{} of {} shards are used; the ledger needs compaction", shards.used, shards.limit);
        report.warning("shards-nearly-full", &message);
    }

    let style = shown::style(&args.showing, common);
    let mut text = format!("{}\n\n", opened.what());
    let since = newest.map_or_else(String::new, |row| {
        let at = row.record.timestamp();
        format!(", the newest {}", if style.absolute { at.to_owned() } else { age::ago(at, now) })
    });
    text.push_str(&format!(
        "{} records{since}\n{} heads, {} shards, {}, {} findings\n\n",
        ledger.len(),
        ledger.heads().len(),
        ledger.shards(),
        size(ledger.bytes()),
        ledger.diagnostics().total(),
    ));
    Ok(Shown::new(text + &standing.text(now, &style), report))
}

/// Measures a ledger that was scanned.
pub(super) fn standing<T>(opened: &Opened, scan: &Scan<'_, T>, configured: &Configured) -> Result<Standing, Refusal> {
    let facts: Vec<Facts<'_>> = scan
        .shards()?
        .into_iter()
        .map(|shard| match scan.shard(shard) {
            Some(bytes) => Facts::of(shard, bytes).without_bytes(),
            None => Facts::unreadable(shard, 0),
        })
        .collect();
    Ok(Standing::of(&facts, opened.ordinary_files()?, opened.state()?, configured))
}
