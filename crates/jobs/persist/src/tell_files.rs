//! What the job says of ordinary files. Their names are the agent's: each is shown as harmless text.

use daybook_core::policy::SetAside;
use daybook_runner::{MAX_TEXT, Report, Severity, neutralise, plain};
use serde_json::json;

use crate::files::{FileReport, Names};
use crate::land::Landing;

/// Most names in one sentence.
const MAX_IN_SENTENCE: usize = 5;

/// The kinds of changes that land, in the order in which they are told.
fn landed(files: &FileReport) -> [(&'static str, &Names); 5] {
    [
        ("added", &files.added),
        ("changed", &files.changed),
        ("merged", &files.merged),
        ("kept twice", &files.kept_twice),
        ("deleted", &files.deleted),
    ]
}

/// Reports the files of one memory.
pub(crate) fn all(report: &mut Report, landing: &Landing) {
    let (memory, files) = (&landing.memory, &landing.files);
    let counts: Vec<String> = landed(files)
        .iter()
        .filter(|(_, names)| names.count > 0)
        .map(|(what, names)| format!("{} {what}", names.count))
        .collect();
    if !counts.is_empty() {
        report.decided(format!("files of memory {memory}: {}", counts.join(", ")));
    }
    if files.kept_twice.count > 0 {
        let message = format!("both sides changed the same lines, so both are kept: {}", sentence(&files.kept_twice));
        report.warning("file-kept-twice", &message);
    }
    for (why, names) in &files.set_aside {
        let message =
            format!("{} files of memory {memory} set aside: {}; {}", names.count, sentence(names), why.advice());
        let shown: Vec<String> = names.shown.iter().map(|name| plain(name, MAX_TEXT)).collect();
        report.diagnose(Severity::Warning, why.code(), &message, json!({"memory": memory, "files": shown}));
    }
    if let Some(count) = files.unmatched {
        let message =
            format!("0 of {count} changed files of memory {memory} matched file-glob; nothing of them is kept");
        report.diagnose(Severity::Error, "no-file-matched", &message, json!({"memory": memory}));
    }
    for sentence in &files.nearly_full {
        report.warning("files-nearly-full", &format!("memory {memory} uses {sentence}"));
    }
}

fn sentence(names: &Names) -> String {
    let shown = names.shown.iter().take(MAX_IN_SENTENCE).map(|name| plain(name, MAX_TEXT));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.count.saturating_sub(MAX_IN_SENTENCE as u64) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The files of one memory in the step summary; `None` where nothing was changed.
pub(crate) fn section(landing: &Landing) -> Option<String> {
    let files = &landing.files;
    let mut rows: Vec<(String, &Names)> = landed(files).map(|(what, names)| (what.to_owned(), names)).into();
    rows.extend(
        files.set_aside.iter().map(|(why, names): (&SetAside, _)| (format!("set aside: {}", why.code()), names)),
    );
    rows.retain(|(_, names)| names.count > 0);
    if rows.is_empty() {
        return None;
    }
    let mut text = format!("#### Files of memory {}\n\n| | count | files |\n|---|---|---|\n", landing.memory);
    for (what, names) in rows {
        let shown: Vec<String> = names.shown.iter().take(20).map(|name| neutralise(name, MAX_TEXT)).collect();
        text.push_str(&format!("| {what} | {} | {} |\n", names.count, shown.join(", ")));
    }
    text.push('\n');
    Some(text)
}
