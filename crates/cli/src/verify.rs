//! `daybook verify`: checks every record of a ledger, in a folder or on a branch.

use daybook_core::Ledger;
use daybook_core::diagnostic::{self, Diagnostic};
use daybook_runner::{CommonArgs, Exit, Report, Severity};
use serde_json::Value;

use crate::args::Verify;
use crate::shown::Shown;
use crate::target::Opened;

pub(crate) fn run(args: &Verify, common: &CommonArgs) -> Exit {
    let verified = Opened::open(&args.target).and_then(|opened| {
        let ledger = opened.ledger()?.ledger;
        // Where the ledger was found is no part of the document: a folder and a branch that hold the same are alike.
        Ok(Shown { text: format!("{}\n", opened.what()), report: tell(&ledger), is_told: true })
    });
    Shown::finish(verified, common, false)
}

pub(crate) fn tell(ledger: &Ledger) -> Report {
    let diagnostics = ledger.diagnostics();
    let mut report = Report::new(if diagnostics.has_errors() { Exit::Findings } else { Exit::Ok });
    report
        .read(format!("{} shards, {} bytes", ledger.shards(), ledger.bytes()))
        .decided(format!(
            "{} records, {} heads, {} diagnostics",
            ledger.len(),
            ledger.heads().len(),
            diagnostics.total()
        ))
        .count("shards", ledger.shards())
        .count("records", ledger.len() as u64)
        .count("bytes", ledger.bytes())
        .count("heads", ledger.heads().len() as u64)
        .count("incomplete", ledger.incomplete())
        .count("diagnostics", diagnostics.total());
    report.member("heads", ledger.heads().iter().map(|head| Value::from(head.to_string())).collect::<Vec<_>>());
    for diagnostic in diagnostics.kept() {
        let severity = match diagnostic.severity() {
            diagnostic::Severity::Error => Severity::Error,
            diagnostic::Severity::Note => Severity::Note,
        };
        let details = serde_json::to_value(diagnostic).unwrap_or_default();
        report.diagnose(severity, diagnostic.code.name(), &place(diagnostic), details);
    }
    if diagnostics.not_kept() > 0 {
        report.note("not-listed", &format!("{} more diagnostics are counted and not listed", diagnostics.not_kept()));
    }
    report
}

/// Where a diagnostic is, in words.
fn place(diagnostic: &Diagnostic) -> String {
    let mut words = Vec::new();
    if let Some(detail) = diagnostic.detail {
        words.push(
            serde_json::to_value(detail).ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default(),
        );
    }
    words.extend(diagnostic.shard.map(|shard| format!("shard {shard}")));
    words.extend(diagnostic.line.map(|line| format!("line {line}")));
    words.extend(diagnostic.record.map(|record| format!("record {record}")));
    words.join(", ")
}
