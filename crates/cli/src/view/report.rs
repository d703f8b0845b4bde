//! `daybook report`: everything on one page.

use std::io::Write as _;

use daybook_core::timestamp;
use daybook_runner::{CommonArgs, Exit};
use daybook_view::newest::{self, Stamp};
use daybook_view::page;
use daybook_view::status::{Gain, Status as Standing};
use serde_json::{Value, json};

use super::limits::configured;
use super::output::{replace, unwritable};
use super::status::standing;
use crate::args::ReportPage;
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal};
use crate::verify;

pub(crate) fn run(args: &ReportPage, common: &CommonArgs) -> Exit {
    Shown::finish(report(args), common, false)
}

fn report(args: &ReportPage) -> Result<Shown, Refusal> {
    let now = shown::now()?;
    let configured = configured(&args.limits, &args.target)?;
    let opened = Opened::open(&args.target)?;
    let mut scan = opened.scan(Stamp::of)?;
    let standing = standing(&opened, &scan, &configured)?;
    let stamps = std::mem::take(&mut scan.notes);
    let order = newest::children_first(&scan.ledger, stamps, usize::MAX);
    let found = verify::tell(&scan.ledger).to_json();
    let meta = json!({
        "what": opened.what(),
        "made": timestamp::from_unix_millis(now),
        "records": scan.ledger.len(),
        "heads": scan.ledger.heads().len(),
        "shards": scan.ledger.shards(),
        "bytes": scan.ledger.bytes(),
        "findings": scan.ledger.diagnostics().total(),
        "bounds": member(&standing, now, "bounds"),
        "compaction": compaction(&standing),
        "diagnostics": found["diagnostics"],
    });
    replace(&args.html, |out| {
        let failed = |error: std::io::Error| unwritable(&args.html, &error);
        out.write_all(page::head(&meta).as_bytes()).map_err(failed)?;
        for shas in order.chunks(page::BLOCK) {
            out.write_all(page::block(&scan.rows(shas)?).as_bytes()).map_err(failed)?;
        }
        out.write_all(page::tail().as_bytes()).map_err(failed)
    })?;
    let mut report = shown::about(&scan.ledger);
    let wrote = format!("{} records to {}", order.len(), args.html.display());
    report.wrote(wrote.clone());
    Ok(Shown::new(format!("{wrote}\n"), report))
}

fn member(standing: &Standing, now: i64, name: &str) -> Value {
    standing.members(now).into_iter().find(|(member, _)| *member == name).map_or(Value::Null, |(_, value)| value)
}

/// What compaction did last and could do now, in a sentence.
fn compaction(standing: &Standing) -> String {
    let last = match &standing.state {
        Ok(Some(state)) => format!("Last compacted {}.", state.last_applied_at()),
        Ok(None) => "Never compacted.".to_owned(),
        Err(()) => "The state of compaction cannot be read.".to_owned(),
    };
    let now = match &standing.gain {
        Gain::Possible(shards) => format!("{shards} shards could become one now."),
        Gain::Nothing(_) => "There is nothing to compact now.".to_owned(),
        Gain::Off => "Compaction is off.".to_owned(),
    };
    let ways = standing.ways_out().join("; or ");
    if ways.is_empty() { format!("{last} {now}") } else { format!("{last} {now} Ways out: {ways}.") }
}
