use super::*;
use crate::detection::{FindingCode, Verdict};

const FULL: &str = r#"{"version":1,"workflow":"triage",
 "memories":[{"id":"notes","branch":"memory/notes","file-glob":["*.md"],"allowed-extensions":[".md"],
              "max-file-size":2048,"max-file-count":10,"max-patch-size":4096,"create-orphan":false,"description":"Notes for people",
              "validation":{"script":"process.exit(0)","timeout-seconds":5}}],
 "ledgers":[{"name":"triage","profile":"records","schema":{"type":"object"},"max-shards":8,"max-segment-kb":4,
             "max-record-kb":2,"max-patch-kb":16,"compaction":{"schedule":"weekly","min-segments":4,"max-segments":9}},
            {"name":"side","memory":"notes","read-only":true,"compaction":false}],
 "safe-outputs":{"ledger-mutation":{"max":7},"ledger-request-compaction":{"max":2}},
 "detection":{"findings":{"instructions":"threat","bad-line":"clean"},"suspicious":"refuse"}}"#;

fn with_ledger(members: &str) -> String {
    format!(r#"{{"version":1,"workflow":"w","ledgers":[{{"name":"l",{members}}}]}}"#)
}

fn with_detection(members: &str) -> String {
    format!(r#"{{"version":1,"workflow":"w","detection":{{{members}}}}}"#)
}

fn with_memory(members: &str) -> String {
    format!(r#"{{"version":1,"workflow":"w","memories":[{{"id":"m",{members}}}]}}"#)
}

// DB-7-01
#[test]
fn every_member_arrives_and_what_is_printed_reads_back_the_same() {
    let config = Config::parse(FULL.as_bytes()).unwrap();
    let notes = config.memory("notes").unwrap();
    assert_eq!(notes.branch.as_str(), "memory/notes");
    assert_eq!((notes.max_file_size.get(), notes.max_file_count.get(), notes.max_patch_size.get()), (2048, 10, 4096));
    assert!(!notes.create_orphan);
    assert_eq!(notes.validation.as_ref().unwrap().timeout_seconds, 5);
    let triage = config.ledger("triage").unwrap();
    assert_eq!(triage.limits.max_segment(), Bytes::new(4096));
    assert_eq!(triage.compaction.as_ref().unwrap().schedule, Schedule::Weekly);
    let side = config.ledger("side").unwrap();
    assert!(side.read_only && side.compaction.is_none());
    assert_eq!(config.memory_of(side).unwrap().id, notes.id);
    assert_eq!(config.ledger_in("notes").unwrap().name, side.name);
    assert_eq!(config.safe_outputs().ledger_mutation_max.get(), 7);
    let detection = config.detection();
    assert_eq!(detection.verdict_of(FindingCode::Instructions), Verdict::Threat);
    assert_eq!(detection.verdict_of(FindingCode::BadLine), Verdict::Clean);
    assert_eq!(detection.verdict_of(FindingCode::ShardTampered), Verdict::Threat);
    assert!(detection.refuses_suspicious);

    let printed = config.to_bytes().unwrap();
    assert_eq!(Config::parse(&printed).unwrap(), config);
    assert_eq!(Config::parse(&printed).unwrap().to_bytes().unwrap(), printed);
}

// DB-5.2-22
#[test]
fn a_ledger_alone_gets_a_memory_of_its_own_and_every_default() {
    let config = Config::parse(br#"{"version":1,"workflow":"w","ledgers":[{"name":"triage"}]}"#).unwrap();
    let memory = config.memory("triage").unwrap();
    assert_eq!(memory.branch.as_str(), "ledgers/triage");
    assert_eq!(memory.allowed_extensions.len(), 5);
    assert!(memory.create_orphan);
    let ledger = config.ledger("triage").unwrap();
    assert_eq!(ledger.limits, Limits::default());
    assert_eq!(ledger.profile, "records");
    let compaction = ledger.compaction.as_ref().unwrap();
    assert_eq!((compaction.min_segments.get(), compaction.max_segments.get()), (32, 128));
}

#[test]
fn unknown_repeated_and_misspelt_members_are_refused_by_name() {
    for (text, named) in [
        (with_ledger(r#""max_shards":1"#), "max_shards"),
        (with_ledger(r#""profile":"records","profile":"records""#), "profile"),
        (with_ledger(r#""compaction":{"when":"daily"}"#), "when"),
        (with_ledger(r#""compaction":true"#), "false or an object"),
        (with_ledger(r#""compaction":{"schedule":"hourly"}"#), "hourly"),
        (with_ledger(r#""max-shards":-1"#), "-1"),
        (with_ledger(r#""max-shards":"8""#), "\"8\""),
        (with_memory(r#""branch":"b","max-file-sise":1"#), "max-file-sise"),
        (with_memory(r#""id":"m","branch":"b""#), "id"),
        (r#"{"version":1,"workflow":"w","extra":{}}"#.to_owned(), "extra"),
        (with_detection(r#""findings":{"bad-lines":"clean"}"#), "bad-line"),
        (with_detection(r#""findings":{"bad-line":"fine"}"#), "clean, suspicious or threat"),
        (with_detection(r#""findings":{"bad-line":"clean","bad-line":"threat"}"#), "key"),
        (with_detection(r#""suspicious":"persist""#), "pass or refuse"),
        (with_detection(r#""verdict":"clean""#), "verdict"),
        (r#"{"version":1}"#.to_owned(), "workflow"),
        (r#"{"version":1,"workflow":"w"} x"#.to_owned(), "trailing"),
        (with_ledger(r#""schema":{"type":"object","type":"array"}"#), "key"),
    ] {
        let message = Config::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(named), "{text}: {message}");
    }
}

// DB-7-03, DB-9-16
#[test]
fn values_out_of_bounds_name_the_member_and_what_is_allowed() {
    let two = |a: &str, b: &str| format!(r#"{{"version":1,"workflow":"w","memories":[{a},{b}]}}"#);
    for (text, member, allowed) in [
        (r#"{"version":2,"workflow":"w"}"#.to_owned(), "version", "1"),
        (r#"{"version":1,"workflow":"a/b"}"#.to_owned(), "workflow", "letters"),
        (with_ledger(r#""profile":"tasks""#), "ledgers[l].profile", "records"),
        (with_ledger(r#""memory":"m""#), "ledgers[l].memory", "id of a memory"),
        (with_ledger(r#""max-shards":1025"#), "ledgers[l]", "1 to 1024"),
        (with_ledger(r#""max-record-kb":8,"max-segment-kb":4"#), "ledgers[l]", "max-segment-kb"),
        (with_ledger(r#""compaction":{"min-segments":1}"#), "ledgers[l].compaction.min-segments", "2 to 256"),
        (with_ledger(r#""compaction":{"min-segments":9,"max-segments":8}"#), "max-segments", "min-segments"),
        (with_ledger(r#""schema":"x""#), "ledgers[l].schema", "JSON Schema"),
        (with_memory(r#""branch":"a..b""#), "memories[m].branch", ".."),
        (with_memory(r#""branch":"b","max-file-size":0"#), "memories[m].max-file-size", "1 to"),
        (with_memory(r#""branch":"b","file-glob":["../x"]"#), "memories[m].file-glob", ".."),
        (with_memory(r#""branch":"memory/b","file-glob":["memory/b/*.json"]"#), "memories[m].file-glob", "branch name"),
        (with_memory(r#""branch":"b","allowed-extensions":["json"]"#), "memories[m].allowed-extensions", ".json"),
        (two(r#"{"id":"a","branch":"x"}"#, r#"{"id":"A","branch":"y"}"#), "memories[].id", "case"),
        (two(r#"{"id":"a","branch":"x"}"#, r#"{"id":"b","branch":"x/y"}"#), "memories[b].branch", "no other"),
        (
            r#"{"version":1,"workflow":"w","ledgers":[{"name":"l"},{"name":"L","memory":"l"}]}"#.to_owned(),
            "ledgers[].name",
            "case",
        ),
        (
            r#"{"version":1,"workflow":"w","ledgers":[{"name":"l"},{"name":"k","memory":"l"}]}"#.to_owned(),
            "ledgers[k].memory",
            "another ledger",
        ),
    ] {
        let message = Config::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(member) && message.contains(allowed), "{text}: {message}");
    }
}

#[test]
fn a_configuration_that_no_step_can_carry_is_refused_both_ways() {
    let script = "x".repeat(MAX_CONFIG_BYTES);
    let text = with_ledger(&format!(r#""compaction":{{"script":"{script}"}}"#));
    assert!(matches!(Config::parse(text.as_bytes()), Err(ConfigFault::TooLarge { .. })));

    // Escapes make the printed text longer than the one that was read.
    let mut config = Config::parse(with_ledger(r#""compaction":{"script":""}"#).as_bytes()).unwrap();
    if let Some(compaction) = &mut config.ledgers[0].compaction {
        compaction.script = Some(script);
    }
    let message = config.to_bytes().unwrap_err().to_string();
    assert!(message.contains("ledgers[l]"), "{message}");
}
