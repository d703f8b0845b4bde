//! Random and mutated files: no panic, documented exits, nothing unaccounted for.

use daybook_testkit::random::Random;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{World, event, records, request};

/// Lines of every kind, good and bad.
fn lines() -> Vec<String> {
    let mut lines: Vec<String> = records(6).iter().map(|record| event(record, "triage")).collect();
    lines.push(lines[0].replace("\"operation\"", "\"payload\":[1,2],\"operation\""));
    lines.extend([
        request("triage"),
        request("frozen"),
        json!({ "type": "add_comment", "body": "größe \u{1f600} \" \\ \u{202e}" }).to_string(),
        json!({ "type": "noop", "deep": [[[[{"a": [1.5e300, -0.0, 12]}]]]] }).to_string(),
        "not json".to_owned(),
        "[]".to_owned(),
    ]);
    lines
}

/// Some bytes changed, taken out, doubled or moved.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random, times: usize) {
    const MARKS: &[u8] = b"\"{}[],:\\\n\r\0 \xff\xc3-+.eE0u";
    for _ in 0..times {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(5) {
            0 => bytes[at] = MARKS[random.below(MARKS.len())],
            1 => bytes.insert(at, MARKS[random.below(MARKS.len())]),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
}

fn hold(outputs: Vec<u8>) -> Result<(), TestCaseError> {
    let mut world = World::new(&[]);
    world.outputs = outputs;
    world.options = vec!["--print-requests".to_owned()];
    let ended = world.run();
    prop_assert!([0, 8].contains(&ended.exit), "{}", ended.said);
    let count = |name: &str| ended.report["counts"][name].as_u64().unwrap();
    let handled = count("claimed") + count("claims-repeated") + count("requests") + count("passed-on");
    prop_assert_eq!(handled + count("refused"), count("lines"), "every line is accounted for");
    prop_assert_eq!(ended.exit == 8, count("refused") > 0);
    let remaining = world.written("remaining.jsonl");
    prop_assert_eq!(remaining.lines().count() as u64, count("passed-on"));
    for line in remaining.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        prop_assert!(value["type"].as_str().is_some_and(|kind| !kind.starts_with("ledger_")));
    }
    prop_assert!(world.result()["items"].is_array());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(outputs in proptest::collection::vec(any::<u8>(), 0..4096)) {
        hold(outputs)?;
    }

    #[test]
    fn mutated_files(seed in any::<u64>(), times in 0_usize..60) {
        let mut random = Random::new(seed);
        let mut outputs = lines().join("\n").into_bytes();
        mutate(&mut outputs, &mut random, times);
        hold(outputs)?;
    }
}

#[test]
fn a_file_as_large_as_may_be_is_read_in_one_go() {
    for line in ["{}\n", "\n", "{\"type\":\"x\"}\n", "{\"type\":\"x\",\"v\":[1e20,1e20,1e20,1e20]}\n"] {
        let size = 8 * 1024 * 1024;
        hold(line.repeat(size / line.len()).into_bytes()).unwrap();
    }
}
