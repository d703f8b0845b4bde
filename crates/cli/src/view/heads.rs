//! `daybook heads`: the records that no other record names as parent.

use daybook_runner::{CommonArgs, Exit};

use super::rows_json;
use crate::args::Heads;
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal};

pub(crate) fn run(args: &Heads, common: &CommonArgs) -> Exit {
    Shown::finish(heads(args, common), common, !args.showing.no_pager)
}

fn heads(args: &Heads, common: &CommonArgs) -> Result<Shown, Refusal> {
    let now = shown::now()?;
    let opened = Opened::open(&args.target)?;
    let scan = opened.ledger()?;
    let rows = scan.rows(scan.ledger.heads())?;
    let mut report = shown::about(&scan.ledger);
    report.member("records", rows_json(&rows, now));
    let style = shown::style(&args.showing, common);
    Ok(Shown::new(rows.iter().map(|row| row.line(now, &style, 0)).collect(), report))
}
