//! The keys that a source may use, as tables. What the compiler reads, what its messages name and what the JSON Schema
//! of editors says come from here.

use daybook_core::config::{PROFILES, ranges};
use daybook_core::limits::{self, Range};

/// What kind of value a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text that must match this pattern.
    Pattern(&'static str),
    Number(Range),
    /// A number of KiB, or a text such as `100KiB`.
    KiB(Range),
    /// A number of bytes, or a text such as `100KiB`.
    Bytes(Range),
    /// A number of minutes, kept in seconds; the range is that of the seconds.
    Minutes(Range),
    /// JavaScript, or the name of a file that holds it.
    Script,
    Bool,
    /// A text, a number, true or false.
    Scalar,
    /// One text or a list of texts.
    Texts,
    /// A map from finding codes to verdicts.
    Findings,
    /// A map, true or false: a JSON Schema; or the name of a file that holds it.
    Schema,
    /// `false`, or a map with the keys of this table.
    FalseOr(&'static [Key]),
    /// A map with the keys of this table.
    Map(&'static [Key]),
    /// A map from names that match this pattern to maps with the keys of this table.
    Named(&'static str, &'static [Key]),
    /// Known, and of no effect on the configuration.
    Ignored,
    /// One memory, several, or true for one with every default.
    Memories,
    /// The events that start a workflow.
    Events,
    /// An expression.
    Condition,
    /// Who may start the agent.
    Roles,
    /// Rights of a token; whether rights to write are among them.
    Permissions(bool),
    /// Variables.
    Env,
    /// Whatever GitHub takes there.
    Free,
    /// Labels of a runner.
    Runner,
    /// Steps of a job.
    Steps,
    /// The script of a step.
    Run,
    /// The action of a step.
    Uses,
    /// What runs as the agent.
    Engine,
    /// MCP servers.
    Servers,
}

/// A key, the member of the configuration that it sets, the kind of its value, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) member: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
}

const fn same(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, member: name, kind, about }
}

const fn renamed(name: &'static str, member: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, member, kind, about }
}

/// The names of a table.
pub(crate) fn names(table: &'static [Key]) -> impl Iterator<Item = &'static str> + Clone {
    table.iter().map(|key| key.name)
}

/// Names of workflows, memories and ledgers.
pub(crate) const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";

/// Names of jobs under `safe-outputs.jobs`.
const OUTPUT_NAME: &str = "^[a-z][a-z0-9_-]{0,63}$";

/// Names of inputs and servers.
pub(crate) const WORD: &str = "^[A-Za-z0-9_-]{1,64}$";

/// What stands on the command line of an engine.
const ARGUMENT: &str = "^[A-Za-z0-9._:/][A-Za-z0-9._:/-]*$";

/// Keys of one ledger under `tools.ledger.<name>`.
pub(crate) const LEDGER: &[Key] = &[
    same("memory", Kind::Text, "The id of the memory that holds it; without one it lives on the branch ledgers/NAME"),
    same("profile", Kind::Word(&PROFILES), "How it is read"),
    same("schema", Kind::Schema, "JSON Schema of every new payload, or the name of a .json file beside the source"),
    same("read-only", Kind::Bool, "Whether the agent may only read it"),
    same("max-shards", Kind::Number(limits::MAX_SHARDS), "Most shards; above it nothing is appended"),
    same("max-segment-kb", Kind::KiB(limits::MAX_SEGMENT), "Largest shard in KiB, or a size such as 100KiB"),
    same("max-record-kb", Kind::KiB(limits::MAX_RECORD), "Largest record in KiB, or a size such as 16KiB"),
    same("max-patch-kb", Kind::KiB(limits::MAX_PATCH), "Most that one run may append in KiB, or a size such as 1MiB"),
    same("compaction", Kind::FalseOr(COMPACTION), "How maintenance turns many shards into few; false turns it off"),
];

const COMPACTION: &[Key] = &[
    same("schedule", Kind::Word(&["daily", "weekly", "manual"]), "When it is due"),
    same("min-segments", Kind::Number(ranges::MIN_SEGMENTS), "Fewest shards that are worth it"),
    same("max-segments", Kind::Number(ranges::MAX_SEGMENTS), "Most shards of one plan"),
    same("script", Kind::Script, "JavaScript that chooses shards, or the name of a file beside the source"),
];

/// Keys of one memory under `tools.repo-memory`.
pub(crate) const MEMORY: &[Key] = &[
    same("id", Kind::Pattern(NAME), "Its name, and that of its folder"),
    renamed("branch-name", "branch", Kind::Text, "Its branch; without one the workflow's name is part of it"),
    same("branch-prefix", Kind::Ignored, "What the name of its branch starts with, in place of memory"),
    same("file-glob", Kind::Texts, "Which ordinary files are kept; without one all are"),
    same("allowed-extensions", Kind::Texts, "Endings of ordinary files that are kept, each with its dot"),
    same(
        "max-file-size",
        Kind::Bytes(ranges::MAX_FILE_SIZE),
        "Largest ordinary file in bytes, or a size such as 50KiB",
    ),
    same("max-file-count", Kind::Number(ranges::MAX_FILE_COUNT), "Most ordinary files"),
    same(
        "max-patch-size",
        Kind::Bytes(ranges::MAX_PATCH_SIZE),
        "Most bytes that one run may change, or a size such as 1MiB",
    ),
    same("create-orphan", Kind::Bool, "Whether a missing branch is created"),
    same("description", Kind::Text, "What it is for; the agent reads this"),
    same("validation", Kind::Map(VALIDATION), "A script that says whether files may be pushed"),
];

const VALIDATION: &[Key] = &[
    same("script", Kind::Script, "JavaScript, or the name of a file beside the source"),
    renamed("timeout-minutes", "timeout-seconds", Kind::Minutes(ranges::TIMEOUT), "Minutes that it may take"),
];

/// Safe outputs that the configuration bounds.
pub(crate) const LEDGER_OUTPUTS: &[Key] = &[LEDGER_MUTATION, REQUEST_COMPACTION];

const LEDGER_MUTATION: Key = same(
    "ledger-mutation",
    Kind::Map(&[same("max", Kind::Number(ranges::MUTATIONS), "Most of one run")]),
    "Appends that a run reports",
);

const REQUEST_COMPACTION: Key = same(
    "ledger-request-compaction",
    Kind::Map(&[same("max", Kind::Number(ranges::REQUESTS), "Most of one run")]),
    "Lets the agent ask for compaction; the safe-outputs job may then start maintenance",
);

/// Safe outputs that are read.
pub(crate) const OUTPUTS: &[Key] = &[
    LEDGER_MUTATION,
    REQUEST_COMPACTION,
    same("jobs", Kind::Named(OUTPUT_NAME, JOB), "Jobs that act on what the agent left, by the type of the outputs"),
];

/// Keys of one job under `safe-outputs.jobs`.
pub(crate) const JOB: &[Key] = &[
    same("description", Kind::Text, "What it does; the agent reads this"),
    same("inputs", Kind::Named(WORD, INPUT), "What the agent has to say"),
    same("permissions", Kind::Permissions(true), "The rights of its token"),
    same("environment", Kind::Free, "A deployment environment, such as one that asks a person"),
    same("runs-on", Kind::Runner, "Its runner"),
    same("timeout-minutes", Kind::Number(minutes(15, 360)), "Minutes that it may take"),
    same("env", Kind::Env, "Variables of its steps"),
    same("steps", Kind::Steps, "Its steps; they read the outputs in the file $DAYBOOK_OUTPUTS"),
];

/// Keys of one input of a job under `safe-outputs.jobs`.
pub(crate) const INPUT: &[Key] = &[
    same("description", Kind::Text, "What it is; the agent reads this"),
    same("required", Kind::Bool, "Whether an output without it is refused"),
    same("type", Kind::Word(INPUT_TYPES), "Its type"),
    same("default", Kind::Scalar, "Its value where the agent says none"),
    same("options", Kind::Texts, "What may be chosen, with the type choice"),
];

/// Types of an input.
pub(crate) const INPUT_TYPES: &[&str] = &["string", "number", "boolean", "array", "choice"];

/// How findings are weighed, under `threat-detection`.
pub(crate) const DETECTION: &[Key] = &[FINDINGS, SUSPICIOUS];

const FINDINGS: Key = same("findings", Kind::Findings, "What a finding makes of the verdict");

const SUSPICIOUS: Key =
    same("suspicious", Kind::Word(&["pass", "refuse"]), "Whether a suspicious run passes with a warning");

/// Keys of `threat-detection`.
const THREAT_DETECTION: &[Key] = &[
    FINDINGS,
    SUSPICIOUS,
    same(
        "steps",
        Kind::Steps,
        "Detection of your own; it writes a verdict to $DAYBOOK_VERDICT_FILE and can only raise it",
    ),
];

/// Top-level keys of a source.
pub(crate) const TOP: &[Key] = &[
    same("name", Kind::Text, "The name for people"),
    same("on", Kind::Events, "The events that start the workflow"),
    same("if", Kind::Condition, "When the agent runs, besides what on and roles say: an expression"),
    same("roles", Kind::Roles, "Who may start the agent by an issue, a comment, a discussion or a review"),
    same("run-name", Kind::Scalar, "The name of one run"),
    same("permissions", Kind::Permissions(false), "What the agent may read; it never holds a right to write"),
    same("env", Kind::Env, "Variables of the agent and of the steps before it"),
    same("environment", Kind::Free, "The deployment environment of the agent's job"),
    same("concurrency", Kind::Free, "Which runs of the agent's job exclude each other"),
    same("runs-on", Kind::Runner, "The runner of the agent's job"),
    same("trusted-runs-on", Kind::Runner, "The runner of all other jobs"),
    same("timeout-minutes", Kind::Number(minutes(20, 330)), "Minutes that the agent may take"),
    same("steps", Kind::Steps, "Steps before the agent"),
    same("engine", Kind::Engine, "What runs as the agent"),
    same("mcp-servers", Kind::Servers, "MCP servers besides Daybook's own"),
    same("tools", Kind::Map(TOOLS), "What the workflow remembers"),
    same("safe-outputs", Kind::Map(OUTPUTS), "What the agent may ask for, and the jobs that do it"),
    same("threat-detection", Kind::Map(THREAT_DETECTION), "How what a run leaves is judged"),
    same(
        "persist-on",
        Kind::Word(&["always", "success"]),
        "Whether what was acknowledged is kept where the agent failed",
    ),
];

/// Tools that are read.
pub(crate) const TOOLS: &[Key] = &[
    same("ledger", Kind::Named(NAME, LEDGER), "Ledgers by their names: append-only records"),
    same("repo-memory", Kind::Memories, "Ordinary files that are kept between runs"),
];

/// Keys of a step.
pub(crate) const STEP: &[Key] = &[
    same("name", Kind::Scalar, "The name for people"),
    same("id", Kind::Pattern("^[A-Za-z_][A-Za-z0-9_-]*$"), "What other steps call it"),
    same("if", Kind::Condition, "When it runs: an expression"),
    same("run", Kind::Run, "A script; expressions go through env"),
    same("uses", Kind::Uses, "An action: owner/repository@version"),
    same("with", Kind::Env, "Inputs of the action"),
    same("env", Kind::Env, "Variables"),
    same("timeout-minutes", Kind::Number(minutes(360, 360)), "Minutes that it may take"),
    same("continue-on-error", Kind::Bool, "Whether the job goes on where it fails"),
    same("shell", Kind::Text, "The shell of the script"),
    same("working-directory", Kind::Scalar, "The folder that it runs in"),
];

/// Keys of `engine`.
pub(crate) const ENGINE: &[Key] = &[
    same("id", Kind::Word(&ENGINE_IDS), "Which engine"),
    same("version", Kind::Pattern(ARGUMENT), "Its version, in place of the one that this Daybook knows"),
    same("model", Kind::Pattern(ARGUMENT), "The model"),
    same("steps", Kind::Steps, "Steps that run the agent, with the engine custom"),
];

/// Engines, the one without a command of ours last.
pub(crate) const ENGINE_IDS: [&str; 5] = ["claude", "copilot", "codex", "gemini", "custom"];

const fn minutes(default: u64, max: u64) -> Range {
    Range { key: "timeout-minutes", default, min: 1, max }
}

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
        let hint = |word| did_you_mean(word, names(TOP));
        assert_eq!(hint("tolos").as_deref(), Some("did you mean \"tools\"?"));
        assert_eq!(hint("safe_outputs").as_deref(), Some("did you mean \"safe-outputs\"?"));
        assert_eq!(hint("Permission").as_deref(), Some("did you mean \"permissions\"?"));
        assert_eq!(hint("zzzzzz"), None);
        assert_eq!(hint(""), None);
    }

    #[test]
    fn no_table_names_a_key_twice() {
        for table in
            [TOP, TOOLS, LEDGER, COMPACTION, MEMORY, VALIDATION, OUTPUTS, JOB, INPUT, THREAT_DETECTION, STEP, ENGINE]
        {
            let mut words: Vec<_> = names(table).collect();
            words.sort_unstable();
            assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{words:?}");
        }
    }
}
