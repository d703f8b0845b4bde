//! What a dry run tells a person, job by job.

use daybook_core::Record;
use daybook_runner::plain;
use serde_json::Value;

use super::process::JobStory;
use crate::diff::BranchDiff;

/// Longest sentence, in characters.
const MAX_SENTENCE: usize = 512;

/// Longest payload in a line of the difference, in characters.
const MAX_PAYLOAD: usize = 100;

/// Most lines of a job's summary that are shown; --keep keeps all of them.
const MAX_SUMMARY: usize = 40;

/// The block of one job.
pub(crate) fn job(story: &JobStory) -> String {
    let allowed = story.allowed;
    let milliseconds = story.took.as_millis();
    let environment = if story.environment.is_empty() { "empty".to_owned() } else { story.environment.join(" ") };
    let mut text = format!("{:<12} {} ({milliseconds} ms)\n", allowed.job, plain(story.outcome(), MAX_SENTENCE));
    line(
        &mut text,
        "allowed",
        &format!("branch: {}; memory folder: {}; reads {}", allowed.branch, allowed.folder, allowed.reads),
    );
    line(&mut text, "", &format!("environment: {environment}"));
    for heading in ["read", "decided", "wrote"] {
        for (number, sentence) in (0..).zip(texts(&story.document, heading)) {
            line(&mut text, if number == 0 { heading } else { "" }, sentence);
        }
    }
    for diagnostic in story.document.get("diagnostics").and_then(Value::as_array).into_iter().flatten() {
        let member = |name| diagnostic.get(name).and_then(Value::as_str).unwrap_or_default();
        line(&mut text, member("severity"), &format!("{}: {}", member("code"), member("message")));
    }
    let mut summary = story.summary.lines().filter(|line| !line.is_empty());
    for (number, shown) in (0..).zip(summary.by_ref().take(MAX_SUMMARY)) {
        line(&mut text, if number == 0 { "summary" } else { "" }, shown);
    }
    let more = summary.count();
    if more > 0 {
        line(&mut text, "", &format!("({more} more lines)"));
    }
    text
}

/// The difference of one branch.
pub(crate) fn branch(diff: &BranchDiff) -> String {
    let commit = |oid: Option<daybook_branch::Oid>| {
        oid.map_or_else(|| "absent".to_owned(), |oid| oid.to_string().chars().take(12).collect())
    };
    let mut text = format!("branch {}: {} → {}\n", diff.branch, commit(diff.base), commit(diff.head));
    for record in &diff.added {
        text.push_str(&format!("  + {}\n", summary(record)));
    }
    for sha in &diff.lost {
        text.push_str(&format!("  - {sha}\n"));
    }
    for (path, change) in &diff.files {
        text.push_str(&format!("  {change} {}\n", plain(path, MAX_SENTENCE)));
    }
    if diff.added.is_empty() && diff.lost.is_empty() && diff.files.is_empty() {
        text.push_str("  (no change)\n");
    }
    text
}

fn summary(record: &Record) -> String {
    let sha: String = record.sha().to_string().chars().take(19).collect();
    let kind = plain(record.kind(), 32);
    format!("{sha} {} {kind} {}", record.timestamp(), plain(record.payload_text(), MAX_PAYLOAD))
}

fn texts<'a>(document: &'a Value, member: &str) -> impl Iterator<Item = &'a str> {
    document.get(member).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn line(text: &mut String, heading: &str, sentence: &str) {
    text.push_str(&format!("  {heading:<8} {}\n", plain(sentence, MAX_SENTENCE)));
}
