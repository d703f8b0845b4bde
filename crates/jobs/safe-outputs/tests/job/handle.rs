//! What the job makes of an honest run's outputs.

use serde_json::json;

use crate::support::{CANARY, World, event, records, request};

// DB-5.2-23, DB-10-11
#[test]
fn claims_are_reported_as_claims_and_other_outputs_are_handed_on() {
    let records = records(3);
    let comment = json!({ "body": CANARY, "type": "add_comment" }).to_string();
    let mut lines: Vec<String> = records.iter().map(|record| event(record, "triage")).collect();
    lines[2] = event(&records[2], "log");
    lines.push(comment.clone());
    let world = World::new(&lines);
    let ended = world.run();
    ended.assert(0, &[]);
    assert_eq!(world.written("remaining.jsonl"), format!("{comment}\n"));
    assert!(!ended.said.contains(CANARY), "what is handed on is not shown");

    let result = world.result();
    let members: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(members, ["errors", "items"]);
    assert_eq!((result["items"].as_array().unwrap().len(), &result["errors"]), (3, &json!([])));
    assert_eq!(result["items"][2]["record"]["sha"], records[2].sha().to_string());
    assert_eq!((&result["items"][2]["ledger"], &result["items"][2]["line"]), (&json!("log"), &json!(3)));

    let page = world.summary();
    assert!(
        page.contains("#### Ledger triage: 2 appends *claimed*")
            && page.contains("#### Ledger log: 1 appends *claimed*")
    );
    for record in &records {
        let short = &record.sha().to_string()[7..19];
        let row = page.lines().find(|line| line.contains(&record.id().to_string())).unwrap();
        assert!(row.contains(short) && row.contains(record.timestamp()) && row.contains(record.kind()), "{row}");
        assert!(!row.contains(&record.sha().to_string()[7..20]), "hashes are short");
    }
    assert!(page.contains("| add\\_comment | 1 |"), "{page}");
    for (count, value) in [("claimed", 3), ("passed-on", 1), ("refused", 0), ("lines", 4), ("attempts", 0)] {
        assert_eq!(ended.report["counts"][count], value, "{count}");
    }
    // Only what is handed on matches the pattern by which the next step collects outputs.
    let files = std::fs::read_dir(&world.out).unwrap().map(|file| file.unwrap().file_name());
    let mut files: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["remaining.jsonl", "result.json"]);
}

#[test]
fn an_empty_file_is_a_run_without_outputs() {
    let world = World::new(&[]);
    world.run().assert(0, &[]);
    assert_eq!(world.result(), json!({ "items": [], "errors": [] }));
    assert_eq!(world.written("remaining.jsonl"), "");
    assert!(world.summary().contains("no outputs"));
}

// DB-3-04, DB-9-14
#[test]
fn refused_lines_are_partial_and_named_and_the_rest_is_handled() {
    let record = &records(1)[0];
    let payload = event(record, "triage").replace("\"operation\"", &format!("\"payload\":\"{CANARY}\",\"operation\""));
    let malformed = event(record, "triage").replace("\"append\"", &format!("\"{CANARY}\""));
    let world =
        World::new(&[payload, malformed, CANARY.to_owned(), json!({ "type": "noop", "x": CANARY }).to_string()]);
    let ended = world.run();
    ended.assert(8, &["event-malformed", "invalid-json", "event-reduced"]);
    assert!(!ended.said.contains(CANARY), "{}", ended.said);
    assert_eq!(world.result()["items"].as_array().unwrap().len(), 1);
    assert_eq!(world.result()["errors"][0]["member"], "operation");
    assert_eq!(world.result()["errors"][1]["line"], 3);
    assert_eq!(ended.report["counts"]["passed-on"], 1);
}

// DB-9-14, DB-B-13
#[test]
fn what_is_shown_of_an_agent_is_short_and_harmless() {
    let evil = "|<img src=x onerror=alert(1)>[a](http://b) @team \u{202e}\u{200b}::error::`x`";
    let kind = format!("::set-output name=x::{}", "y".repeat(100));
    let record = &records(1)[0];
    let line =
        event(record, "triage").replace(&format!("\"type\":\"{}\"", record.kind()), &format!("\"type\":\"{kind}\""));
    let reason = format!("{evil}{}", "z".repeat(300));
    let mut world = World::new(&[
        line,
        json!({ "type": "ledger_request_compaction", "ledger": "log", "reason": reason }).to_string(),
        json!({ "type": format!("{evil}{}", "t".repeat(300)) }).to_string(),
    ]);
    world.options = vec!["--print-requests".to_owned()];
    let ended = world.run();
    ended.assert(0, &[]);
    let addresses = ended.said.replace("://", "");
    for bad in ["::", "\u{202e}", "\u{200b}", &"z".repeat(129), &"t".repeat(129), &"y".repeat(129)] {
        assert!(!addresses.contains(bad), "{bad:?} in {addresses}");
    }
    let page = world.summary();
    for bad in ["<img", "](", "@team", "`x`", "|<"] {
        assert!(!page.contains(bad), "{bad:?} in {page}");
    }
}

// DB-5.2-22
#[test]
fn a_thousand_claims_fit_into_the_summary_and_more_are_refused() {
    let lines: Vec<String> = records(1003).iter().map(|record| event(record, "triage")).collect();
    let world = World::new(&lines);
    let ended = world.run();
    ended.assert(8, &["over-bound"]);
    assert_eq!((&ended.report["counts"]["claimed"], &ended.report["counts"]["refused"]), (&json!(1000), &json!(3)));
    let page = world.summary();
    assert!(page.len() < 900 * 1024 && !page.contains("was cut here"), "{} bytes", page.len());
}

#[test]
fn requests_can_be_printed_in_place_of_being_sent() {
    let mut world = World::new(&[request("triage"), request("log")]);
    world.options = vec!["--print-requests".to_owned(), "--default-branch".to_owned(), "trunk".to_owned()];
    let ended = world.run();
    ended.assert(0, &[]);
    let requests = ended.report["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1]["method"], "POST");
    let url = "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/actions/workflows/daybook-maintenance.yml/dispatches";
    assert_eq!(requests[1]["url"], url);
    let body = json!({ "ref": "trunk", "inputs": { "operation": "compact_ledger", "ledger": "log" } });
    assert_eq!(requests[1]["body"], body);
    assert_eq!(world.result()["items"][0]["outcome"], "printed");
    // Without the name of the branch, the request that asks for it comes first.
    world.options.truncate(1);
    assert_eq!(world.run().report["requests"][0]["method"], "GET");
}

/// Each kind of line that is refused, in the words of the report.
#[test]
fn each_refused_line_is_counted_under_its_code() {
    let record = &records(1)[0];
    let claim = event(record, "triage");
    let long = json!({ "type": "add_comment", "body": "x".repeat(1 << 20) }).to_string();
    let asked = |members: serde_json::Value| {
        let mut request = json!({ "type": "ledger_request_compaction" });
        request.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        request.to_string()
    };
    for (lines, code, fault) in [
        (vec![long], "line-too-long", "longer than a line may be"),
        (vec![claim, event(record, "log")], "event-contradicts", "says of a record something else"),
        (vec![asked(json!({}))], "ledger-not-named", "has to name its ledger"),
        (vec![asked(json!({ "ledger": "log", "reason": "x".repeat(513) }))], "reason-too-long", "more than 512"),
        (vec![asked(json!({ "ledger": "log" })), asked(json!({ "ledger": "log" }))], "asked-already", "has asked for"),
    ] {
        let last = lines.len();
        let mut world = World::new(&lines);
        world.options = vec!["--print-requests".to_owned()];
        let ended = world.run();
        ended.assert(8, &[code]);
        let message = ended.report["diagnostics"][0]["message"].as_str().unwrap();
        assert!(
            message.starts_with(&format!("1 line refused (line {last}): ")) && message.contains(fault),
            "{message}"
        );
    }
}
