//! What the job says: the report and the step summary.

use daybook_runner::{Report, Severity, neutralise};
use serde_json::Value;

use crate::apply::Application;
use crate::stop::Stop;

/// Longest message in the summary, in characters.
const MAX_LINE: usize = 1500;

/// Nothing was applied. That the ledger moved on is worth a warning and no more: the next run plans again.
pub(crate) fn stopped(report: &mut Report, stop: &Stop) {
    let severity = if stop.is_no_failure() { Severity::Warning } else { Severity::Error };
    report.set_outcome(stop.outcome, stop.exit).diagnose(severity, stop.code, &stop.message, Value::Null);
    report.decided("the branch stays as it is");
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
    let document = report.to_json();
    let text = |value: &Value| neutralise(value.as_str().unwrap_or_default(), MAX_LINE);
    let mut page = format!("### Daybook maintenance apply: {}\n\n", text(&document["outcome"]));
    for kind in ["read", "decided", "wrote"] {
        for sentence in document[kind].as_array().into_iter().flatten() {
            page.push_str(&format!("- {kind}: {}\n", text(sentence)));
        }
    }
    for diagnostic in document["diagnostics"].as_array().into_iter().flatten() {
        let (severity, code) = (text(&diagnostic["severity"]), text(&diagnostic["code"]));
        page.push_str(&format!("- {severity} **{code}**: {}\n", text(&diagnostic["message"])));
    }
    if let Some(plan_id) = application.plan_id {
        page.push_str(&format!("\nPlan `{plan_id}`\n\n| | before | after |\n|---|---|---|\n"));
        let (before, after) = (application.before, application.after);
        page.push_str(&format!("| shards | {} | {} |\n| bytes | {} | {} |\n", before.0, after.0, before.1, after.1));
        page.push_str(&format!("| records of the plan | {0} | {0} |\n", application.records));
    }
    page.push('\n');
    page
}
