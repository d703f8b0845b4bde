//! The workspace against the trust table: no binary links what its row does not allow.

use cargo_metadata::{DependencyKind, MetadataCommand, PackageId};
use daybook_testkit::trust::{Graph, PURE, TABLE, Violation, render, violations};

/// The normal dependencies of this workspace and of all that it uses, as cargo resolves them.
fn workspace() -> Graph {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).exec().expect("cargo metadata answers");
    let name = |id: &PackageId| {
        metadata.packages.iter().find(|package| package.id == *id).map(|package| package.name.to_string())
    };
    let resolve = metadata.resolve.as_ref().expect("the graph is resolved");
    let mut graph = Graph::new();
    for node in &resolve.nodes {
        let normal =
            node.deps.iter().filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal));
        let names = normal.filter_map(|dep| name(&dep.pkg));
        graph.entry(name(&node.id).expect("every node is a package")).or_default().extend(names);
    }
    graph
}

fn with_edge(graph: &Graph, from: &str, to: &str) -> Vec<Violation> {
    let mut doctored = graph.clone();
    doctored.entry(from.to_owned()).or_default().insert(to.to_owned());
    violations(&doctored)
}

// DB-3-01, DB-3-03, DB-3-04, DB-3-06, DB-3-09, DB-3-10, DB-4.2-01
#[test]
fn every_binary_links_only_what_its_row_allows() {
    let graph = workspace();
    println!("{}", render(&graph));
    assert_eq!(violations(&graph), []);
    for built in [
        "daybook-agent",
        "daybook-merge",
        "daybook-detect",
        "daybook-safe-outputs",
        "daybook-persist",
        "daybook-maintenance-plan",
        "daybook-maintenance-apply",
        "daybook-compaction",
        "daybook-script",
    ] {
        assert!(graph.contains_key(built), "{built} is not in the graph: the check would check nothing");
    }
    assert!(graph["daybook-persist"].contains("daybook-publish"), "the graph has the edges that are there");
    assert!(graph["daybook-publish"].contains("git2"), "the graph reaches beyond the workspace");
}

// DB-3-06, DB-4.2-01
#[test]
fn persist_to_compaction_turns_it_red_directly_and_through_another_crate() {
    let graph = workspace();
    let direct = with_edge(&graph, "daybook-persist", "daybook-compaction");
    assert_eq!(direct[0].path, ["daybook-persist", "daybook-compaction"]);
    // Through a foreign crate, which is no excuse.
    let mut through = graph.clone();
    through.entry("innocent".to_owned()).or_default().insert("daybook-compaction".to_owned());
    through.entry("daybook-store".to_owned()).or_default().insert("innocent".to_owned());
    let found = violations(&through);
    let of_persist = found.iter().find(|violation| violation.from == "daybook-persist").expect("persist turns red");
    assert_eq!(of_persist.path, ["daybook-persist", "daybook-store", "innocent", "daybook-compaction"]);
}

// DB-3-01, DB-3-08, DB-3-09
#[test]
fn planning_cannot_publish_and_applying_cannot_run_a_script() {
    let graph = workspace();
    for (job, links, never) in [
        ("daybook-maintenance-plan", ["daybook-script", "daybook-compaction"], ["daybook-publish", "daybook-store"]),
        ("daybook-maintenance-apply", ["daybook-publish", "daybook-compaction"], ["daybook-script", "daybook-store"]),
    ] {
        assert!(links.iter().all(|link| graph[job].contains(*link)), "{job}: the graph has the edges that are meant");
        for crate_name in never {
            let found = with_edge(&graph, job, crate_name);
            assert!(found.iter().any(|one| one.from == job && one.to == crate_name), "{job} → {crate_name}");
        }
    }
    // Not through the crates that they share, either.
    for (shared, forbidden) in [("daybook-branch", "daybook-script"), ("daybook-compaction", "daybook-publish")] {
        assert!(!with_edge(&graph, shared, forbidden).is_empty(), "{shared} → {forbidden}");
    }
}

#[test]
fn every_row_is_red_for_every_crate_that_it_does_not_name() {
    let graph = workspace();
    let dangerous = [
        "daybook-store",
        "daybook-projection",
        "daybook-branch",
        "daybook-publish",
        "daybook-script",
        "daybook-compaction",
    ];
    for row in &TABLE {
        for crate_name in dangerous {
            let red = with_edge(&graph, row.job, crate_name)
                .iter()
                .any(|violation| violation.from == row.job && violation.to == crate_name);
            assert_eq!(red, !row.may.contains(&crate_name), "{} → {crate_name}", row.job);
        }
        // No job links another one.
        for other in TABLE.iter().filter(|other| other.job != row.job) {
            assert!(!with_edge(&graph, row.job, other.job).is_empty(), "{} → {}", row.job, other.job);
        }
    }
}

#[test]
fn pure_crates_reach_nothing_that_touches_the_outside() {
    let graph = workspace();
    for pure in PURE {
        for io in ["daybook-store", "daybook-branch", "daybook-publish", "daybook-runner", "tokio", "git2"] {
            assert!(!with_edge(&graph, pure, io).is_empty(), "{pure} → {io}");
        }
    }
    assert!(!with_edge(&graph, "daybook-merge", "git2").is_empty(), "only the branch crates name git2");
    for sandbox in ["landlock", "seccompiler"] {
        assert!(graph["daybook-script"].contains(sandbox), "{sandbox}");
        assert!(!with_edge(&graph, "daybook-persist", sandbox).is_empty(), "only the script crate names {sandbox}");
    }
}

// DB-3-04
#[test]
fn only_safe_outputs_speaks_http_and_reaches_no_ledger() {
    let graph = workspace();
    assert!(graph["daybook-safe-outputs"].contains("ureq"), "the graph has the edge that is meant");
    let ours: Vec<&String> = graph["daybook-safe-outputs"].iter().filter(|name| name.starts_with("daybook")).collect();
    assert_eq!(ours, ["daybook-core", "daybook-runner"]);
    for other in ["daybook-agent", "daybook-detect", "daybook-persist", "daybook-runner", "daybook-publish", "daybook"]
    {
        let found = with_edge(&graph, other, "ureq");
        assert!(found.iter().any(|violation| violation.to == "ureq"), "{other} → ureq");
    }
    for foreign in ["git2", "rusqlite", "tokio"] {
        assert!(!with_edge(&graph, "daybook-safe-outputs", foreign).is_empty(), "safe-outputs → {foreign}");
    }
}
