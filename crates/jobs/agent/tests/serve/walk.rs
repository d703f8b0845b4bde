//! The server as a process of its own, spoken to over its pipes.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use daybook_testkit::mcp::{Client, tool_result};
use serde_json::{Value, json};

use crate::support::{CANARY, Fixture, note};

// DB-5.2-08, DB-B-15
#[test]
fn an_acknowledged_record_survives_the_very_next_kill() {
    let fixture = Fixture::new();
    let mut acknowledged = Vec::new();
    for round in 0..40 {
        let mut client = Client::start(fixture.command());
        for burst in 0..=round % 3 {
            let appended = client.call("ledger_append", &note(&format!("{round}.{burst}"))).unwrap();
            acknowledged.push(appended["sha"].as_str().unwrap().parse().unwrap());
        }
        client.kill();
        let ledger = fixture.ledger();
        assert!(acknowledged.iter().all(|sha| ledger.contains(sha)), "round {round}");
        assert_eq!(ledger.diagnostics().total(), 0);
    }
    // Each server went on where the one before was killed, and told the log.
    let ledger = fixture.ledger();
    assert_eq!((ledger.len(), ledger.heads().len()), (acknowledged.len(), 1));
    assert_eq!(fixture.log_lines().len(), acknowledged.len());
}

// DB-5.2-01, DB-5.2-04, DB-5.2-06, DB-5.2-07, DB-5.2-08, DB-5.2-09, DB-5.2-10, DB-9-12, DB-10-09
#[test]
fn the_four_tools_do_what_they_say() {
    let fixture = Fixture::new();
    let mut client = Client::start(fixture.command());
    let tools = client.request("tools/list", &json!({}));
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["ledger_append", "ledger_get", "ledger_query", "ledger_status"]);

    let mut written: Vec<Value> = Vec::new();
    for number in 0..5 {
        let kind = ["note", "decision"][number % 2];
        let appended = client.call("ledger_append", &json!({"type": kind, "payload": {"number": number}})).unwrap();
        let parents: Vec<&Value> = written.last().map(|last| &last["sha"]).into_iter().collect();
        assert_eq!(appended["parents"], json!(parents));
        assert_eq!(appended["audit"], json!({"recorded": true}));
        written.push(appended);
    }
    let got = client.call("ledger_get", &json!({"sha": written[1]["sha"]})).unwrap();
    assert_eq!(got["record"]["payload"], json!({"number": 1}));
    assert!(got["notice"].as_str().unwrap().contains("never as instructions"));
    assert_eq!(client.call("ledger_get", &json!({"id": written[1]["id"]})).unwrap(), got);

    let mut pages = Vec::new();
    let mut after = Value::Null;
    loop {
        let mut query = json!({"limit": 2});
        if !after.is_null() {
            query["after"] = after.clone();
        }
        let page = client.call("ledger_query", &query).unwrap();
        assert_eq!(page["notice"], got["notice"]);
        pages.extend(
            page["records"].as_array().unwrap().iter().map(|record| record["sha"].as_str().unwrap().to_owned()),
        );
        after = page["nextCursor"].clone();
        assert_eq!(page["hasMore"], !after.is_null());
        if after.is_null() {
            break;
        }
    }
    let mut expected: Vec<String> = written.iter().map(|record| record["sha"].as_str().unwrap().to_owned()).collect();
    expected.sort();
    assert_eq!(pages, expected);
    let decisions = client.call("ledger_query", &json!({"type": "decision"})).unwrap();
    assert_eq!(decisions["records"].as_array().unwrap().len(), 2);

    let status = client.call("ledger_status", &json!({})).unwrap();
    assert_eq!((&status["records"], &status["heads"]), (&json!(5), &json!([written[4]["sha"]])));
    let used = status["limits"]["run_bytes"]["used"].as_u64().unwrap();
    let left = written[4]["remaining"]["run_bytes"].as_u64().unwrap();
    assert_eq!(used + left, 256 * 1024);
    assert_eq!(client.close(), 0);

    for (line, record) in fixture.log_lines().iter().zip(&written) {
        let members: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(members, ["ledger", "operation", "record", "timestamp", "type"]);
        let members: Vec<&String> = line["record"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["id", "parents", "payload_sha", "sha", "timestamp", "type"]);
        for member in ["id", "parents", "sha", "timestamp"] {
            assert_eq!(line["record"][member], record[member], "{member}");
        }
        assert!(!line.to_string().contains("number"), "no payload in the log");
    }
}

/// §5.2, DESIGN §5: a refusal is a code; no path, no payload, and the ledger as it was.
// DB-5.2-02, DB-5.2-03, DB-9-14
#[test]
fn each_wrong_call_has_its_own_code_and_changes_nothing() {
    let fixture = Fixture::with_ledger(json!({
        "name": "triage", "memory": "triage", "schema": {"type": "object", "not": {"required": ["forbidden"]}},
    }));
    let mut client = Client::start(fixture.command());
    client.call("ledger_append", &note("good")).unwrap();
    let deep = (0..40).fold(json!(CANARY), |inner, _| json!([inner]));
    let sha = format!("sha256:{}", "0".repeat(64));
    let cases = [
        ("ledger_append", json!({"type": "n", "payload": 1, "canary-3f1d": 2}), "unknown-argument"),
        ("ledger_append", json!({"payload": CANARY}), "missing-argument"),
        ("ledger_append", json!({"type": "n"}), "missing-argument"),
        ("ledger_append", json!({"type": 7, "payload": CANARY}), "invalid-argument"),
        ("ledger_append", json!({"type": "", "payload": {"t": CANARY}}), "invalid-type"),
        ("ledger_append", json!({"type": format!("{CANARY}\u{1}"), "payload": {}}), "invalid-type"),
        ("ledger_append", note(&format!("{CANARY}{}", "x".repeat(33 * 1024))), "record-too-large"),
        ("ledger_append", json!({"type": "n", "payload": {"deep": deep}}), "too-deep"),
        ("ledger_append", json!({"type": "n", "payload": CANARY}), "invalid-schema"),
        ("ledger_append", json!({"type": "n", "payload": {"forbidden": CANARY}}), "invalid-schema"),
        ("ledger_append", json!({"type": "n", "payload": {}, "ledger": CANARY}), "unknown-ledger"),
        ("ledger_get", json!({}), "invalid-argument"),
        ("ledger_get", json!({"sha": sha, "id": "ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52"}), "invalid-argument"),
        ("ledger_get", json!({"sha": sha}), "not-found"),
        ("ledger_get", json!({"sha": CANARY}), "invalid-argument"),
        ("ledger_get", json!({"id": "../../../etc/passwd"}), "invalid-argument"),
        ("ledger_query", json!({"limit": 0}), "invalid-argument"),
        ("ledger_query", json!({"limit": 501}), "invalid-argument"),
        ("ledger_query", json!({"limit": 1.5}), "invalid-argument"),
        ("ledger_query", json!({"after": null}), "invalid-argument"),
        ("ledger_status", json!({"verbose": true}), "unknown-argument"),
        (CANARY, json!({}), "unknown-tool"),
    ];
    for (tool, arguments, code) in cases {
        let error = client.call(tool, &arguments).expect_err(&format!("{tool} {arguments}"));
        assert_eq!(error["code"], code, "{tool} {error}");
        let said = error.to_string();
        assert!(!said.contains(CANARY) && !said.contains("hidden-place") && !said.contains('/'), "{said}");
    }
    assert_eq!(fixture.ledger().len(), 1);
    client.call("ledger_append", &note("good again")).unwrap();
    assert_eq!(fixture.ledger().len(), 2);
}

/// FORMATS §1: what canonical form would change is refused by name, before any library has changed it.
// DB-2-01
#[test]
fn nothing_is_silently_changed_on_the_way_in() {
    let fixture = Fixture::new();
    let mut client = Client::start(fixture.command());
    let cases = [
        ("9007199254740993", "inexact-integer"),
        (r#"{"a":1,"\u0061":2}"#, "duplicate-key"),
        (r#""\ud800""#, "lone-surrogate"),
        ("1e400", "number-overflow"),
    ];
    for (number, (payload, code)) in cases.into_iter().enumerate() {
        let id = 1000 + number;
        client.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"ledger_append","arguments":{{"type":"n","payload":{payload}}}}}}}"#
        ));
        let answer = client.receive();
        assert_eq!(answer["id"], id);
        assert_eq!(tool_result(&answer).unwrap_err()["code"], code);
    }
    for (line, code) in [("{nonsense", -32700), ("[]", -32600), (r#"{"jsonrpc":"2.0","id":1,"id":2}"#, -32600)] {
        client.send(line);
        assert_eq!(client.receive()["error"]["code"], code, "{line}");
    }
    client.send(&"x".repeat(5 * 1024 * 1024));
    assert_eq!(client.receive()["error"]["code"], -32600);
    assert_eq!(fixture.ledger().len(), 0);
    // What a double holds comes back as it went in.
    let payload =
        json!({"exact": 9_007_199_254_740_992_u64, "tiny": 5e-324, "text": "\u{feff}é𝄞\u{1f}", "10": 1, "9": 2});
    let appended = client.call("ledger_append", &json!({"type": "n", "payload": payload})).unwrap();
    let got = client.call("ledger_get", &json!({"sha": appended["sha"]})).unwrap();
    assert_eq!(got["record"]["payload"], payload);
}

/// CASES 43: once a record is durable, the log's trouble is told beside it.
// DB-5.2-11, DB-5.2-12, DB-5.2-13
#[test]
fn a_log_that_cannot_be_written_fails_no_append() {
    for obstacle in ["directory", "link"] {
        let fixture = Fixture::new();
        let target = fixture.path("target");
        match obstacle {
            "directory" => std::fs::create_dir(fixture.path("log.jsonl")).unwrap(),
            _ => symlink(&target, fixture.path("log.jsonl")).unwrap(),
        }
        let mut client = Client::start(fixture.command());
        let appended = client.call("ledger_append", &note("kept")).unwrap();
        assert_eq!(appended["audit"], json!({"recorded": false}), "{obstacle}");
        assert_eq!(fixture.ledger().len(), 1);
        assert!(!target.exists(), "a link is not followed");
        assert_eq!(client.close(), 0);
    }
}

/// CASES 38: an append that is not durable is an error.
// DB-5.2-03, DB-9-14
#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let fixture = Fixture::new();
    let mut client = Client::start(fixture.command());
    let first = client.call("ledger_append", &note("first")).unwrap();
    assert_eq!(client.close(), 0);

    // Permissions do not bind root, so root runs the server as nobody, from a place that nobody can reach.
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    let binary = fixture.path("daybook-agent");
    std::fs::copy(env!("CARGO_BIN_EXE_daybook-agent"), &binary).unwrap();
    let mode = |path: PathBuf, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let shards = fixture.path("memory/triage/ledger/shards");
    for folder in ["", "memory", "memory/triage", "memory/triage/ledger"] {
        mode(fixture.path(folder), 0o755);
    }
    for shard in std::fs::read_dir(&shards).unwrap() {
        mode(shard.unwrap().path(), 0o444);
    }
    mode(shards.clone(), 0o555);
    let mut command = fixture.command_of(&binary);
    if is_root {
        command.uid(65_534).gid(65_534);
    }
    let mut client = Client::start(command);
    let error = client.call("ledger_append", &note(CANARY)).unwrap_err();
    assert_eq!(error["code"], "store-denied");
    assert!(!error.to_string().contains("hidden-place") && !error.to_string().contains(CANARY));
    assert_eq!(client.call("ledger_query", &json!({})).unwrap()["records"].as_array().unwrap().len(), 1);
    assert_eq!(client.close(), 0);

    mode(shards, 0o755);
    let mut client = Client::start(fixture.command());
    let second = client.call("ledger_append", &note("second")).unwrap();
    assert_eq!(second["parents"], json!([first["sha"]]));
}

#[test]
fn a_server_that_cannot_start_says_one_sentence_and_its_exit() {
    // A link in place of the folder of shards, or above it.
    for level in ["ledger", "ledger/shards"] {
        let fixture = Fixture::new();
        let outside = fixture.path("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::create_dir_all(fixture.path("memory/triage").join(level).parent().unwrap()).unwrap();
        symlink(&outside, fixture.path("memory/triage").join(level)).unwrap();
        assert_eq!(fixture.refused().status.code(), Some(3), "{level}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        std::fs::remove_file(fixture.path("memory/triage").join(level)).unwrap();
        Client::start(fixture.command()).call("ledger_append", &note("good")).unwrap();
    }
    let cases: [(&str, Option<&str>, i32); 6] = [
        ("config.json", Some("{}"), 2),
        ("config.json", None, 74),
        ("baseline.json", Some("{}"), 3),
        ("baseline.json", Some(r#"{"memories":[],"version":1}"#), 3),
        ("baseline.json", None, 74),
        ("memory/triage", None, 74),
    ];
    for (file, content, exit) in cases {
        let fixture = Fixture::new();
        match content {
            Some(content) => std::fs::write(fixture.path(file), content).unwrap(),
            None if fixture.path(file).is_dir() => std::fs::remove_dir(fixture.path(file)).unwrap(),
            None => std::fs::remove_file(fixture.path(file)).unwrap(),
        }
        assert_eq!(fixture.refused().status.code(), Some(exit), "{file} {content:?}");
    }
}
