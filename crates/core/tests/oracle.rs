//! The one-pass check and the slow, obvious one give the same answer for every line.

#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as expected")]

use daybook_testkit::oracle::{self, Verdict, verdict};
use daybook_testkit::random::Random;
use daybook_testkit::{ledgers, vectors};
use proptest::prelude::*;

fn hold(line: &[u8]) {
    assert_eq!(verdict(line), oracle::check(line), "{}", String::from_utf8_lossy(line));
}

/// Claims the right digest for a text whose `sha` member is 64 zeros, whatever the text is.
fn with_right_digest(text: &str) -> String {
    let zeros = format!("sha256:{}", "0".repeat(64));
    let without = text.replacen(&format!(r#","sha":"{zeros}""#), "", 1);
    let canonical = daybook_core::json::canonical(without.as_bytes()).unwrap_or(without);
    text.replacen(&zeros, &daybook_core::Digest::of(canonical.as_bytes()).to_string(), 1)
}

fn line_around(payload: &str) -> String {
    with_right_digest(&format!(
        r#"{{"id":"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52","parents":[],"payload":{payload},"sha":"sha256:{}","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":1}}"#,
        "0".repeat(64)
    ))
}

#[test]
fn on_every_vector() {
    for case in vectors::cases("records") {
        hold(case["line"].as_str().unwrap().as_bytes());
    }
    for case in vectors::cases("canonical") {
        hold(line_around(case["input"].as_str().unwrap()).as_bytes());
        if let Some(canonical) = case["peer"]["canonical"].as_str() {
            hold(line_around(canonical).as_bytes());
        }
    }
}

// DB-2-03, DB-9-05, DB-10-02
#[test]
fn on_mutated_records() {
    let mut random = Random::new(7);
    let alphabet = br#"{}[]",:\u0019aefdb-+.E sha256 type"#;
    let mut accepted = 0;
    for number in 0..30_000 {
        let record = ledgers::record(&mut random, number, &[], 60 + number % 300);
        let mut line = record.line().to_vec();
        for _ in 0..number % 3 {
            let at = random.below(line.len());
            let other = alphabet[random.below(alphabet.len())];
            match random.below(4) {
                0 => line[at] = other,
                1 => line.insert(at, other),
                2 => drop(line.remove(at)),
                _ => line[at] ^= 1 << random.below(8),
            }
        }
        hold(&line);
        accepted += usize::from(verdict(&line) == Verdict::Accepted);
    }
    assert!(accepted >= 10_000, "unchanged records are accepted");
}

/// JSON text in any spelling, canonical or not, sometimes not JSON.
fn json_text() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<f64>().prop_map(|number| format!("{number:e}")),
        any::<f64>().prop_map(|number| format!("{number}")),
        any::<i64>().prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        (-20_i32..330).prop_map(|exponent| format!("1e{exponent}")),
        (0_u64..1 << 54).prop_map(|number| number.to_string()),
    ];
    let string = prop_oneof![
        "[a-z0-9]{0,12}".prop_map(|text| format!("\"{text}\"")),
        "\\PC{0,12}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        prop::collection::vec(
            prop_oneof!["\\\\u[0-9a-fA-F]{4}", "\\\\u[dD][89a-fA-F][0-9a-f]{2}", "\\\\[bfnrt/\"\\\\]", "[a-z𝄞é]"],
            0..6
        )
        .prop_map(|parts| format!("\"{}\"", parts.concat())),
    ];
    let key =
        prop_oneof![4 => "[a-c]{0,2}", 3 => "[0-9]{1,10}", 1 => "4294967(29[0-9]|300)", 1 => "[\u{e000}-\u{ffff}𝄞]"];
    let leaf = prop_oneof![Just("null".to_owned()), Just("true".to_owned()), Just("fals".to_owned()), number, string];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        let members = prop::collection::vec((key.clone(), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            (members, any::<bool>()).prop_map(|(mut members, sort)| {
                if sort {
                    members.sort();
                    members.dedup_by(|left, right| left.0 == right.0);
                }
                let members: Vec<String> = members
                    .iter()
                    .map(|(key, value)| format!("{}:{value}", serde_json::to_string(key).unwrap()))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    // DB-2-01, DB-10-01
    #[test]
    fn on_any_payload(payload in json_text()) {
        hold(line_around(&payload).as_bytes());
    }

    #[test]
    fn on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        hold(&bytes);
    }

    /// What is canonical is a fixed point, and says the same.
    #[test]
    fn canonical_text_is_a_fixed_point(text in json_text()) {
        if let Ok(canonical) = daybook_core::json::canonical(text.as_bytes()) {
            prop_assert_eq!(daybook_core::json::canonical(canonical.as_bytes()), Ok(canonical.clone()));
            hold(line_around(&canonical).as_bytes());
            prop_assert_eq!(verdict(line_around(&canonical).as_bytes()), Verdict::Accepted);
        }
    }
}

#[test]
fn at_the_depth_bound() {
    for depth in 28..36 {
        for inner in ["", "1", "[]", "{}"] {
            hold(line_around(&format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth))).as_bytes());
            hold(
                line_around(&format!(
                    "{}{}{}",
                    r#"{"k":"#.repeat(depth),
                    if inner.is_empty() { "0" } else { inner },
                    "}".repeat(depth)
                ))
                .as_bytes(),
            );
        }
    }
    // Where a text ends there is no value that could lie too deep.
    for depth in 28..36 {
        for unit in ["[", r#"{"k":"#, "[ ", r#"{"k": "#] {
            for tail in ["", " ", ",", "]", "[1,", "1"] {
                hold(format!("{}{tail}", unit.repeat(depth)).as_bytes());
            }
        }
    }
    assert_eq!(verdict("[".repeat(33).as_bytes()), Verdict::InvalidJson);
    assert_eq!(verdict("[".repeat(34).as_bytes()), Verdict::Shape);
    hold("[".repeat(1_000_000).as_bytes());
}
