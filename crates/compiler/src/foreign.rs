//! Keys of another product, each with what to write here.

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
