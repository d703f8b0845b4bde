//! A whole run that was taken over, through the real jobs: what was forged is named or refused and shows nowhere, and
//! what was true stays.

mod chain;
mod property;
mod run;

use std::fs;

use daybook_core::Digest;
use daybook_testkit::api::{ApiServer, Reply};
use serde_json::json;

use crate::run::{CANARY, Project, Run, coverage_path, event_of, forged};

const REQUEST: &str = r#"{"ledger":"triage","type":"ledger_request_compaction"}"#;

fn api() -> ApiServer {
    ApiServer::start(&[Reply::status(204)])
}

// DB-3-11, DB-5.2-13, DB-9-11
#[test]
fn a_run_that_forges_everything_at_once_changes_nothing_and_the_next_one_works() {
    let (project, api) = (Project::new(), api());
    // Good state: an honest run lands.
    let mut honest = Run::restore(&project);
    let first = honest.append(3);
    honest.all(&api).iter().for_each(|job| job.assert(0));
    let (head, shards) = (project.head(), project.shards());
    assert_eq!(project.records().len(), 3);

    // Attack: a thousand forged lines before the true ones, one true line gone, a restored shard edited, a coverage
    // declaration, and events of the agent's own making among the safe outputs.
    let mut taken = Run::restore(&project);
    let second = taken.append(4);
    let log = taken.read("transaction-log.jsonl");
    let mut lines: Vec<&str> = log.lines().collect();
    let true_lines: Vec<String> = second.iter().map(|sha| event_of(&log, sha)).collect();
    lines.retain(|line| *line != true_lines[1]);
    let forged_lines: String = (0..1000).map(|number| forged(&true_lines[0], number)).collect();
    taken.write("transaction-log.jsonl", &format!("{CANARY}\n{forged_lines}{}\n", lines.join("\n")));
    let shard = &shards[0];
    let old = taken.read(&format!("memory/triage/{shard}"));
    taken.write(&format!("memory/triage/{shard}"), &format!("{}\n{CANARY}\n", old.lines().next().unwrap()));
    let declaration = json!({ "replacement": CANARY, "sources": shards });
    taken.write(&format!("memory/triage/{}", coverage_path()), &format!("{declaration}\n"));
    let with_payload = true_lines[2].replacen("{\"ledger\"", &format!("{{\"payload\":\"{CANARY}\",\"ledger\""), 1);
    let lie = with_payload.replace("\"type\":\"note\"", "\"type\":\"lie\"");
    taken.write("safe-outputs.jsonl", &format!("{with_payload}\n{lie}\n{REQUEST}"));

    let merge = taken.merge();
    merge.assert(0);
    for (count, value) in
        [("entries-merged", 1000), ("entries-staged", 3), ("log-over-bound", 3), ("log-lines-dropped", 1)]
    {
        assert_eq!(merge.report["counts"][count], value, "{count}");
    }
    assert_eq!(merge.report["counts"]["safe-output-lines-replaced"], 2);
    let merged = taken.read("safe-outputs.jsonl");
    for (number, line) in true_lines.iter().enumerate() {
        let times = merged.lines().filter(|merged| merged == line).count();
        assert_eq!(times, usize::from(number != 1), "every true line that was left is there once");
    }
    assert!(!merged.contains(CANARY) && !merged.contains("\"lie\""), "what merging hands on holds no forged text");

    let detect = taken.detect();
    detect.assert(3);
    assert_eq!(detect.report["verdict"], "threat");
    for (code, count) in [
        ("shard-tampered", 1),
        ("coverage-file", 1),
        ("record-without-event", 1),
        ("event-without-record", 1997),
        ("event-malformed", 1),
        ("bad-line", 1),
    ] {
        assert_eq!(detect.report["counts"][code], count, "{code}: {}", detect.report["counts"]);
    }

    // Refused, and nothing changed.
    let before = api.requests().len();
    let outputs = taken.safe_outputs(&api);
    outputs.assert(3);
    assert_eq!(outputs.codes(), ["verdict-threat"]);
    let persist = taken.persist();
    persist.assert(3);
    assert_eq!((project.head(), project.records(), api.requests().len()), (head, first, before));
    assert!(!taken.path("outputs").exists());
    taken.shows_nothing_forged();

    // The next good run works.
    let mut next = Run::restore(&project);
    next.append(2);
    next.all(&api).iter().for_each(|job| job.assert(0));
    assert_eq!(project.records().len(), 5);
    project.holds_nothing_forged();
}

// DB-8-09, DB-9-10, DB-B-02
#[test]
fn forged_claims_pass_as_claims_only_and_an_artifact_that_was_swapped_is_refused() {
    let (project, api) = (Project::new(), api());
    let mut run = Run::restore(&project);
    let true_ones = run.append(3);
    let log = run.read("transaction-log.jsonl");
    let true_lines: Vec<String> = true_ones.iter().map(|sha| event_of(&log, sha)).collect();
    let forged_lines: String = (0..1000).map(|number| forged(&true_lines[0], number)).collect();
    run.write("transaction-log.jsonl", &format!("{forged_lines}{}\n{}\n", true_lines[0], true_lines[2]));
    run.merge().assert(0);
    // The machine is the agent's after merging, too: lines with a payload and true digests come first, then a broken
    // one; of the second true record, whose line was deleted, this is the only word.
    let with_payload =
        |line: &str| line.replacen("{\"ledger\"", &format!("{{\"payload\":{{\"x\":\"{CANARY}\"}},\"ledger\""), 1);
    let merged = run.read("safe-outputs.jsonl");
    let kept: Vec<&str> = merged.lines().take(900).chain(merged.lines().skip(998)).collect();
    let broken = true_lines[0].replace("\"append\"", &format!("\"{CANARY}\""));
    let own = [with_payload(&true_lines[0]), with_payload(&true_lines[1]), broken].join("\n");
    run.write("safe-outputs.jsonl", &format!("{own}\n{}\n{REQUEST}\n", kept.join("\n")));

    let detect = run.detect();
    detect.assert(0);
    assert_eq!(detect.report["verdict"], "suspicious");
    for code in ["event-without-record", "event-malformed"] {
        assert!(detect.codes().contains(&code.to_owned()), "{code} is named");
    }

    // Attack: what was examined is exchanged, one artifact after the other. Each is refused, and nothing changes.
    for (file, job) in
        [("safe-outputs.jsonl", "safe-outputs"), ("staged/triage.tar", "persist"), ("baseline.json", "persist")]
    {
        let good = fs::read(run.path(file)).unwrap();
        let mut swapped = good.clone();
        swapped.extend_from_slice(format!("{{\"type\":\"{CANARY}\"}}\n").as_bytes());
        fs::write(run.path(file), swapped).unwrap();
        let refused = if job == "persist" { run.persist() } else { run.safe_outputs(&api) };
        refused.assert(3);
        assert!(refused.codes().contains(&"expect-mismatch".to_owned()), "{file}: {:?}", refused.codes());
        assert_eq!((project.head(), api.requests().len()), (None, 0), "{file}");
        fs::write(run.path(file), good).unwrap();
    }

    // With the examined bytes back: what is true is reported and lands, and the request is sent.
    let outputs = run.safe_outputs(&api);
    outputs.assert(8);
    assert_eq!(outputs.codes(), ["verdict-suspicious", "event-malformed", "event-reduced"]);
    assert_eq!(api.requests().len(), 1);
    let result: serde_json::Value = serde_json::from_str(&run.read("outputs/result.json")).unwrap();
    let items = result["items"].as_array().unwrap();
    for sha in &true_ones {
        let claims: Vec<_> = items.iter().filter(|item| item["record"]["sha"] == sha.to_string()).collect();
        assert_eq!(claims.len(), 1, "a true append is claimed once");
        let members: Vec<_> = claims[0]["record"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["id", "parents", "payload_sha", "sha", "timestamp", "type"], "and holds no payload");
    }
    let persist = run.persist();
    persist.assert(0);
    assert_eq!(project.records(), true_ones, "the branch has the true records and no other");
    assert!((0..1000).all(|number: u64| !project.records().contains(&Digest::of(&number.to_be_bytes()))));
    run.shows_nothing_forged();
    project.holds_nothing_forged();
}
