//! What the job says: the report and the step summary.

use daybook_compaction::Plan;
use daybook_runner::{Exit, Report, summary};

use crate::head::Head;

pub(crate) fn planned(report: &mut Report, plan: &Plan, head: &Head<'_>) {
    let (sources, replacement) = (plan.sources(), plan.replacement());
    let source_bytes: u64 = sources.iter().map(|source| source.bytes()).sum();
    let shards = head.facts().len();
    report
        .set_outcome("planned", Exit::Ok)
        .count("sources", sources.len() as u64)
        .count("records", replacement.records().len() as u64)
        .count("shards-after", (shards + 1 - sources.len()) as u64)
        .count("bytes", head.tree().bytes())
        .count("bytes-after", head.tree().bytes() - source_bytes + replacement.bytes())
        .count("bytes-written", replacement.bytes())
        .member("plan_id", plan.plan_id().to_string())
        .decided(format!("{} shards become one of {} records", sources.len(), replacement.records().len()))
        .wrote(format!("plan {}", plan.plan_id()));
}

/// The report as Markdown. Everything in it is text of ours, or neutralised.
pub(crate) fn markdown(report: &Report, plan: Option<&Plan>) -> String {
    let mut page = summary::page("maintenance plan", report);
    if let Some(plan) = plan {
        let document = report.to_json();
        let counts = &document["counts"];
        page.push_str(&format!("Plan `{}`\n\n| | now | planned |\n|---|---|---|\n", plan.plan_id()));
        for (name, now, then) in [("shards", "shards", "shards-after"), ("bytes", "bytes", "bytes-after")] {
            page.push_str(&format!("| {name} | {} | {} |\n", counts[now], counts[then]));
        }
        page.push_str(&format!("| records in the plan | {0} | {0} |\n\n", counts["records"]));
    }
    page
}
