//! The step summary: Markdown that the run's page shows.

use std::io::{self, Write};

use serde_json::Value;

use crate::{Report, neutralise};

/// How many bytes one step's summary may hold; the runner drops a larger one as a whole.
pub const MAX_BYTES: u64 = 900 * 1024;

/// What stands where a summary was cut.
const CUT: &str = "\n\n(The summary was cut here: it is full.)\n";

/// Longest sentence or message on a page, in characters.
const MAX_LINE: usize = 1500;

/// What a job read, decided and wrote, and what it has to say, under a heading; a job may add to it. Everything in it is
/// text of ours, or neutralised.
#[must_use]
pub fn page(job: &str, report: &Report) -> String {
    let document = report.to_json();
    let text = |value: &Value| neutralise(value.as_str().unwrap_or_default(), MAX_LINE);
    let mut page = format!("### Daybook {job}: {}\n\n", text(&document["outcome"]));
    for kind in ["read", "decided", "wrote"] {
        for sentence in document[kind].as_array().into_iter().flatten() {
            page.push_str(&format!("- {kind}: {}\n", text(sentence)));
        }
    }
    for diagnostic in document["diagnostics"].as_array().into_iter().flatten() {
        let (severity, code) = (text(&diagnostic["severity"]), text(&diagnostic["code"]));
        page.push_str(&format!("- {severity} **{code}**: {}\n", text(&diagnostic["message"])));
    }
    page.push('\n');
    page
}

/// Appends Markdown to the file that `GITHUB_STEP_SUMMARY` names, cut so that the summary stays under [`MAX_BYTES`].
/// Foreign text inside it must have gone through [`neutralise`](crate::neutralise). Outside Actions nothing is
/// written, and the answer is `false`.
///
/// # Errors
///
/// The file cannot be written.
pub fn append(markdown: &str) -> io::Result<bool> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(false);
    };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    let used = file.metadata()?.len();
    file.write_all(fit(markdown, MAX_BYTES.saturating_sub(used)).as_bytes())?;
    Ok(true)
}

fn fit(markdown: &str, room: u64) -> String {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if markdown.len() <= room {
        return markdown.to_owned();
    }
    let Some(room) = room.checked_sub(CUT.len()) else {
        return String::new();
    };
    let mut end = room;
    while !markdown.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT}", &markdown[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_never_grows_over_its_bound() {
        let long = "ä".repeat(600 * 1024);
        let fitted = fit(&long, MAX_BYTES);
        assert!(fitted.len() as u64 <= MAX_BYTES && fitted.ends_with(CUT));
        assert_eq!(fit("short", MAX_BYTES), "short");
        assert_eq!(fit("short", 4), "");
        assert_eq!(fit("12345", 5), "12345");
    }
}
