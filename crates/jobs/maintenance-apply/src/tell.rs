//! What the job says: the report and the step summary.

use daybook_runner::{Exit, Report, Severity, Stop, summary};

use crate::apply::Application;

/// Nothing was applied. That the ledger moved on is worth a warning and no more: the next run plans again.
pub(crate) fn stopped(report: &mut Report, stop: &Stop) {
    let moved_on = matches!(stop.exit, Exit::Stale | Exit::Contended);
    let severity = if moved_on { Severity::Warning } else { Severity::Error };
    stop.tell(severity, report).decided("the branch stays as it is");
}

pub(crate) fn counts(report: &mut Report, application: &Application) {
    report
        .count("attempts", u64::from(application.attempts))
        .count("sources", application.sources)
        .count("records", application.records)
        .count("bytes-written", application.written)
        .count("shards-before", application.before.0)
        .count("shards-after", application.after.0)
        .count("bytes-before", application.before.1)
        .count("bytes-after", application.after.1)
        .member("plan_id", application.plan_id.map(|id| id.to_string()))
        .member("commit", application.commit.map(|commit| commit.to_string()));
    if let Some(commit) = application.commit {
        report.decided(format!("{} shards become one of {} records", application.sources, application.records));
        report.wrote(format!("commit {commit}, after {} attempts", application.attempts));
    }
}

/// The report as Markdown. Everything in it is text of ours, or neutralised.
pub(crate) fn markdown(report: &Report, application: &Application) -> String {
    let mut page = summary::page("maintenance apply", report);
    if let Some(plan_id) = application.plan_id {
        page.push_str(&format!("Plan `{plan_id}`\n\n| | before | after |\n|---|---|---|\n"));
        let (before, after) = (application.before, application.after);
        page.push_str(&format!("| shards | {} | {} |\n| bytes | {} | {} |\n", before.0, after.0, before.1, after.1));
        page.push_str(&format!("| records of the plan | {0} | {0} |\n\n", application.records));
    }
    page
}
