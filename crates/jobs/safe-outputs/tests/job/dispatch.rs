//! Requests for compaction against a real server that plays each answer.

use std::time::Instant;

use daybook_testkit::api::{ApiServer, Reply};
use serde_json::{Value, json};

use crate::support::{TOKEN, World, event, records, request};

fn dispatched(server: &ApiServer) -> Vec<Value> {
    let posts = server.requests().into_iter().filter(|request| request.method == "POST");
    posts.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

// DB-5.3-02
#[test]
fn the_request_is_the_one_that_the_api_documents() {
    let server = ApiServer::start(&[Reply::status(204)]);
    let world = World::with_api(&[request("triage"), request("log")], server.url());
    let ended = world.run();
    ended.assert(0, &[]);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let first = &requests[0];
    let path = "/repos/octo/project/actions/workflows/daybook-maintenance.yml/dispatches";
    assert_eq!((first.method.as_str(), first.path.as_str(), first.query.as_str()), ("POST", path, ""));
    for (name, value) in [
        ("authorization", format!("Bearer {TOKEN}")),
        ("accept", "application/vnd.github+json".to_owned()),
        ("content-type", "application/json".to_owned()),
        ("x-github-api-version", "2022-11-28".to_owned()),
    ] {
        assert_eq!(first.header(name), value, "{name}");
    }
    assert!(first.header("user-agent").starts_with("daybook/"), "the API refuses requests without one");
    let body = |ledger: &str| json!({ "ref": "trunk", "inputs": { "operation": "compact_ledger", "ledger": ledger } });
    assert_eq!(dispatched(&server), [body("triage"), body("log")]);
    assert_eq!(ended.report["counts"]["requests-sent"], 2);
    assert_eq!(world.result()["items"][0]["outcome"], "sent");
    assert!(world.summary().contains("| triage | sent | many small segments |"));
}

// DB-3-10, DB-5.2-23, DB-9-10, DB-10-11
#[test]
fn no_line_but_a_request_causes_one() {
    let server = ApiServer::start(&[Reply::status(204)]);
    let mut lines: Vec<String> = records(20).iter().map(|record| event(record, "triage")).collect();
    lines.extend([
        json!({ "type": "ledger_request_compaction", "ledger": "frozen" }).to_string(),
        json!({ "type": "ledger_request_compaction", "ledger": "log", "url": "http://127.0.0.1:1" }).to_string(),
        json!({ "type": "ledger-request-compaction", "ledger": "log" }).to_string(),
        json!({ "type": "dispatch_workflow", "ledger": "log" }).to_string(),
    ]);
    World::with_api(&lines, server.url()).run().assert(8, &["no-compaction", "request-malformed", "type-reserved"]);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_default_branch_is_asked_for_where_nobody_says_it() {
    let repository = Reply::Status(200, Vec::new(), json!({ "default_branch": "main-line" }).to_string());
    let server = ApiServer::start(&[repository, Reply::status(204)]);
    let mut world = World::with_api(&[request("log")], server.url());
    world.variables.retain(|(name, _)| *name != "DAYBOOK_DEFAULT_BRANCH");
    // As an expression of an event without a repository leaves it.
    world.variables.push(("DAYBOOK_DEFAULT_BRANCH", String::new()));
    world.run().assert(0, &[]);
    assert_eq!(
        (server.requests()[0].method.as_str(), server.requests()[0].path.as_str()),
        ("GET", "/repos/octo/project")
    );
    assert_eq!(dispatched(&server)[0]["ref"], "main-line");

    for (reply, exit, code) in [
        (Reply::Status(200, Vec::new(), "{}".to_owned()), 74, "default-branch-unknown"),
        (Reply::Status(200, Vec::new(), json!({ "default_branch": "a b" }).to_string()), 74, "default-branch-unknown"),
        (Reply::status(404), 6, "repository-missing"),
    ] {
        let server = ApiServer::start(&[reply]);
        world.variables[0].1 = server.url().to_owned();
        world.run().assert(exit, &[code]);
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn every_refusal_says_what_to_change_and_is_not_repeated() {
    let moved = Reply::Status(307, vec![("Location", "http://127.0.0.1:9/elsewhere".to_owned())], String::new());
    let told = |status, message: &str| Reply::Status(status, Vec::new(), json!({ "message": message }).to_string());
    for (reply, code, word) in [
        (told(401, "Bad credentials"), "token-refused", "GITHUB_TOKEN"),
        (told(403, "Resource not accessible by integration"), "permission-missing", "actions: write"),
        (told(404, "Not Found"), "workflow-missing", "daybook compile"),
        (
            told(422, "Workflow does not have 'workflow_dispatch' trigger"),
            "workflow-not-dispatchable",
            "workflow_dispatch",
        ),
        (Reply::status(410), "api-refused", "410"),
        (moved, "api-redirected", "GITHUB_API_URL"),
    ] {
        let server = ApiServer::start(&[reply]);
        let comment = r#"{"type":"add_comment"}"#.to_owned();
        let world = World::with_api(&[request("triage"), comment, request("log")], server.url());
        let ended = world.run();
        // Both requests go to one workflow: what the first ran into is said of the second, and it is not sent.
        ended.assert(6, &[code, code]);
        assert!(ended.message().contains(word), "{code}: {}", ended.message());
        assert_eq!(server.requests().len(), 1, "{code}");
        // The rest is kept.
        assert_eq!(world.written("remaining.jsonl").lines().count(), 1, "{code}");
        assert_eq!(world.result()["errors"][0]["code"], code);
        assert!(world.summary().contains(&format!("failed: `{code}`")));
        // The next good run works.
        let server = ApiServer::start(&[Reply::status(204)]);
        World::with_api(&[request("triage")], server.url()).run().assert(0, &[]);
    }
}

#[test]
fn a_token_does_not_follow_a_redirect() {
    let elsewhere = ApiServer::start(&[Reply::status(204)]);
    for status in [301, 302, 303, 307, 308] {
        let location = vec![("Location", format!("{}/repos/octo/other", elsewhere.url()))];
        let server = ApiServer::start(&[Reply::Status(status, location, String::new())]);
        World::with_api(&[request("triage")], server.url()).run().assert(6, &["api-redirected"]);
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

#[test]
fn what_may_pass_is_asked_again_with_a_bound() {
    for passing in [Reply::status(500), Reply::status(503), Reply::Silence, Reply::Noise] {
        let server = ApiServer::start(&[passing, Reply::status(204)]);
        let ended = World::with_api(&[request("triage")], server.url()).run();
        ended.assert(0, &[]);
        assert_eq!((server.requests().len(), &ended.report["counts"]["attempts"]), (2, &json!(2)));
    }
}

#[test]
fn a_server_that_never_answers_is_given_up_and_the_next_run_works() {
    let server = ApiServer::start(&[Reply::Silence]);
    let mut world = World::with_api(&[request("triage")], server.url());
    world.run().assert(74, &["api-unreachable"]);
    assert_eq!(server.requests().len(), 4);
    let server = ApiServer::start(&[Reply::status(204)]);
    world.variables[0].1 = server.url().to_owned();
    world.run().assert(0, &[]);
}

#[test]
fn a_server_that_stays_unavailable_is_given_up() {
    let server = ApiServer::start(&[Reply::status(502)]);
    World::with_api(&[request("triage")], server.url()).run().assert(74, &["api-unavailable"]);
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_server_that_wants_peace_gets_it() {
    let later = |status, name, value: &str| Reply::Status(status, vec![(name, value.to_owned())], String::new());
    for limited in [later(429, "Retry-After", "1"), later(403, "Retry-After", "1")] {
        let server = ApiServer::start(&[limited, Reply::status(204)]);
        let since = Instant::now();
        World::with_api(&[request("triage")], server.url()).run().assert(0, &[]);
        assert!(since.elapsed().as_secs_f64() >= 1.0, "it came back too early");
        assert_eq!(server.requests().len(), 2);
    }
    // A wait without end is not waited for.
    for limited in [later(429, "Retry-After", "86400"), later(403, "X-RateLimit-Remaining", "0")] {
        let Reply::Status(status, mut headers, body) = limited else { unreachable!() };
        headers.push(("X-RateLimit-Reset", "99999999999".to_owned()));
        let server = ApiServer::start(&[Reply::Status(status, headers, body)]);
        let ended = World::with_api(&[request("triage")], server.url()).run();
        ended.assert(74, &["api-rate-limited"]);
        assert_eq!(server.requests().len(), 1);
        assert!(ended.message().contains("seconds"), "{}", ended.message());
    }
}

#[test]
fn one_sent_and_one_failed_is_partial() {
    let server = ApiServer::start(&[Reply::status(204), Reply::status(404)]);
    let world = World::with_api(&[request("triage"), request("log"), "{".to_owned()], server.url());
    world.run().assert(8, &["workflow-missing", "invalid-json"]);
    let outcomes: Vec<Value> =
        world.result()["items"].as_array().unwrap().iter().map(|item| item["outcome"].clone()).collect();
    assert_eq!(outcomes, ["sent", "failed"]);
}

#[test]
fn a_token_or_an_address_that_is_missing_is_named_before_anything_is_sent() {
    let server = ApiServer::start(&[Reply::status(204)]);
    for (name, value, code) in [
        ("GITHUB_TOKEN", "", "token-missing"),
        ("GITHUB_TOKEN", "two words", "token-unusable"),
        ("GITHUB_API_URL", "", "api-address-missing"),
        ("GITHUB_API_URL", "http://forge.example", "api-address-unusable"),
        ("GITHUB_REPOSITORY", "", "api-address-missing"),
        ("GITHUB_REPOSITORY", "octo/project/..", "api-address-unusable"),
        ("DAYBOOK_DEFAULT_BRANCH", "a..b", "default-branch-invalid"),
    ] {
        let mut world = World::with_api(&[request("triage"), r#"{"type":"noop"}"#.to_owned()], server.url());
        let variable = world.variables.iter_mut().find(|variable| variable.0 == name).unwrap();
        variable.1 = value.to_owned();
        let ended = world.run();
        ended.assert(2, &[code]);
        assert!(ended.message().contains(name) || name.starts_with("DAYBOOK"), "{}", ended.message());
        assert_eq!(world.written("remaining.jsonl"), "{\"type\":\"noop\"}\n", "the rest is kept");
    }
    assert_eq!(server.requests().len(), 0);
    // Where nobody asks for compaction, no token is needed.
    World::new(&[r#"{"type":"noop"}"#.to_owned()]).run().assert(0, &[]);
}
