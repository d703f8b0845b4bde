//! The job over HTTP, as it runs against a forge: tokens, permissions, servers that fail.

use std::sync::atomic::Ordering;

use daybook_testkit::web::{GitServer, TOKEN};

use crate::support::{BRANCH, Run, World, record};

/// A remote behind a server, and a run with one new record.
fn served() -> (World, GitServer, Run) {
    let world = World::new("sha1");
    world.bare.git(&["config", "http.receivepack", "true"]);
    let server = GitServer::start(world.folder.path());
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]);
    run.remote = Some(server.url("remote.git"));
    run.environment = vec![("DAYBOOK_TOKEN".to_owned(), TOKEN.to_owned())];
    (world, server, run)
}

// DB-9-14, DB-B-16
#[test]
fn the_token_opens_the_way_and_leaves_no_trace() {
    let (world, _server, mut run) = served();
    let good = std::mem::take(&mut run.environment);
    world.persist(&run).assert(6, &["remote-unauthorized"]);
    run.environment = vec![("GITHUB_TOKEN".to_owned(), "wrong".to_owned())];
    let outcome = world.persist(&run);
    outcome.assert(6, &["remote-unauthorized"]);
    assert!(!format!("{}{}", outcome.report, outcome.stderr).contains("wrong"));
    run.options = vec!["--token-env".to_owned(), "MEMORY_TOKEN".to_owned()];
    run.environment.clone_from(&good);
    world.persist(&run).assert(2, &["remote-bad-token"]);
    assert_eq!(world.bare.head(BRANCH), None);
    run.options.clear();
    world.persist(&run).assert(0, &[]);
    assert_eq!(world.ledger().len(), 1);
}

/// CASES 21: a read-only token is told the permission and the setting.
#[test]
fn a_token_that_may_only_read_is_told_what_it_lacks() {
    let (world, server, run) = served();
    server.behaviour.read_only.store(true, Ordering::SeqCst);
    let outcome = world.persist(&run);
    outcome.assert(6, &["permission"]);
    let message = outcome.report["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("contents: write") && message.contains("Workflow permissions"), "{message}");
    assert_eq!((outcome.count("attempts"), world.bare.head(BRANCH)), (1, None));
    server.behaviour.read_only.store(false, Ordering::SeqCst);
    world.persist(&run).assert(0, &[]);
}

#[test]
fn a_lost_answer_and_a_server_that_is_away_for_a_moment_cost_an_attempt_each() {
    let (world, server, run) = served();
    server.behaviour.unavailable.store(1, Ordering::SeqCst);
    server.behaviour.lost_answers.store(1, Ordering::SeqCst);
    let outcome = world.persist(&run);
    outcome.assert(0, &[]);
    assert_eq!((outcome.count("accepted"), outcome.count("attempts")), (1, 3));
    assert_eq!(world.bare.git(&["rev-list", "--count", BRANCH]), "1");
    assert_eq!(outcome.report["ledgers"][0]["commit"].as_str(), world.bare.head(BRANCH).as_deref());
}

#[test]
fn a_server_that_stays_away_ends_the_job_with_nothing_changed() {
    let (world, server, run) = served();
    server.behaviour.unavailable.store(1000, Ordering::SeqCst);
    let outcome = world.persist(&run);
    outcome.assert(74, &["remote-server"]);
    assert_eq!(outcome.count("attempts"), 4);
    server.behaviour.unavailable.store(0, Ordering::SeqCst);
    world.persist(&run).assert(0, &[]);
}

/// CASES 11: the server is whatever the environment names.
#[test]
fn without_a_remote_the_servers_own_address_counts() {
    let (world, server, mut run) = served();
    std::fs::create_dir(world.folder.path().join("example")).unwrap();
    std::os::unix::fs::symlink(world.bare.path(), world.folder.path().join("example/project")).unwrap();
    run.remote = Some(String::new());
    run.environment.push(("GITHUB_SERVER_URL".to_owned(), server.url("").trim_end_matches('/').to_owned()));
    run.environment.push(("GITHUB_REPOSITORY".to_owned(), "example/project".to_owned()));
    world.persist(&run).assert(0, &[]);
    assert_eq!(world.ledger().len(), 1);
    run.environment.pop();
    world.persist(&run).assert(2, &["remote-missing"]);
}
