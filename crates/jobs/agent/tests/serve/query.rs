//! `ledger_query` over MCP: filters, pages, time, and what others write meanwhile.

use std::process::Command;

use daybook_core::{Digest, ShardId, json as canonical};
use daybook_testkit::ledgers;
use daybook_testkit::mcp::Client;
use daybook_testkit::random::Random;
use daybook_testkit::vectors;
use serde_json::{Value, json};

use crate::support::{Fixture, note};

fn shas(page: &Value) -> Vec<&str> {
    page["records"].as_array().unwrap().iter().map(|record| record["sha"].as_str().unwrap()).collect()
}

/// Every case of the reference that is text.
// DB-5.2-04, DB-5.2-05, DB-5.2-06, DB-5.2-07
#[test]
fn the_reference_s_queries_have_the_reference_s_answers() {
    let fixture = Fixture::new();
    let document = vectors::document("query");
    let shards = fixture.path("memory/triage/ledger/shards");
    std::fs::create_dir_all(&shards).unwrap();
    let shard = document["shard"].as_str().unwrap();
    std::fs::write(shards.join("00000000-0000-4000-8000-000000000001.jsonl"), shard).unwrap();
    let lines: Vec<&str> = shard.lines().collect();
    let mut client = Client::start(fixture.command());
    let mut held = 0;
    for case in vectors::cases("query").iter().filter(|case| case["query"].is_object()) {
        let name = &case["name"];
        let expected = &case["expected"];
        match client.call("ledger_query", &case["query"]) {
            Err(error) => assert!(expected["error"].is_string(), "{name}: {error}"),
            Ok(page) => {
                let row = |sha: &str| lines.iter().position(|line| line.contains(&format!(r#""sha":"{sha}""#)));
                let rows: Vec<usize> = shas(&page).into_iter().map(|sha| row(sha).unwrap()).collect();
                let ours = json!({"rows": rows, "hasMore": page["hasMore"], "nextCursor": page["nextCursor"]});
                assert_eq!(&ours, expected, "{name}");
            }
        }
        held += 1;
    }
    assert!(held >= 39, "{held}");
    // A payload that is no text is told, not dropped.
    let all = client.call("ledger_query", &json!({})).unwrap();
    let told: Vec<&Value> =
        all["records"].as_array().unwrap().iter().filter(|record| record["unrepresentable"] == true).collect();
    assert_eq!((told.len(), &told[0]["payload"]), (1, &Value::Null));
}

/// CASES 50: pages by digest may miss what is appended between them; the order of time does not.
// DB-B-18
#[test]
fn the_order_of_time_sees_what_two_servers_append() {
    let fixture = Fixture::new();
    let mut one = Client::start(fixture.command());
    let mut other = Client::start(fixture.command());
    assert_eq!(one.call("ledger_query", &json!({"order": "time"})).unwrap()["nextSince"], Value::Null);
    let mut written = vec![one.call("ledger_append", &note("0")).unwrap()["sha"].clone()];
    let latest = one.call("ledger_query", &json!({"order": "time", "limit": 1})).unwrap();
    assert_eq!(json!(shas(&latest)), json!(written));
    let mut since = latest["nextSince"].clone();
    let mut seen: Vec<String> = Vec::new();
    for round in 0..20 {
        let client = if round % 2 == 0 { &mut other } else { &mut one };
        written.push(client.call("ledger_append", &note(&round.to_string())).unwrap()["sha"].clone());
        if round % 3 == 0 {
            let page = one.call("ledger_query", &json!({"since": since, "limit": 2})).unwrap();
            seen.extend(shas(&page).into_iter().map(str::to_owned));
            since = page["nextSince"].clone();
        }
    }
    loop {
        let page = one.call("ledger_query", &json!({"order": "time", "since": since, "limit": 3})).unwrap();
        seen.extend(shas(&page).into_iter().map(str::to_owned));
        since = page["nextSince"].clone();
        if page["hasMore"] == false {
            break;
        }
    }
    let mut expected: Vec<String> = written[1..].iter().map(|sha| sha.as_str().unwrap().to_owned()).collect();
    assert_eq!(seen.len(), expected.len());
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected);
    // A mark is worth nothing to another server, and says nothing about it.
    let error = other.call("ledger_query", &json!({"since": since})).unwrap_err();
    assert_eq!(error["code"], "stale-mark");
    for wrong in [json!({"order": "time", "after": written[0]}), json!({"order": "sha", "since": since})] {
        assert_eq!(one.call("ledger_query", &wrong).unwrap_err()["code"], "invalid-argument");
    }
}

/// What is no longer in the folder is no longer answered, and what changed there is not served.
// DB-5.2-13, DB-9-05
#[test]
fn a_folder_that_is_changed_from_outside_is_read_anew() {
    let fixture = Fixture::new();
    let mut client = Client::start(fixture.command());
    let records = |numbers: &[u32]| -> Value {
        numbers.iter().map(|number| json!({"type": "note", "payload": {"n": number}})).collect()
    };
    client.call("ledger_append", &json!({"records": records(&[1, 2])})).unwrap();
    let shards = fixture.path("memory/triage/ledger/shards");
    let first = std::fs::read_dir(&shards).unwrap().next().unwrap().unwrap().path();
    client.call("ledger_append", &json!({"records": records(&[3, 4, 5])})).unwrap();
    let above = json!({"where": {"payload.n": {"gte": 2}}});
    let numbers = |page: &Value| -> Vec<u64> {
        let mut numbers: Vec<u64> =
            page["records"].as_array().unwrap().iter().map(|record| record["payload"]["n"].as_u64().unwrap()).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(&client.call("ledger_query", &above).unwrap()), [2, 3, 4, 5]);
    let content = std::fs::read_to_string(&first).unwrap();
    std::fs::write(&first, content.replace(r#"{"n":2}"#, r#"{"n":9}"#)).unwrap();
    assert_eq!(numbers(&client.call("ledger_query", &above).unwrap()), [3, 4, 5]);
    std::fs::remove_file(&first).unwrap();
    assert_eq!(numbers(&client.call("ledger_query", &json!({})).unwrap()), [3, 4, 5]);
    std::fs::write(&first, content).unwrap();
    assert_eq!(numbers(&client.call("ledger_query", &json!({})).unwrap()), [1, 2, 3, 4, 5]);
}

/// A database that finds no room costs the query and nothing else.
#[test]
fn a_query_without_room_fails_alone() {
    let fixture = Fixture::new();
    // More than the database keeps in memory.
    let mut random = Random::new(7);
    let payload = canonical::Value::try_from(&json!({"text": "x".repeat(31_000)})).unwrap();
    let shards: Vec<(ShardId, Vec<u8>)> = (0..80)
        .map(|shard| {
            let records = (0..30).map(|number| ledgers::build(&mut random, shard * 100 + number, &[], &payload));
            let lines = records.flat_map(|record| [record.line(), b"\n"].concat()).collect();
            (ShardId::from_digest(&Digest::of(&shard.to_le_bytes())), lines)
        })
        .collect();
    ledgers::write(&fixture.path("memory/triage"), &shards).unwrap();
    let good = fixture.command();
    let mut full = Command::new("/bin/sh");
    full.env_clear().args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    full.arg(good.get_program()).args(good.get_args());
    let mut client = Client::start(full);
    for _ in 0..2 {
        assert_eq!(client.call("ledger_query", &json!({})).unwrap_err()["code"], "projection");
    }
    assert_eq!(client.call("ledger_status", &json!({})).unwrap()["records"], 2_400);
    let mut client = Client::start(good);
    assert_eq!(client.call("ledger_query", &json!({"limit": 1})).unwrap()["hasMore"], true);
}
