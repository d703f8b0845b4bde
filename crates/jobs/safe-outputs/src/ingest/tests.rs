use daybook_core::{Record, RecordId};
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;
use serde_json::{Value as Json, json};

use super::*;

const CANARY: &str = "canary-51b7";

fn config() -> Config {
    let text = json!({
        "version": 1, "workflow": "w",
        "ledgers": [{"name": "triage"}, {"name": "archive", "compaction": false}, {"name": "log"}],
        "safe-outputs": {"ledger-mutation": {"max": 3}, "ledger-request-compaction": {"max": 2}},
    });
    Config::parse(text.to_string().as_bytes()).unwrap()
}

fn one_ledger() -> Config {
    Config::parse(br#"{"version":1,"workflow":"w","ledgers":[{"name":"triage"}]}"#).unwrap()
}

fn records(count: usize) -> Vec<Record> {
    let mut random = Random::new(7);
    (0..count).map(|number| ledgers::record(&mut random, number, &[], 200)).collect()
}

fn event(record: &Record, ledger: Option<&str>) -> String {
    MutationEvent::for_record(ledger, record, "2026-11-30T12:00:00.000Z").to_line()
}

fn read(lines: &[String]) -> Ingested {
    ingest(lines.join("\n").as_bytes(), &config())
}

/// The codes of all faults, in their order.
fn codes(found: &Ingested) -> Vec<String> {
    found.faults.to_json().iter().map(|entry| entry["code"].as_str().unwrap().to_owned()).collect()
}

fn remaining(found: &Ingested) -> &str {
    std::str::from_utf8(&found.remaining).unwrap()
}

#[test]
fn other_outputs_are_passed_on_in_canonical_form_and_counted() {
    let found = read(&[
        r#" { "type" : "add_comment", "body": "a \u0041 \/ b", "n": 1.0 } "#.to_owned(),
        String::new(),
        r#"{"type":"noop"}"#.to_owned(),
        "{\"type\":\"add_comment\",\"body\":\"\u{202e}\",\"x\":[{\"type\":\"noop\"}]}\r".to_owned(),
    ]);
    let expected = "{\"body\":\"a A / b\",\"n\":1,\"type\":\"add_comment\"}\n{\"type\":\"noop\"}\n\
                    {\"body\":\"\u{202e}\",\"type\":\"add_comment\",\"x\":[{\"type\":\"noop\"}]}\n";
    assert_eq!(remaining(&found), expected);
    assert_eq!((found.lines, found.passed_on(), codes(&found)), (3, 3, vec![]));
    assert_eq!(found.types, [("add_comment".to_owned(), 2), ("noop".to_owned(), 1)].into());
}

#[test]
fn types_are_counted_in_a_harmless_spelling_and_not_without_bound() {
    let mut lines: Vec<String> = (0..100).map(|number| format!(r#"{{"type":"t{number}"}}"#)).collect();
    lines.push(r#"{"type":"t1"}"#.to_owned());
    lines.insert(0, format!(r#"{{"type":"::error::{}\u202e"}}"#, "x".repeat(500)));
    let found = read(&lines);
    assert_eq!((found.types.len(), found.other_types, found.passed_on()), (MAX_TYPES, 37, 102));
    assert_eq!(found.types["t1"], 2);
    assert!(found.types.keys().all(|kind| kind.chars().count() <= MAX_TEXT + 4 && !kind.contains("::")));
}

#[test]
fn what_is_no_output_is_named_by_line_and_never_by_text() {
    let deep = format!("{{\"type\":\"x\",\"v\":{}1{}}}", "[".repeat(40), "]".repeat(40));
    let rows: Vec<(String, &str)> = vec![
        (CANARY.to_owned(), "invalid-json"),
        ("\u{feff}{\"type\":\"x\"}".to_owned(), "invalid-json"),
        (format!(r#"{{"type":"x","type":"{CANARY}"}}"#), "duplicate-key"),
        (r#"{"type":"x","v":12345678901234567890}"#.to_owned(), "inexact-integer"),
        (r#"{"type":"x","v":1e999}"#.to_owned(), "number-overflow"),
        (r#"{"type":"x","v":"\ud800"}"#.to_owned(), "lone-surrogate"),
        (deep, "too-deep"),
        (format!(r#"["{CANARY}"]"#), "not-an-object"),
        ("null".to_owned(), "not-an-object"),
        (r#"{"Type":"x"}"#.to_owned(), "type-missing"),
        (r#"{"type":1}"#.to_owned(), "type-missing"),
        (r#"{"type":""}"#.to_owned(), "type-missing"),
        (format!(r#"{{"type":"x","v":"{}"}}"#, "y".repeat(MAX_LINE_BYTES)), "line-too-long"),
        (r#"{"type":"ledger-mutation"}"#.to_owned(), "type-reserved"),
        (r#"{"type":" Ledger_Mutation"}"#.to_owned(), "type-reserved"),
        (r#"{"type":"ledger_purge"}"#.to_owned(), "type-reserved"),
    ];
    let lines: Vec<String> = rows.iter().map(|(line, _)| line.clone()).collect();
    let found = read(&lines);
    let expected: Vec<&str> = rows.iter().map(|(_, code)| *code).collect();
    assert_eq!(codes(&found), expected);
    assert_eq!(found.passed_on(), 0);
    let told = json!(found.faults.to_json()).to_string();
    assert!(!told.contains(CANARY) && told.contains("\"line\":16"), "{told}");
    assert_eq!(codes(&ingest(b"{\"type\":\"x\"}\n\xff\xfe\n", &config())), ["not-utf8"]);
}

// DB-3-04, DB-5.2-18, DB-5.2-22, DB-5.2-23
#[test]
fn claims_are_checked_field_by_field_reduced_and_counted_once() {
    let records = records(5);
    let good = event(&records[0], Some("triage"));
    let with_payload = good.replace(r#""operation""#, &format!(r#""payload":{{"x":"{CANARY}"}},"operation""#));
    let found = read(&[
        with_payload,
        good.clone(),
        event(&records[0], Some("triage"))
            .replace("T12:00:00.000Z\",\"type\":\"ledger", "T13:00:00.000Z\",\"type\":\"ledger"),
    ]);
    assert_eq!((found.claims.len(), found.repeated, found.reduced, codes(&found)), (1, 2, 1, vec![]));
    assert_eq!(found.claims[0].event.to_line(), good);

    let forged = good.replace(&records[0].payload_sha().to_string(), &Digest::of(b"other").to_string());
    let cases = [
        (forged, "event-contradicts"),
        (event(&records[0], Some("log")), "event-contradicts"),
        (event(&records[1], Some("elsewhere")), "unknown-ledger"),
        (event(&records[1], None), "unknown-ledger"),
        (good.replace(r#""operation":"append""#, r#""operation":"delete""#), "event-malformed"),
        (good.replace("sha256:", "sha256:g"), "event-malformed"),
        (good.replace("2026-11-30T12", "2026-11-31T12"), "event-malformed"),
        (good.replace(r#""triage""#, r#""../triage""#), "event-malformed"),
        (good.replace(r#""append""#, &format!(r#""append","x":"{}""#, "y".repeat(16 * 1024))), "event-malformed"),
    ];
    for (line, code) in cases {
        let found = read(&[good.clone(), line.clone()]);
        assert_eq!((found.claims.len(), codes(&found)), (1, vec![code.to_owned()]), "{line}");
    }
    let found = read(&[good.replace("sha256:", "sha256:g")]);
    assert_eq!(found.faults.to_json()[0]["member"], "record.payload_sha");

    let all: Vec<String> = records.iter().map(|record| event(record, Some("log"))).collect();
    let found = read(&all);
    assert_eq!(
        (found.claims.len(), codes(&found)),
        (3, vec!["over-bound".to_owned(); 2]),
        "bounded by the configuration"
    );
    let only = ingest(event(&records[0], None).as_bytes(), &one_ledger());
    assert_eq!(only.claims[0].ledger, "triage", "without a name it is about the only ledger");
}

fn request(members: Json) -> String {
    let mut value = json!({ "type": REQUEST_TYPE });
    value.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    value.to_string()
}

// DB-5.3-02
#[test]
fn requests_for_compaction_are_strict_and_one_for_each_ledger() {
    let found = read(&[
        request(json!({ "ledger": "triage", "reason": "x".repeat(512) })),
        request(json!({ "ledger": "triage" })),
        request(json!({ "ledger": "log" })),
    ]);
    let ledgers: Vec<&str> = found.requests.iter().map(|request| request.ledger.as_str()).collect();
    assert_eq!((ledgers, codes(&found)), (vec!["triage", "log"], vec!["asked-already".to_owned()]));

    for (members, code) in [
        (json!({ "ledger": "nowhere" }), "unknown-ledger"),
        (json!({ "ledger": "Triage" }), "unknown-ledger"),
        (json!({ "ledger": "" }), "unknown-ledger"),
        (json!({ "ledger": "archive" }), "no-compaction"),
        (json!({}), "ledger-not-named"),
        (json!({ "ledger": "triage", "reason": "ä".repeat(513) }), "reason-too-long"),
        (json!({ "ledger": 1 }), "request-malformed"),
        (json!({ "ledger": "triage", "reason": [] }), "request-malformed"),
        (json!({ "ledger": "triage", "ref": "evil" }), "request-malformed"),
    ] {
        let found = read(&[request(members.clone())]);
        assert_eq!((found.requests.len(), codes(&found)), (0, vec![code.to_owned()]), "{members}");
    }
    // Two are allowed, and there are three ledgers.
    let three = Config::parse(
        json!({ "version": 1, "workflow": "w", "ledgers": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
                "safe-outputs": {"ledger-request-compaction": {"max": 2}} })
        .to_string()
        .as_bytes(),
    )
    .unwrap();
    let lines: Vec<String> = ["a", "b", "c"].map(|ledger| request(json!({ "ledger": ledger }))).into();
    let found = ingest(lines.join("\n").as_bytes(), &three);
    assert_eq!((found.requests.len(), codes(&found)), (2, vec!["over-bound".to_owned()]));
    let only = ingest(request(json!({ "reason": "many small segments" })).as_bytes(), &one_ledger());
    assert_eq!(only.requests[0].ledger, "triage", "without a name it is about the only compacted ledger");
}

#[test]
fn a_line_that_is_bad_hides_none_that_is_good() {
    let record = &records(1)[0];
    let lines = [
        "{".to_owned(),
        event(record, Some("triage")),
        "[]".to_owned(),
        r#"{"type":"noop"}"#.to_owned(),
        "\u{0}".to_owned(),
        request(json!({ "ledger": "log" })),
    ];
    let found = read(&lines);
    assert_eq!((found.claims.len(), found.passed_on(), found.requests.len(), found.faults.total()), (1, 1, 1, 3));
    assert_eq!((found.claims[0].line, found.requests[0].line), (2, 6));
    assert!(RecordId::from_text(found.claims[0].event.record_id().to_string().as_bytes()).is_some());
}
