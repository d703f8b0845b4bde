//! `daybook show`: one record whole, with its neighbours.

use daybook_core::Digest;
use daybook_core::shard::Entry;
use daybook_runner::{CommonArgs, Exit};
use daybook_view::style::Paint;
use serde_json::{Value, json};

use crate::args::Show;
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal, Scan, failed};

/// Fewest characters of a beginning.
const MIN_PREFIX: usize = 4;
/// Most children that are listed.
const MAX_CHILDREN: usize = 64;

pub(crate) fn run(args: &Show, common: &CommonArgs) -> Exit {
    Shown::finish(show(args, common), common, !args.showing.no_pager)
}

fn show(args: &Show, common: &CommonArgs) -> Result<Shown, Refusal> {
    let now = shown::now()?;
    let opened = Opened::open(&args.target)?;
    let scan = opened.ledger()?;
    let sha = find(&scan, &args.id)?;
    let row = scan.row(&sha)?;
    let children: Vec<Digest> =
        scan.ledger.order().filter(|entry| entry.parents().contains(&sha)).map(Entry::sha).collect();
    let neighbour = |sha: &Digest| {
        let id = scan.ledger.get(sha).map(|entry| entry.id().to_string());
        json!({"sha": sha.to_string(), "id": id, "known": scan.ledger.contains(sha)})
    };
    let list = |shas: &[Digest]| -> Value { shas.iter().map(neighbour).collect::<Vec<_>>().into() };
    let mut report = shown::about(&scan.ledger);
    report.count("parents", row.record.parents().len() as u64).count("children", children.len() as u64);
    let listed = children.get(..MAX_CHILDREN).unwrap_or(&children);
    report.member("record", row.to_json(now)).member("children", list(listed));
    report.member("parents", list(row.record.parents()));

    let style = shown::style(&args.showing, common);
    let mut text = row.paragraph(now, &style, true);
    for (heading, shas) in [("parents", row.record.parents()), ("children", listed)] {
        if shas.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}\n", style.paint(Paint::Faint, heading)));
        for sha in shas {
            if scan.ledger.contains(sha) {
                text.push_str(&format!("    {}", scan.row(sha)?.line(now, &style, 4)));
            } else {
                text.push_str(&format!("    {sha} is not here\n"));
            }
        }
    }
    if children.len() > listed.len() {
        text.push_str(&format!("    … {} more\n", children.len() - listed.len()));
    }
    Ok(Shown::new(text, report))
}

/// The one record that a person means.
fn find<T>(scan: &Scan<'_, T>, asked: &str) -> Result<Digest, Refusal> {
    let wanted = asked.trim_start_matches("ldg-").trim_start_matches("sha256:");
    if wanted.len() < MIN_PREFIX {
        let message = format!("the beginning of an id has {MIN_PREFIX} characters or more");
        return Err(failed(Exit::Usage, "no-such-record", &message));
    }
    let is_meant = |entry: &&Entry| {
        (!asked.starts_with("sha256:") && entry.id().uuid().to_string().starts_with(wanted))
            || (!asked.starts_with("ldg-") && hex(&entry.sha()).starts_with(wanted))
    };
    let found: Vec<&Entry> = scan.ledger.order().filter(is_meant).take(9).collect();
    match found.as_slice() {
        [only] => Ok(only.sha()),
        [] => {
            let asked = daybook_runner::plain(asked, daybook_runner::MAX_TEXT);
            Err(failed(Exit::Usage, "no-such-record", &format!("no record's id or digest begins with {asked}")))
        }
        several => {
            let names: Vec<String> = several.iter().take(8).map(|entry| entry.sha().to_string()).collect();
            let message = format!("more than one record is meant: {}", names.join(", "));
            Err(failed(Exit::Usage, "ambiguous-record", &message))
        }
    }
}

fn hex(sha: &Digest) -> String {
    sha.to_string().trim_start_matches("sha256:").to_owned()
}
