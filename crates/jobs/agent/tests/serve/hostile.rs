//! Every argument wrong in every way a JSON value can be wrong; servers that are killed; two clients on one folder.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::thread;

use daybook_core::Digest;
use daybook_testkit::mcp::Client;
use serde_json::{Map, Value, json};

use crate::support::{CANARY, Fixture, note};

/// One value of each kind and size, each with the canary where it can hold one.
fn wrong_values() -> Vec<Value> {
    let deep = |levels: usize| (0..levels).fold(json!(CANARY), |inner, _| json!([inner]));
    let keys = |count: usize| -> Value {
        (0..count)
            .map(|number| (format!("payload.{CANARY}{number}"), json!({"eq": CANARY})))
            .collect::<Map<_, _>>()
            .into()
    };
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(9_007_199_254_740_992_u64),
        json!(""),
        json!(CANARY),
        json!(format!("{CANARY}\u{0}\u{7f}\u{202e}")),
        json!(format!("../../{CANARY}")),
        json!(CANARY.repeat(8_000)),
        json!([]),
        json!([CANARY]),
        json!([null, {CANARY: CANARY}]),
        json!(vec![CANARY; 600]),
        json!({}),
        json!({CANARY: CANARY}),
        json!({"payload.a": CANARY}),
        json!({"payload.a": {CANARY: CANARY}}),
        json!({"payload.a": {"eq": 1, "in": [CANARY]}}),
        json!({"payload.a": {"in": CANARY}}),
        json!({"payload.a": {"in": vec![CANARY; 33]}}),
        json!({"payload.a": {"exists": CANARY}}),
        json!({"payload.a": {"prefix": [CANARY]}}),
        json!({"payload.a": {"gt": {CANARY: 1}}}),
        json!({"payload.a": {"lte": null}}),
        json!({"payload.a": {"eq": CANARY.repeat(200)}}),
        json!({"payload.a' OR 1=1 --": {"eq": CANARY}}),
        json!({"payload": {"eq": CANARY}}),
        keys(9),
        deep(20),
        deep(45),
        deep(80),
    ]
}

/// Every argument of every tool, one wrong at a time: an error with a code, or an answer; never a path, a panic or an
/// echo, and nothing stored by a call that failed.
// DB-5.2-02, DB-5.2-03, DB-9-14
#[test]
fn every_argument_wrong_in_every_way() {
    let fixture = Fixture::new();
    let mut command = fixture.command();
    command.stderr(Stdio::from(std::fs::File::create(fixture.path("stderr.txt")).unwrap()));
    let mut client = Client::start(command);
    let stored = client.call("ledger_append", &note("good")).unwrap();
    let good = [
        ("ledger_append", json!({"type": "note", "payload": {}, "idempotency_key": "k"})),
        ("ledger_append", json!({"records": [{"type": "note", "payload": {}}]})),
        ("ledger_get", json!({"sha": stored["sha"]})),
        ("ledger_get", json!({"id": stored["id"]})),
        ("ledger_query", json!({"type": "n", "where": {}, "limit": 1, "after": stored["sha"], "order": "sha"})),
        ("ledger_query", json!({"order": "time", "since": "x~1~~"})),
        ("ledger_status", json!({"ledger": "triage"})),
    ];
    let names = [
        "type",
        "payload",
        "records",
        "idempotency_key",
        "sha",
        "id",
        "where",
        "limit",
        "after",
        "order",
        "since",
        "ledger",
    ];
    let (mut refused, mut expected) = (0, 1);
    for (tool, arguments) in &good {
        for name in names.into_iter().chain([CANARY]) {
            for value in wrong_values() {
                let mut arguments = arguments.clone();
                arguments[name] = value.clone();
                let answer = client.call(tool, &arguments);
                match &answer {
                    Err(error) => {
                        refused += 1;
                        let code = error["code"].as_str().unwrap_or_default();
                        assert!(!code.is_empty() && code != "internal", "{tool} {name} {value}: {error}");
                        let said = error.to_string();
                        assert!(!said.contains("canary") && !said.contains("hidden-place"), "{tool} {name}: {said}");
                    }
                    Ok(content) => {
                        assert!(!content.to_string().contains("hidden-place"));
                        if *tool == "ledger_append" && content["replayed"] != true {
                            expected += content["records"].as_array().map_or(1, Vec::len);
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 2000, "{refused}");
    // As a whole: no object at all, and none of the tools.
    for arguments in wrong_values().into_iter().filter(|value| !value.is_object()) {
        let answer = client.request("tools/call", &json!({"name": "ledger_status", "arguments": arguments}));
        let failed = answer["result"]["isError"] == true || answer["error"].is_object();
        assert!(failed || arguments.is_null(), "{arguments}: {answer}");
        assert!(!answer.to_string().contains("canary") && !answer.to_string().contains("hidden-place"), "{answer}");
    }
    assert_eq!((fixture.ledger().len(), fixture.ledger().diagnostics().total()), (expected, 0));
    client.call("ledger_append", &note("good again")).unwrap();
    assert_eq!(client.close(), 0);
    let told = std::fs::read_to_string(fixture.path("stderr.txt")).unwrap();
    assert!(!told.contains("canary") && !told.contains("hidden-place") && !told.contains("panicked"), "{told}");
    let log = std::fs::read_to_string(fixture.path("log.jsonl")).unwrap();
    assert!(!log.contains("hidden-place"));
}

/// Servers killed in the middle of bursts: every acknowledged record is there, whole, and told in the log.
#[test]
fn a_hundred_kills_lose_nothing_that_was_acknowledged() {
    let fixture = Fixture::with_ledger(json!({"name": "triage", "memory": "triage", "max-patch-kb": 10_240}));
    let mut acknowledged: Vec<Digest> = Vec::new();
    for round in 0..100 {
        let mut client = Client::start(fixture.command());
        let burst = 4 + round % 5;
        for number in 0..burst {
            let arguments = if number % 3 == 2 {
                json!({"records": [{"type": "note", "payload": round}, {"type": "note", "payload": number}]})
            } else {
                note(&format!("{round}.{number}"))
            };
            let call = json!({"jsonrpc": "2.0", "id": 100 + number, "method": "tools/call", "params": {"name": "ledger_append", "arguments": arguments}});
            client.send(&call.to_string());
        }
        // Some of the burst is answered; the rest dies with the server, wherever it was.
        for _ in 0..=round % 4 {
            let content = daybook_testkit::mcp::tool_result(&client.receive()).unwrap();
            let records = content["records"].as_array().cloned().unwrap_or_else(|| vec![content.clone()]);
            acknowledged
                .extend(records.iter().map(|record| record["sha"].as_str().unwrap().parse::<Digest>().unwrap()));
        }
        client.kill();
        let ledger = fixture.ledger();
        assert!(acknowledged.iter().all(|sha| ledger.contains(sha)), "round {round}");
    }
    let mut client = Client::start(fixture.command());
    let last = client.call("ledger_append", &note("last")).unwrap();
    let ledger = fixture.ledger();
    assert_eq!(ledger.heads().iter().map(ToString::to_string).collect::<Vec<_>>(), [last["sha"].as_str().unwrap()]);
    // A torn tail may remain of an append that nobody was told of; nothing else.
    let torn = ledger.diagnostics().counts().all(|(code, _)| code.name() == "truncated-record");
    assert!(torn, "{:?}", ledger.diagnostics().kept());
    let told: BTreeSet<Digest> = fixture.logged_shas();
    assert!(acknowledged.iter().all(|sha| told.contains(sha)));
}

/// CASES 30, 38: two clients, each with its own server, on one folder.
#[test]
fn ten_thousand_appends_from_two_clients() {
    let fixture = Fixture::with_ledger(json!({
        "name": "triage", "memory": "triage", "max-patch-kb": 10_240, "max-segment-kb": 10_240,
    }));
    let each = 5_000;
    let written: Vec<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..2)
            .map(|client| {
                let command = fixture.command();
                scope.spawn(move || {
                    let mut server = Client::start(command);
                    let append = |number: usize| {
                        let arguments = json!({"type": "note", "payload": {"c": client, "n": number}});
                        server.call("ledger_append", &arguments).unwrap()["sha"].as_str().unwrap().to_owned()
                    };
                    (0..each).map(append).collect::<Vec<String>>()
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let ledger = fixture.ledger();
    assert_eq!((ledger.len(), ledger.diagnostics().total(), ledger.incomplete()), (2 * each, 0, 0));
    assert!(written.iter().all(|sha| ledger.contains(&sha.parse().unwrap())));
    assert_eq!(ledger.heads().len(), 1, "each append names every head, so two servers converge");
    assert_eq!(fixture.logged_shas().len(), 2 * each);
    let mut client = Client::start(fixture.command());
    let last = client.call("ledger_append", &note("last")).unwrap();
    assert_eq!(last["parents"], json!(ledger.heads()));
    let query = json!({"where": {"payload.c": {"eq": 1}, "payload.n": {"gte": 4_990}}});
    assert_eq!(client.call("ledger_query", &query).unwrap()["records"].as_array().unwrap().len(), 10);
}
