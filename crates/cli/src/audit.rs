//! `daybook audit` and `daybook permissions`: what a workflow file allows.

use std::io::{Read as _, Write as _};
use std::path::Path;

use daybook_compiler::audit::{Audit, MAX_WORKFLOW_BYTES, Writer, audit as check};
use daybook_runner::{CommonArgs, Exit, Format, MAX_TEXT, Report, Severity, plain};
use serde_json::json;

use crate::args::Workflows;

/// Holds files to the privilege table.
pub(crate) fn audit(args: &Workflows, common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    let (mut errors, mut compiled) = (0, 0);
    let mut writers = Vec::new();
    for file in &args.files {
        let Some(audit) = load(file, &mut report) else {
            continue;
        };
        if !audit.is_compiled && !common.format().is_document() {
            explain(file, &audit.writers);
        }
        writers.extend(audit.writers.iter().map(|writer| {
            let Writer { job, power, reasons } = writer;
            json!({ "file": file.display().to_string(), "job": job, "memory": power.words(), "reasons": reasons })
        }));
        compiled += u64::from(audit.is_compiled);
        for finding in &audit.findings {
            let severity = if finding.is_error() { Severity::Error } else { Severity::Note };
            errors += u64::from(finding.is_error());
            let message = format!("{}: {}: {}", file.display(), finding.place, finding.message);
            report.diagnose(
                severity,
                finding.code,
                &message,
                json!({ "file": file.display().to_string(), "place": finding.place }),
            );
        }
    }
    report.count("files", args.files.len() as u64).count("compiled", compiled).count("errors", errors).decided(
        format!("{compiled} of {} files are compiled workflows; general rules hold for the others", args.files.len()),
    );
    report.member("writers", writers);
    if errors > 0 && report.exit() == Exit::Ok {
        report.set_exit(Exit::Findings);
    }
    report.emit(common)
}

/// Says of each job of a foreign file whether it could write a memory, and why.
fn explain(file: &Path, writers: &[Writer]) {
    let mut text = format!("{}: which job could write a memory\n", plain(&file.display().to_string(), 4 * MAX_TEXT));
    for Writer { job, power, reasons } in writers {
        text.push_str(&format!("  {} {}\n", plain(job, MAX_TEXT), power.words()));
        for reason in reasons {
            text.push_str(&format!("    - {}\n", plain(reason, 4 * MAX_TEXT)));
        }
    }
    // A reader that went away is no reason to change how this ends.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Lists jobs, scopes and reasons.
pub(crate) fn permissions(args: &Workflows, common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    let mut rows = Vec::new();
    for file in &args.files {
        for grant in load(file, &mut report).map(|audit| audit.grants).unwrap_or_default() {
            rows.push((file.display().to_string(), grant));
        }
    }
    if common.format() == Format::Json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(file, row)| json!({ "file": file, "job": row.job, "scope": row.scope, "level": row.level, "reason": row.reason }))
            .collect();
        report.member("permissions", serde_json::Value::from(rows));
        return report.emit(common);
    }
    let mut out = std::io::stdout().lock();
    for (_, row) in &rows {
        let reason = row.reason.as_deref().unwrap_or("no reason given");
        if writeln!(out, "{:<36} {:<20} {:<6} {reason}", row.job, row.scope, row.level).is_err() {
            return Exit::Io;
        }
    }
    drop(out);
    if report.exit() == Exit::Ok { Exit::Ok } else { report.emit(common) }
}

fn load(file: &Path, report: &mut Report) -> Option<Audit> {
    let mut text = String::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(MAX_WORKFLOW_BYTES as u64 + 1).read_to_string(&mut text));
    if let Err(error) = read {
        report.set_exit(Exit::Io).error("unreadable", &format!("{}: {error}", file.display()));
        return None;
    }
    match check(&text) {
        Ok(audit) => Some(audit),
        Err(message) => {
            report.set_exit(Exit::Refused).error("no-workflow", &format!("{}: {message}", file.display()));
            None
        }
    }
}
