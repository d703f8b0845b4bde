//! Rules for every workflow, whoever wrote it.

use daybook_workflow::{Level, Scope};
use serde_json::Value;

use super::Findings;
use super::reader::{jobs, members, scalar, steps};
use super::tokens;

pub(crate) fn check(workflow: &Value, findings: &mut Findings) {
    if workflow.get("permissions").is_none() {
        let message = "the workflow states no permissions, so that its token has what the repository gives by default";
        findings.error("permissions-missing", "workflow", message);
    }
    levels("workflow", workflow, findings);
    for (id, job) in jobs(workflow) {
        levels(id, job, findings);
        uses(id, job.get("uses"), findings);
        if job["secrets"] == "inherit" {
            findings.error("secrets-inherited", id, "secrets are named one by one, never inherited");
        }
        for (number, step) in steps(job).iter().enumerate() {
            let place = format!("{id}, step {}", number + 1);
            uses(&place, step.get("uses"), findings);
            if step["run"].as_str().is_some_and(|run| run.contains("${{")) {
                findings.error(
                    "expression-in-run",
                    &place,
                    "an expression is pasted into a script; values go through env",
                );
            }
            let is_checkout = step["uses"].as_str().is_some_and(|uses| uses.starts_with("actions/checkout@"));
            if is_checkout && scalar(&step["with"]["persist-credentials"]) != "false" {
                findings.error(
                    "credentials-persisted",
                    &place,
                    "checkout leaves the token on disk; set persist-credentials: false",
                );
            }
            if tokens::names_all_secrets(step) {
                findings.error(
                    "all-secrets",
                    &place,
                    "all secrets, or a whole context that holds the token, are handed on at once",
                );
            }
        }
    }
}

fn levels(place: &str, holder: &Value, findings: &mut Findings) {
    let Some(permissions) = holder.get("permissions") else {
        return;
    };
    if !permissions.is_object() {
        let message = format!("permissions are {permissions}; name each scope and its level");
        findings.error("permissions-whole", place, message);
    }
    for (scope, level) in members(permissions) {
        let level = level.as_str().unwrap_or_default();
        let known = Scope::parse(scope)
            .is_some_and(|scope| level == "none" || Level::parse(level).is_some_and(|level| scope.has(level)));
        if !known {
            findings.error("permission-unknown", place, format!("GitHub has no permission {scope}: {level}"));
        }
    }
}

fn uses(place: &str, uses: Option<&Value>, findings: &mut Findings) {
    let Some(uses) = uses else {
        return;
    };
    let uses = uses.as_str().unwrap_or_default();
    let pinned = match uses.split_once('@') {
        Some((name, digest)) if name.starts_with("docker://") => {
            digest.starts_with("sha256:") && is_hex(&digest[7..], 64)
        }
        Some((_, commit)) => is_hex(commit, 40),
        None => uses.starts_with("./"),
    };
    if !pinned {
        findings.error("unpinned-action", place, format!("{uses:?} is not pinned to a full commit"));
    }
}

pub(crate) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
