//! `status`: bounds, compaction, pinned shards, the ways out.

use std::fs;

use daybook_core::{Digest, state::State, state::Trigger};
use daybook_testkit::ledgers::{Shape, shards, write};

use crate::support::{codes, document, text};

/// A compiled configuration of one ledger.
fn config(max_shards: u64, max_segment_kb: u64) -> String {
    format!(
        r#"{{"version":1,"workflow":"w","memories":[{{"id":"facts","branch":"ledgers/facts"}}],
            "ledgers":[{{"name":"facts","memory":"facts","max-shards":{max_shards},"max-segment-kb":{max_segment_kb},
            "compaction":{{"schedule":"daily","min-segments":2}}}}]}}"#
    )
}

#[test]
fn a_full_ledger_names_the_ways_out_and_one_that_compaction_helps_does_not() {
    let home = tempfile::tempdir().unwrap();
    let memory = home.path().join("memory");
    write(&memory, &shards(Shape::new(100, 10, false), 3)).unwrap();
    fs::write(memory.join("notes.md"), "ordinary\n").unwrap();
    let target = memory.to_str().unwrap();
    let file = home.path().join("config.json");
    let status = |max_shards, max_segment_kb| {
        fs::write(&file, config(max_shards, max_segment_kb)).unwrap();
        let args = ["status", target, "--config", file.to_str().unwrap()];
        (document(&args), text(&args))
    };
    let ((exit, roomy), page) = status(1024, 100);
    assert_eq!((exit, codes(&roomy)), (0, vec![]), "{page}");
    assert_eq!(roomy["bounds"][0], serde_json::json!({"name": "max-shards", "used": 10, "limit": 1024, "percent": 0}));
    let names: Vec<&str> =
        roomy["bounds"].as_array().unwrap().iter().map(|bound| bound["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["max-shards", "capacity", "max-segment-kb", "max-record-kb", "max-file-count", "max-file-size"]);
    assert_eq!((&roomy["bounds"][4]["used"], &roomy["bounds"][5]["used"]), (&1.into(), &9.into()));
    assert_eq!((&roomy["last_compaction"], &roomy["overdue"]), (&serde_json::Value::Null, &true.into()));

    let ((_, helped), _) = status(12, 100);
    assert_eq!(codes(&helped), ["shards-nearly-full"]);
    assert_eq!((&helped["gain"]["possible"], &helped["ways_out"]), (&true.into(), &serde_json::json!([])));
    let ((_, stuck), page) = status(10, 11);
    assert_eq!(codes(&stuck), ["ledger-full"]);
    assert_eq!(stuck["gain"]["possible"], false);
    for way in ["raise max-segment-kb", "second ledger", "docs/archive.md"] {
        assert!(page.contains(way), "{page}");
    }
    // With larger segments it goes on.
    assert_eq!(status(10, 1000).0.1["gain"]["possible"], true);
}

#[test]
fn the_last_compaction_and_pinned_shards_are_told() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), &shards(Shape::new(20, 2, false), 3)).unwrap();
    let target = home.path().to_str().unwrap();
    let state =
        State::after(None, "facts", Digest::of(b"plan"), Trigger::Requested, "2026-03-01T00:00:00.000Z").unwrap();
    fs::create_dir_all(home.path().join("ledger/compaction")).unwrap();
    fs::write(home.path().join("ledger/compaction/state.json"), state.to_bytes()).unwrap();
    let torn = home.path().join("ledger/shards/00000000-0000-4000-8000-00000000000a.jsonl");
    fs::write(&torn, "{\"half").unwrap();
    let (exit, answer) = document(&["status", target]);
    assert_eq!((exit, codes(&answer)), (0, vec!["ledger-findings"]));
    assert_eq!(answer["last_compaction"]["applied_at"], "2026-03-01T00:00:00.000Z");
    assert_eq!(answer["last_compaction"]["trigger"], "requested");
    assert_eq!(
        answer["pinned"],
        serde_json::json!([{"shard": "00000000-0000-4000-8000-00000000000a", "reason": "torn-tail"}])
    );
    assert!(text(&["status", target, "--absolute"]).contains("last compaction 2026-03-01T00:00:00.000Z, requested"));
    fs::write(home.path().join("ledger/compaction/state.json"), "{}").unwrap();
    let (_, answer) = document(&["status", target]);
    assert_eq!((&answer["state_readable"], &answer["last_compaction"]), (&false.into(), &serde_json::Value::Null));
    let (exit, answer) = document(&["status", target, "--config", torn.to_str().unwrap()]);
    assert_eq!((exit, codes(&answer)), (2, vec!["config-invalid"]));
}

#[test]
fn an_empty_ledger_has_a_status_and_an_empty_log() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("ledger")).unwrap();
    let target = home.path().to_str().unwrap();
    let (exit, answer) = document(&["status", target]);
    assert_eq!((exit, &answer["counts"]["records"], &answer["newest"]), (0, &0.into(), &serde_json::Value::Null));
    assert_eq!(document(&["log", target]).1["records"], serde_json::json!([]));
    assert_eq!(text(&["heads", target]), "");
}
