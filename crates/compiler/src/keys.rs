//! The keys that a source may use, as tables.

/// What kind of value a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Bool,
    /// One text or a list of texts.
    Texts,
    /// A map, true or false: a JSON Schema.
    Schema,
    /// `false`, or a map with the keys of this table.
    FalseOr(&'static [Key]),
    /// A map with the keys of this table.
    Map(&'static [Key]),
    /// Known, and of no effect on the configuration.
    Ignored,
}

/// A key, the member of the configuration that it sets, and the kind of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) member: &'static str,
    pub(crate) kind: Kind,
}

const fn same(name: &'static str, kind: Kind) -> Key {
    Key { name, member: name, kind }
}

const fn renamed(name: &'static str, member: &'static str, kind: Kind) -> Key {
    Key { name, member, kind }
}

/// Keys of one ledger under `tools.ledger.<name>`.
pub(crate) const LEDGER: &[Key] = &[
    same("memory", Kind::Text),
    same("profile", Kind::Text),
    same("schema", Kind::Schema),
    same("read-only", Kind::Bool),
    same("max-shards", Kind::Number),
    same("max-segment-kb", Kind::Number),
    same("max-record-kb", Kind::Number),
    same("max-patch-kb", Kind::Number),
    same("compaction", Kind::FalseOr(COMPACTION)),
];

const COMPACTION: &[Key] = &[
    same("schedule", Kind::Text),
    same("min-segments", Kind::Number),
    same("max-segments", Kind::Number),
    same("script", Kind::Text),
];

/// Keys of one memory under `tools.repo-memory`.
pub(crate) const MEMORY: &[Key] = &[
    same("id", Kind::Text),
    renamed("branch-name", "branch", Kind::Text),
    same("file-glob", Kind::Texts),
    same("allowed-extensions", Kind::Texts),
    same("max-file-size", Kind::Number),
    same("max-file-count", Kind::Number),
    same("max-patch-size", Kind::Number),
    same("create-orphan", Kind::Bool),
    same("description", Kind::Ignored),
    same("validation", Kind::Map(VALIDATION)),
];

const VALIDATION: &[Key] = &[same("script", Kind::Text), same("timeout-seconds", Kind::Number)];

/// Safe outputs that the configuration bounds.
pub(crate) const LEDGER_OUTPUTS: &[Key] =
    &[same("ledger-mutation", Kind::Map(MAX)), same("ledger-request-compaction", Kind::Map(MAX))];

const MAX: &[Key] = &[same("max", Kind::Number)];

/// Top-level keys that the configuration is made of.
pub(crate) const READ: &[&str] = &["name", "on", "safe-outputs", "tools"];

/// Top-level keys that GitHub Agentic Workflows documents and that have no effect on the configuration.
pub(crate) const OTHER: &[&str] = &[
    "bots",
    "cache",
    "checkout",
    "concurrency",
    "container",
    "description",
    "disable-model-invocation",
    "engine",
    "env",
    "environment",
    "features",
    "github-app",
    "if",
    "import-schema",
    "imports",
    "infer",
    "inlined-imports",
    "jobs",
    "labels",
    "max-runs",
    "mcp-scripts",
    "mcp-servers",
    "metadata",
    "models",
    "network",
    "observability",
    "permissions",
    "persist-on",
    "plugins",
    "post-steps",
    "pre-agent-steps",
    "pre-steps",
    "private",
    "rate-limit",
    "redirect",
    "resources",
    "roles",
    "run-name",
    "runs-on",
    "runs-on-slim",
    "runtimes",
    "safe-inputs",
    "sandbox",
    "secret-masking",
    "secrets",
    "services",
    "skip-bots",
    "skip-roles",
    "source",
    "steps",
    "strict",
    "timeout-minutes",
    "tracker-id",
    "trusted-runs-on",
    "user-rate-limit",
];

/// Tools that are read.
pub(crate) const TOOLS_READ: &[&str] = &["ledger", "repo-memory"];

/// Tools that are documented and have no effect on the configuration.
pub(crate) const TOOLS_OTHER: &[&str] = &[
    "agentic-workflows",
    "bash",
    "cache-memory",
    "cli-proxy",
    "comment-memory",
    "edit",
    "github",
    "mount-as-clis",
    "playwright",
    "qmd",
    "serena",
    "startup-timeout",
    "timeout",
    "web-fetch",
    "web-search",
];

/// Safe outputs and their settings that are documented and are handled by the author's own jobs.
pub(crate) const OUTPUTS_OTHER: &[&str] = &[
    "actions",
    "add-comment",
    "add-labels",
    "add-reviewer",
    "allowed-domains",
    "allowed-github-references",
    "app",
    "assign-milestone",
    "assign-to-agent",
    "assign-to-user",
    "autofix-code-scanning-alert",
    "call-workflow",
    "close-discussion",
    "close-issue",
    "close-pull-request",
    "concurrency-group",
    "create-agent-session",
    "create-agent-task",
    "create-code-scanning-alert",
    "create-discussion",
    "create-issue",
    "create-project",
    "create-project-status-update",
    "create-pull-request",
    "create-pull-request-review-comment",
    "dispatch-workflow",
    "dispatch-repository",
    "env",
    "environment",
    "failure-issue-repo",
    "footer",
    "github-app",
    "github-token",
    "group-reports",
    "hide-comment",
    "id-token",
    "jobs",
    "link-sub-issue",
    "mark-pull-request-as-ready-for-review",
    "max-bot-mentions",
    "max-patch-size",
    "max-patch-files",
    "mentions",
    "messages",
    "missing-data",
    "missing-tool",
    "needs",
    "noop",
    "push-to-pull-request-branch",
    "remove-labels",
    "reply-to-pull-request-review-comment",
    "report-failure-as-issue",
    "report-incomplete",
    "resolve-pull-request-review-thread",
    "runs-on",
    "scripts",
    "set-issue-field",
    "set-issue-type",
    "staged",
    "steps",
    "submit-pull-request-review",
    "threat-detection",
    "unassign-from-user",
    "update-discussion",
    "update-issue",
    "update-project",
    "update-pull-request",
    "update-release",
    "upload-artifact",
    "upload-asset",
];

/// A hint that names the allowed word most like this one, if one is alike at all.
pub(crate) fn did_you_mean<'a>(word: &str, allowed: impl Iterator<Item = &'a str>) -> Option<String> {
    let word: String =
        word.chars().take(64).flat_map(char::to_lowercase).map(|c| if c == '_' { '-' } else { c }).collect();
    let alike = |other: &&str| {
        let distance = strsim::damerau_levenshtein(&word, other);
        (distance <= (other.len() / 3).clamp(1, 3)).then_some(distance)
    };
    let best = allowed.filter_map(|other| alike(&other).map(|distance| (distance, other))).min()?;
    Some(format!("did you mean {:?}?", best.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_the_nearest_word_or_none() {
        let hint = |word| did_you_mean(word, READ.iter().chain(OTHER).copied());
        assert_eq!(hint("tolos").as_deref(), Some("did you mean \"tools\"?"));
        assert_eq!(hint("safe_outputs").as_deref(), Some("did you mean \"safe-outputs\"?"));
        assert_eq!(hint("Permission").as_deref(), Some("did you mean \"permissions\"?"));
        assert_eq!(hint("zzzzzz"), None);
        assert_eq!(hint(""), None);
    }

    #[test]
    fn no_table_names_a_key_twice() {
        for table in [[READ, OTHER], [TOOLS_READ, TOOLS_OTHER], [&["ledger-mutation"], OUTPUTS_OTHER]] {
            let mut words = table.concat();
            words.sort_unstable();
            assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{words:?}");
        }
    }
}
