//! Refusals that no retry will change, each with what to change instead.

use std::fmt;

/// A refusal of the remote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denial {
    /// Stable code of the rule: lower-case words with dashes.
    pub rule: &'static str,
    /// What to change.
    pub advice: &'static str,
    /// What the remote said: at most 1,000 characters, foreign text.
    pub said: String,
}

impl fmt::Display for Denial {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the remote refused ({}): {}", self.rule, self.advice)?;
        if self.said.is_empty() { Ok(()) } else { write!(out, "; it said: {}", self.said) }
    }
}

/// One row: phrase, rule, advice.
type Row = (&'static str, &'static str, &'static str);

/// Refusals with a rule's number, and those that look like a race but last. They come before the signs of a race.
pub(crate) const LASTING: &[Row] = &[
    ("GH001", "GH001-large-file", "a file is larger than the server takes; lower max-segment-kb or max-file-size"),
    (
        "GH006",
        "GH006-protected-branch",
        "the branch is protected; exempt it from the protection, or let this workflow's token push to it",
    ),
    ("GH007", "GH007-private-email", "the server blocks commits that show a private address"),
    (
        "GH008",
        "GH008-large-file-storage",
        "the commit names objects of large file storage that the server does not have",
    ),
    (
        "GH013",
        "GH013-repository-rule",
        "a ruleset covers the branch; exclude the branch from it, or let this workflow's token bypass it",
    ),
    (
        "; cannot create",
        "branch-name-taken",
        "another branch's name is the beginning of this one, or the other way round; rename one of them",
    ),
];

/// Signs that the branch is elsewhere by now.
pub(crate) const MOVED: &[&str] = &[
    "cannot lock ref",
    "expected branch to point to",
    "stale info",
    "fetch first",
    "non-fast-forward",
    "reference already exists",
    "incorrect old value",
    "failed to update ref",
    "remote ref updated since",
];

/// Refusals of a size; a server may break off the talk instead of reporting them.
pub(crate) const TOO_LARGE: &[Row] = &[
    ("file size limit", "file-size", "a file is larger than the server takes; lower max-segment-kb or max-file-size"),
    (
        "maximum allowed size",
        "push-size",
        "the push is larger than the server takes; lower max-patch-kb or max-patch-size",
    ),
    ("error: 413", "push-size", "the push is larger than the server takes; lower max-patch-kb or max-patch-size"),
];

/// Refusals without a number.
pub(crate) const REFUSED: &[Row] = &[
    (
        "rule violations",
        "repository-rule",
        "a ruleset covers the branch; exclude the branch from it, or let this workflow's token bypass it",
    ),
    (
        "protected branch",
        "protected-branch",
        "the branch is protected; exempt it, or let this workflow's token push to it",
    ),
    ("to create or update workflow", "workflow-permission", "the token may not change workflow files"),
    ("error: 401", "credentials", "the remote wants other credentials; is the token set and still valid?"),
    ("Authentication failed", "credentials", "the remote wants other credentials; is the token set and still valid?"),
    ("could not read Username", "credentials", "the remote wants credentials; set the token"),
    ("unable to get password", "credentials", "the remote wants credentials; set the token"),
    ("Permission denied (publickey", "credentials", "the remote wants other credentials; is the key known there?"),
    (
        "error: 403",
        "permission",
        "the token may not write; give the job `contents: write`, and allow it under Settings, Actions, Workflow permissions",
    ),
    (
        "Write access to repository not granted",
        "permission",
        "the token may not write; give the job `contents: write`, and allow it under Settings, Actions, Workflow permissions",
    ),
    ("checked out branch", "checked-out-branch", "the branch is checked out in the remote; use a bare repository"),
    ("hidden ref", "hidden-reference", "the server hides this reference; choose another branch"),
    ("shallow update not allowed", "shallow-update", "the server lost the history that the branch builds on"),
    ("hook declined", "hook", "a hook of the server said no"),
    ("unpacker error", "unpack", "the server could not store the objects; its disk or quota may be full"),
    ("[remote rejected]", "rejected", "the server said no"),
    ("[rejected]", "rejected", "git said no"),
];

/// The refusal that a phrase of the answer stands for.
pub(crate) fn find(table: &[Row], answer: &str) -> Option<Denial> {
    let (_, rule, advice) = table.iter().find(|row| answer.contains(row.0))?;
    Some(Denial { rule, advice, said: said(answer) })
}

/// The lines that the server sent, as one line of bounded length.
fn said(answer: &str) -> String {
    let lines = answer.lines().filter_map(|line| line.trim().strip_prefix("remote:"));
    let text: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    text.join(" / ").chars().take(1000).collect()
}
