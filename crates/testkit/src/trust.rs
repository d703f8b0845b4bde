//! The trust table as data, and the check of a dependency graph against it (DESIGN §1).
//!
//! A binary cannot do what it does not link. Each job's crate may reach the shared crates and those that its row
//! allows, directly or through others, and nothing else of this workspace.

use std::collections::{BTreeMap, BTreeSet};

/// What one job's binary may link besides [`SHARED`], and what of §3 that makes true.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The job's crate.
    pub job: &'static str,
    /// Crates of this workspace that it may reach.
    pub may: &'static [&'static str],
    /// What follows from that.
    pub makes_true: &'static str,
}

/// Crates that every job may link.
pub const SHARED: [&str; 2] = ["daybook-core", "daybook-runner"];

/// The table. A job that is not built yet has its row already.
// DB-3-01, DB-3-04, DB-3-06, DB-3-09, DB-4.2-01
pub const TABLE: [Row; 7] = [
    Row {
        job: "daybook-agent",
        may: &["daybook-store", "daybook-projection", "daybook-branch"],
        makes_true: "the agent job neither writes a memory branch nor compacts",
    },
    Row {
        job: "daybook-merge",
        may: &["daybook-store"],
        makes_true: "merging works on the runner's files and reaches no branch",
    },
    Row {
        job: "daybook-detect",
        may: &["daybook-store"],
        makes_true: "detection reads artifacts and reaches no branch",
    },
    Row {
        job: "daybook-safe-outputs",
        may: &[],
        makes_true: "the safe-output handler only logs and reaches no ledger",
    },
    Row {
        job: "daybook-persist",
        may: &["daybook-store", "daybook-branch", "daybook-publish", "daybook-script"],
        makes_true: "persistence does not compact",
    },
    Row {
        job: "daybook-maintenance-plan",
        may: &["daybook-branch", "daybook-script", "daybook-compaction"],
        makes_true: "planning only reads",
    },
    Row {
        job: "daybook-maintenance-apply",
        may: &["daybook-branch", "daybook-publish", "daybook-compaction"],
        makes_true: "applying runs no script of an author",
    },
];

/// Crates that take bytes, limits, clock values and ids, and touch nothing outside themselves.
pub const PURE: [&str; 4] = ["daybook-core", "daybook-compaction", "daybook-workflow", "daybook-compiler"];

/// Foreign crates that touch the outside: each with the crates of this workspace that may name it.
pub const OUTSIDE: [(&str, &[&str]); 10] = [
    ("git2", &["daybook-branch", "daybook-publish"]),
    ("landlock", &["daybook-script"]),
    ("nix", &["daybook-script"]),
    ("rmcp", &["daybook-agent", "daybook"]),
    ("rusqlite", &["daybook-projection"]),
    (
        "rustix",
        &["daybook-store", "daybook-runner", "daybook-script", "daybook-agent", "daybook-branch", "daybook-publish"],
    ),
    ("seccompiler", &["daybook-script"]),
    (
        "tempfile",
        &["daybook-agent", "daybook-branch", "daybook-publish", "daybook-merge", "daybook-persist", "daybook"],
    ),
    ("tokio", &["daybook-agent", "daybook"]),
    ("ureq", &["daybook-safe-outputs"]),
];

/// The crate that only tests link; it may name anything.
const TESTS: &str = "daybook-testkit";

/// Normal dependencies: each package and the packages it names. Dev and build dependencies are not in it, as they are
/// not in a binary.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// An edge that the table forbids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Who must not reach it.
    pub from: String,
    /// What must not be reached.
    pub to: String,
    /// The chain of packages from one to the other.
    pub path: Vec<String>,
}

/// Every forbidden edge of a graph; none means that the table holds.
#[must_use]
pub fn violations(graph: &Graph) -> Vec<Violation> {
    let mut found = Vec::new();
    for row in &TABLE {
        let allowed = |name: &str| SHARED.contains(&name) || row.may.contains(&name);
        forbid(graph, row.job, |name| is_ours(name) && !allowed(name), &mut found);
    }
    for pure in PURE {
        let outside = |name: &str| OUTSIDE.iter().any(|(foreign, _)| *foreign == name);
        forbid(graph, pure, |name| (is_ours(name) && !PURE.contains(&name)) || outside(name), &mut found);
    }
    for (foreign, owners) in OUTSIDE {
        for (package, names) in graph.iter().filter(|(package, _)| is_ours(package) && *package != TESTS) {
            if names.contains(foreign) && !owners.contains(&package.as_str()) {
                let path = vec![package.clone(), foreign.to_owned()];
                found.push(Violation { from: package.clone(), to: foreign.to_owned(), path });
            }
        }
    }
    found
}

/// The table with what a graph really has, for people: one line for each job.
#[must_use]
pub fn render(graph: &Graph) -> String {
    let mut text = format!("{:<28} {:<64} {}\n", "binary", "links of this workspace", "so that");
    for row in &TABLE {
        let links = if graph.contains_key(row.job) {
            let reached = paths(graph, row.job).into_keys().filter(|name| is_ours(name) && *name != row.job);
            reached.map(|name| name.trim_start_matches("daybook-")).collect::<Vec<_>>().join(" ")
        } else {
            "(not built yet)".to_owned()
        };
        text.push_str(&format!("{:<28} {links:<64} {}\n", row.job, row.makes_true));
    }
    text
}

fn is_ours(name: &str) -> bool {
    name == "daybook" || name.starts_with("daybook-")
}

fn forbid(graph: &Graph, from: &str, is_forbidden: impl Fn(&str) -> bool, found: &mut Vec<Violation>) {
    for (to, path) in paths(graph, from) {
        if to != from && is_forbidden(to) {
            let path = path.into_iter().map(str::to_owned).collect();
            found.push(Violation { from: from.to_owned(), to: to.to_owned(), path });
        }
    }
}

/// Every package that can be reached from one, each with the shortest chain to it.
fn paths<'g>(graph: &'g Graph, from: &'g str) -> BTreeMap<&'g str, Vec<&'g str>> {
    let mut reached = BTreeMap::from([(from, vec![from])]);
    let mut next = vec![from];
    while !next.is_empty() {
        let mut after = Vec::new();
        for package in next {
            let chain = reached.get(package).cloned().unwrap_or_default();
            for name in graph.get(package).into_iter().flatten() {
                if !reached.contains_key(name.as_str()) {
                    reached.insert(name, chain.iter().copied().chain([name.as_str()]).collect());
                    after.push(name.as_str());
                }
            }
        }
        next = after;
    }
    reached
}
