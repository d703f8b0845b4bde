//! Who holds which right, and why.

use serde_json::Value;

use super::reader::{jobs, members};

/// One right of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// The job.
    pub job: String,
    /// The scope.
    pub scope: String,
    /// The level.
    pub level: String,
    /// The reason, where the file gives one.
    pub reason: Option<String>,
}

pub(crate) fn rows(text: &str, workflow: &Value) -> Vec<GrantRow> {
    let mut rows = Vec::new();
    for (id, job) in jobs(workflow) {
        for (scope, level) in members(&job["permissions"]) {
            let level = level.as_str().unwrap_or_default().to_owned();
            let reason = reason(text, id, scope, &level);
            rows.push(GrantRow { job: id.to_owned(), scope: scope.to_owned(), level, reason });
        }
    }
    rows
}

/// The comment behind a grant, in a file that is laid out as the printer does it.
fn reason(text: &str, job: &str, scope: &str, level: &str) -> Option<String> {
    let (head, grant) = (format!("  {job}:"), format!("      {scope}: {level} # "));
    let lines = text.lines().skip_while(|line| *line != head).skip(1);
    let mut of_job = lines.take_while(|line| line.starts_with("    "));
    of_job.find_map(|line| line.strip_prefix(&grant)).map(|reason| reason.trim().to_owned())
}
