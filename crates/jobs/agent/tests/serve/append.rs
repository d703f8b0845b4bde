//! `ledger_append` over MCP: batches, keys, several ledgers, budgets.

use daybook_testkit::mcp::Client;
use serde_json::{Value, json};

use crate::support::{CANARY, Fixture, note};

fn shard_count(fixture: &Fixture) -> usize {
    std::fs::read_dir(fixture.path("memory/triage/ledger/shards")).into_iter().flatten().count()
}

#[test]
fn a_batch_is_one_shard_all_or_nothing_with_one_event_each() {
    let fixture = Fixture::with_ledger(json!({
        "name": "triage", "memory": "triage", "max-patch-kb": 16, "schema": {"type": "object"},
    }));
    let mut client = Client::start(fixture.command());
    let first = client.call("ledger_append", &note("first")).unwrap();
    let batch = |payloads: Vec<Value>| {
        let records: Vec<Value> =
            payloads.into_iter().map(|payload| json!({"type": "note", "payload": payload})).collect();
        json!({"records": records})
    };
    let answer = client.call("ledger_append", &batch((0..5).map(|number| json!({"n": number})).collect())).unwrap();
    let written = answer["records"].as_array().unwrap();
    assert_eq!((written.len(), shard_count(&fixture)), (5, 2));
    // Chained in the order in which they were given, one event each.
    let mut parent = &first["sha"];
    for record in written {
        assert_eq!(record["parents"], json!([parent]));
        parent = &record["sha"];
    }
    let events: Vec<Value> = fixture.log_lines().iter().map(|line| line["record"]["sha"].clone()).collect();
    let expected: Vec<&Value> = std::iter::once(&first["sha"]).chain(written.iter().map(|row| &row["sha"])).collect();
    assert_eq!(json!(events), json!(expected));

    // The last record of each of these is refused, so none is stored.
    let refused = [
        (batch(vec![json!({"n": 1}), json!(CANARY)]), "invalid-schema"),
        (batch(vec![json!({"n": 1}), json!({"big": "x".repeat(40_000)})]), "record-too-large"),
        (batch((0..2).map(|_| json!({"big": "x".repeat(9_000)})).collect()), "patch-exceeded"),
        (batch(vec![]), "invalid-argument"),
        (batch((0..101).map(|number| json!({"n": number})).collect()), "invalid-argument"),
        (json!({"records": {}}), "invalid-argument"),
        (json!({"records": [{"type": "note"}]}), "missing-argument"),
        (json!({"records": [{"type": "note", "payload": {}, "canary-3f1d": 1}]}), "unknown-argument"),
        (json!({"records": [CANARY]}), "invalid-argument"),
        (json!({"records": [{"type": "note", "payload": {}}], "type": "note"}), "invalid-argument"),
    ];
    for (arguments, code) in refused {
        let error = client.call("ledger_append", &arguments).unwrap_err();
        assert_eq!(error["code"], code);
        assert!(!error.to_string().contains(CANARY));
        assert_eq!((fixture.ledger().len(), fixture.log_lines().len(), shard_count(&fixture)), (6, 6, 2), "{code}");
    }
    let last = client.call("ledger_append", &note("last")).unwrap();
    assert_eq!(last["parents"], json!([written[4]["sha"]]));
}

#[test]
fn a_key_stores_its_content_once() {
    let fixture = Fixture::new();
    let mut client = Client::start(fixture.command());
    let with_key = |text: &str, key: &Value| json!({"type": "note", "payload": {"text": text}, "idempotency_key": key});
    let first = client.call("ledger_append", &with_key("once", &json!("k1"))).unwrap();
    let again = client.call("ledger_append", &with_key("once", &json!("k1"))).unwrap();
    assert_eq!((&again["sha"], &again["id"], &again["replayed"]), (&first["sha"], &first["id"], &json!(true)));
    assert_eq!(first.get("replayed"), None);
    let batch = json!({"records": [{"type": "note", "payload": {"text": "once"}}], "idempotency_key": "k1"});
    for other in [with_key(CANARY, &json!("k1")), batch] {
        assert_eq!(client.call("ledger_append", &other).unwrap_err()["code"], "idempotency-conflict");
    }
    for wrong in [json!(""), json!("k".repeat(129)), json!(1), json!(null)] {
        assert_eq!(client.call("ledger_append", &with_key("x", &wrong)).unwrap_err()["code"], "invalid-argument");
    }
    assert_eq!((fixture.ledger().len(), fixture.log_lines().len()), (1, 1));
    // A refused call holds no key.
    let large = "x".repeat(40_000);
    assert_eq!(client.call("ledger_append", &with_key(&large, &json!("k2"))).unwrap_err()["code"], "record-too-large");
    client.call("ledger_append", &with_key("fits", &json!("k2"))).unwrap();
    // Keys are a process's own.
    assert_eq!(client.close(), 0);
    let mut client = Client::start(fixture.command());
    assert_ne!(client.call("ledger_append", &with_key("once", &json!("k1"))).unwrap()["sha"], first["sha"]);
}

#[test]
fn with_several_ledgers_each_call_names_one() {
    let fixture = Fixture::with_ledgers(&[
        json!({"name": "triage", "memory": "triage"}),
        json!({"name": "archive", "memory": "archive", "read-only": true}),
    ]);
    let mut client = Client::start(fixture.command());
    let tools = client.request("tools/list", &json!({}));
    for tool in tools["result"]["tools"].as_array().unwrap() {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["properties"]["ledger"]["enum"], json!(["triage", "archive"]), "{tool}");
        assert!(schema["required"].as_array().unwrap().contains(&json!("ledger")));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    let to = |ledger: &str, mut arguments: Value| {
        arguments["ledger"] = ledger.into();
        arguments
    };
    assert_eq!(client.call("ledger_append", &note("x")).unwrap_err()["code"], "missing-argument");
    assert_eq!(client.call("ledger_status", &json!({})).unwrap_err()["code"], "missing-argument");
    let appended = client.call("ledger_append", &to("triage", note("x"))).unwrap();
    assert_eq!(client.call("ledger_append", &to("archive", note("x"))).unwrap_err()["code"], "read-only");
    assert!(!fixture.path("memory/archive/ledger").exists(), "nothing is made in a ledger that is only read");
    let get = json!({"sha": appended["sha"]});
    assert!(client.call("ledger_get", &to("triage", get.clone())).is_ok());
    assert_eq!(client.call("ledger_get", &to("archive", get)).unwrap_err()["code"], "not-found");
    assert_eq!(client.call("ledger_status", &to("archive", json!({}))).unwrap()["read_only"], true);
    assert_eq!(fixture.log_lines()[0]["ledger"], "triage");
}

/// CASES 29: how full a ledger is, and whether its compaction waits, is there to be seen.
#[test]
fn the_status_tells_what_is_left_and_when_compaction_was() {
    let fixture = Fixture::with_ledger(json!({
        "name": "triage", "memory": "triage", "max-shards": 3, "compaction": {"schedule": "daily"},
    }));
    let mut client = Client::start(fixture.command());
    let status = client.call("ledger_status", &json!({})).unwrap();
    assert_eq!(status["limits"]["shards"], json!({"used": 0, "limit": 3, "left": 3}));
    assert_eq!(status["limits"]["segment_bytes"], json!({"used": 0, "limit": 102_400, "left": 102_400}));
    assert_eq!(status["compaction"]["overdue"], true);
    assert_eq!(status["compaction"]["last"], Value::Null);
    let plain = Fixture::new();
    let mut other = Client::start(plain.command());
    let first = other.call("ledger_append", &json!({"type": "note", "payload": 1})).unwrap();
    let second = other.call("ledger_append", &json!({"type": "note", "payload": 1})).unwrap();
    let left = |answer: &Value, budget: &str| answer["remaining"][budget].as_u64().unwrap();
    assert_eq!((left(&first, "events"), left(&second, "events")), (999, 998));
    assert_eq!(left(&first, "shards"), left(&second, "shards"), "one segment takes both");
    let used = other.call("ledger_status", &json!({})).unwrap()["limits"]["segment_bytes"]["used"].as_u64().unwrap();
    assert_eq!(used + left(&second, "segment_bytes"), 102_400);
    assert!(left(&first, "segment_bytes") > left(&second, "segment_bytes"));
    for left in [2, 1, 0] {
        let batch = json!({"records": [{"type": "note", "payload": left}]});
        assert_eq!(client.call("ledger_append", &batch).unwrap()["remaining"]["shards"], left);
    }
    let batch = json!({"records": [{"type": "note", "payload": 0}]});
    assert_eq!(client.call("ledger_append", &batch).unwrap_err()["code"], "shard-bound");

    let folder = fixture.path("memory/triage/ledger/compaction");
    std::fs::create_dir(&folder).unwrap();
    let id = format!("sha256:{}", "a".repeat(64));
    let state = |last: &str| {
        json!({"last_applied_at": last, "last_plan_id": id, "last_trigger": "scheduled", "ledger": "triage",
            "recent_plan_ids": [id], "version": "gh-aw/ledger-compaction-state/v1"})
        .to_string()
    };
    let long_ago = "2020-01-01T00:00:00.000Z";
    for (content, last, readable) in [
        (state(long_ago), json!(long_ago), true),
        (state("2999-01-01T00:00:00.000Z"), json!("2999-01-01T00:00:00.000Z"), true),
        (CANARY.to_owned(), Value::Null, false),
        ("x".repeat(70_000), Value::Null, false),
    ] {
        std::fs::write(folder.join("state.json"), content).unwrap();
        let told = client.call("ledger_status", &json!({})).unwrap();
        let compaction = &told["compaction"];
        assert_eq!((&compaction["last"], &compaction["overdue"]), (&last, &json!(true)));
        assert_eq!(compaction["state_readable"], readable);
        assert!(!told.to_string().contains(CANARY));
    }
}

/// CASES 3, 16: from 80 percent of a bound on there is a word of it while the agent can still act, by the measure that
/// decides in the end.
#[test]
fn the_status_measures_ordinary_files_as_persistence_does() {
    let fixture = Fixture::new();
    std::fs::write(fixture.path("memory/triage/old.md"), "a line\n".repeat(10_000)).unwrap();
    let mut client = Client::start(fixture.command());
    let files = |client: &mut Client| client.call("ledger_status", &json!({})).unwrap()["files"].clone();
    let before = files(&mut client);
    assert_eq!(before["limits"]["max-file-count"], json!({"used": 1, "limit": 100, "left": 99}));
    assert_eq!((&before["limits"]["max-patch-size"]["used"], &before["nearly_full"]), (&json!(0), &json!([])));

    std::fs::write(fixture.path("memory/triage/old.md"), "a line\n".repeat(10_000) + "one more\n").unwrap();
    std::fs::write(fixture.path("memory/triage/near.md"), "x".repeat(90_000)).unwrap();
    std::fs::write(fixture.path(&format!("memory/triage/{CANARY}.sh")), "exit\n").unwrap();
    let after = files(&mut client);
    assert_eq!(after["limits"]["max-patch-size"]["used"], 90_009);
    assert_eq!(after["nearly_full"], json!(["max-file-size"]));
    assert_eq!(after["set_aside"], json!({"allowed-extensions": 1}));
    assert!(!after.to_string().contains(CANARY), "names are the agent's");
}
