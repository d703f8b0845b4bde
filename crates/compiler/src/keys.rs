//! The keys that a source may use, as tables.

/// What kind of value a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    /// A number of KiB, or a text such as `100KiB`.
    KiB,
    /// A number of bytes, or a text such as `100KiB`.
    Bytes,
    /// A number of minutes, kept in seconds.
    Minutes,
    /// JavaScript, or the name of a file that holds it.
    Script,
    Bool,
    /// A text, a number, true or false.
    Scalar,
    /// One text or a list of texts.
    Texts,
    /// A map from any key to a text.
    TextMap,
    /// A map, true or false: a JSON Schema; or the name of a file that holds it.
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
    same("max-segment-kb", Kind::KiB),
    same("max-record-kb", Kind::KiB),
    same("max-patch-kb", Kind::KiB),
    same("compaction", Kind::FalseOr(COMPACTION)),
];

const COMPACTION: &[Key] = &[
    same("schedule", Kind::Text),
    same("min-segments", Kind::Number),
    same("max-segments", Kind::Number),
    same("script", Kind::Script),
];

/// Keys of one memory under `tools.repo-memory`.
pub(crate) const MEMORY: &[Key] = &[
    same("id", Kind::Text),
    renamed("branch-name", "branch", Kind::Text),
    same("branch-prefix", Kind::Ignored),
    same("file-glob", Kind::Texts),
    same("allowed-extensions", Kind::Texts),
    same("max-file-size", Kind::Bytes),
    same("max-file-count", Kind::Number),
    same("max-patch-size", Kind::Bytes),
    same("create-orphan", Kind::Bool),
    same("description", Kind::Text),
    same("validation", Kind::Map(VALIDATION)),
];

const VALIDATION: &[Key] =
    &[same("script", Kind::Script), renamed("timeout-minutes", "timeout-seconds", Kind::Minutes)];

/// Safe outputs that the configuration bounds.
pub(crate) const LEDGER_OUTPUTS: &[Key] =
    &[same("ledger-mutation", Kind::Map(MAX)), same("ledger-request-compaction", Kind::Map(MAX))];

/// Keys of one input of a job under `safe-outputs.jobs`.
pub(crate) const INPUT: &[Key] = &[
    same("description", Kind::Text),
    same("required", Kind::Bool),
    same("type", Kind::Text),
    same("default", Kind::Scalar),
    same("options", Kind::Texts),
];

/// Types of an input.
pub(crate) const INPUT_TYPES: &[&str] = &["string", "number", "boolean", "array", "choice"];

/// How findings are weighed, under `threat-detection`.
pub(crate) const DETECTION: &[Key] = &[same("findings", Kind::TextMap), same("suspicious", Kind::Text)];

const MAX: &[Key] = &[same("max", Kind::Number)];

/// Top-level keys of a source.
pub(crate) const TOP: &[&str] = &[
    "name",
    "on",
    "if",
    "roles",
    "run-name",
    "permissions",
    "env",
    "environment",
    "concurrency",
    "runs-on",
    "trusted-runs-on",
    "timeout-minutes",
    "steps",
    "engine",
    "mcp-servers",
    "tools",
    "safe-outputs",
    "threat-detection",
    "persist-on",
];

/// Tools that are read.
pub(crate) const TOOLS: &[&str] = &["ledger", "repo-memory"];

/// Keys that GitHub Agentic Workflows has and that are refused here, with what to write instead.
pub(crate) const FOREIGN: &[(&str, &str)] = &[
    ("imports", "write the settings into this file; what a source compiles to depends on nothing else"),
    ("network", "the agent's network is the runner's; choose the runner with runs-on"),
    ("sandbox", "the agent's job is its sandbox; choose the runner with runs-on"),
    ("jobs", "write jobs that act on the agent's outputs under safe-outputs.jobs"),
    ("post-steps", "steps after the agent belong into a job under safe-outputs.jobs"),
    ("services", "start what the agent needs in steps"),
    ("container", "start what the agent needs in steps"),
    ("cache", "write a step that restores the cache"),
    ("secrets", "name a secret where it is used, as ${{ secrets.NAME }} in env"),
    ("strict", "every check is always on"),
    ("description", "write it into the text below the frontmatter"),
    ("source", "leave it out"),
];

/// Tools of GitHub Agentic Workflows that are refused here, with what to write instead.
pub(crate) const FOREIGN_TOOLS: &[(&str, &str)] = &[
    ("github", "add a GitHub server under mcp-servers, and the rights that it needs under permissions"),
    ("playwright", "add it under mcp-servers"),
    ("bash", "which commands the agent may run is a setting of its engine"),
    ("edit", "which files the agent may edit is a setting of its engine"),
    ("web-fetch", "which pages the agent may read is a setting of its engine"),
    ("web-search", "which pages the agent may read is a setting of its engine"),
    ("cache-memory", "use repo-memory"),
    ("comment-memory", "use repo-memory or ledger"),
    ("agentic-workflows", "add a server under mcp-servers"),
];

/// What the word of a table of refused keys should be replaced by.
pub(crate) fn instead(table: &'static [(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|row| row.0 == word).map(|row| row.1)
}

/// Safe outputs and settings that are read.
pub(crate) const OUTPUTS: &[&str] = &["ledger-mutation", "ledger-request-compaction", "jobs"];

/// A hint that names the allowed word most like this one, if one is alike at all.
#[must_use]
pub fn did_you_mean<'a>(word: &str, allowed: impl Iterator<Item = &'a str>) -> Option<String> {
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
        let hint = |word| did_you_mean(word, TOP.iter().copied());
        assert_eq!(hint("tolos").as_deref(), Some("did you mean \"tools\"?"));
        assert_eq!(hint("safe_outputs").as_deref(), Some("did you mean \"safe-outputs\"?"));
        assert_eq!(hint("Permission").as_deref(), Some("did you mean \"permissions\"?"));
        assert_eq!(hint("zzzzzz"), None);
        assert_eq!(hint(""), None);
    }

    #[test]
    fn no_table_names_a_key_twice() {
        for table in [&[TOP, TOOLS][..], &[OUTPUTS]] {
            let mut words = table.concat();
            words.sort_unstable();
            assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{words:?}");
        }
    }
}
