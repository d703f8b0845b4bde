//! `log`, `show`, `query` and `heads`.

use crate::support::{chain, codes, document, ids, reference, text, write};

const PAYLOADS: [&str; 5] = [
    r#"{"issue":1,"actor":"ann","text":"first"}"#,
    r#"{"issue":2,"actor":"bob","text":"größe"}"#,
    r#"{"issue":3,"actor":"ann","nested":{"list":[1,2,{"deep":true}]}}"#,
    r#"{"issue":4,"actor":"bob"}"#,
    r#""a string, nothing more""#,
];

#[test]
fn the_newest_come_first_and_filters_hold_together() {
    let memory = tempfile::tempdir().unwrap();
    let records = chain(&PAYLOADS);
    write(memory.path(), &records);
    let target = memory.path().to_str().unwrap();
    let expected: Vec<String> = records.iter().rev().map(|record| record.id().to_string()).collect();
    let log = |args: &[&str]| {
        let (exit, answer) = document(&[&["log", target], args].concat());
        assert_eq!(exit, 0, "{args:?}: {answer}");
        (ids(&answer, "records"), answer)
    };
    let (listed, answer) = log(&[]);
    assert_eq!(listed, expected);
    assert_eq!(answer["records"][4]["payload"]["actor"], "ann");
    assert_eq!(answer["records"][0]["parents"][0], answer["records"][1]["sha"]);
    assert!(answer["records"][0]["age_seconds"].is_i64());
    assert_eq!(log(&["--graph"]).0, expected);
    let (listed, answer) = log(&["--limit", "2"]);
    assert_eq!((&listed[..], &answer["counts"]["matching"]), (&expected[..2], &5.into()));
    assert_eq!(log(&["--limit", "0"]).0.len(), 5);
    // Instants of the generator are a millisecond apart, from 2026-03-01T12:00:00.000Z on.
    assert_eq!(log(&["--since", "2026-03-01T12:00:00.003Z"]).0, expected[..2]);
    assert_eq!(log(&["--until", "2026-03-01T12:00:00.001Z"]).0, expected[3..]);
    assert_eq!(log(&["--since", "2026-03-02"]).0.len(), 0);
    assert_eq!(log(&["--since", "0s"]).0.len(), 0);
    assert_eq!(log(&["--contains", "größe"]).0, expected[3..4]);
    assert_eq!(log(&["--where", r#"{"payload.actor":{"eq":"ann"}}"#]).0, [expected[2].clone(), expected[4].clone()]);
    assert_eq!(log(&["--where", r#"{"payload.issue":{"gte":3}}"#, "--contains", "bob"]).0, expected[1..2]);
    assert_eq!(
        log(&["--type", records[0].kind()]).0.len(),
        records.iter().filter(|r| r.kind() == records[0].kind()).count()
    );

    for (args, code) in [
        (vec!["--since", "yesterday"], "bad-instant"),
        (vec!["--where", "{"], "invalid-filter"),
        (vec!["--where", r#"{"payload.a":{"like":1}}"#], "invalid-filter"),
        (vec!["--type", ""], "invalid-argument"),
    ] {
        let (exit, answer) = document(&[&["log", target], args.as_slice()].concat());
        assert_eq!((exit, codes(&answer)), (2, vec![code]), "{args:?}");
    }
}

#[test]
fn rows_have_ages_or_instants_and_one_line_each_where_asked() {
    let memory = tempfile::tempdir().unwrap();
    let records = chain(&PAYLOADS);
    write(memory.path(), &records);
    let target = memory.path().to_str().unwrap();
    let lines = text(&["log", target, "--oneline"]);
    assert_eq!(lines.lines().count(), 5);
    assert!(lines.lines().all(|line| line.starts_with("ldg-") && line.contains(" ago ")), "{lines}");
    let lines = text(&["log", target, "--oneline", "--absolute", "--limit", "2"]);
    assert!(lines.contains("2026-03-01T12:00:00.004Z") && !lines.contains(" ago "), "{lines}");
    assert!(lines.ends_with("… 3 more; --limit 0 shows all\n"), "{lines}");
    let graph = text(&["log", target, "--oneline", "--graph"]);
    let first: String = graph.lines().map(|line| line.chars().next().unwrap()).collect();
    assert_eq!(first, "●●●●○");
    let colours = text(&["log", target, "--oneline", "--color", "always"]);
    assert!(colours.contains("\u{1b}[33mldg-"));
    assert!(!text(&["log", target]).contains('\u{1b}'));
}

#[test]
fn one_record_is_found_by_a_beginning_and_shown_with_its_neighbours() {
    let memory = tempfile::tempdir().unwrap();
    let records = chain(&PAYLOADS);
    write(memory.path(), &records);
    let target = memory.path().to_str().unwrap();
    let (id, sha) = (records[2].id().to_string(), records[2].sha().to_string());
    for asked in [&id, &id[..12], &id[4..10], &sha, &sha[..20], &sha[7..17]] {
        let (exit, answer) = document(&["show", target, asked]);
        assert_eq!((exit, &answer["record"]["sha"]), (0, &sha.clone().into()), "{asked}");
        assert_eq!(answer["parents"][0]["sha"], records[1].sha().to_string());
        assert_eq!(answer["children"][0]["id"], records[3].id().to_string());
    }
    let page = text(&["show", target, &id]);
    assert!(page.contains("\"deep\": true") && page.contains("\nchildren\n"), "{page}");
    for (asked, code) in [("ffffffffffff", "no-such-record"), ("a", "no-such-record"), ("ldg-", "no-such-record")] {
        let (exit, answer) = document(&["show", target, asked]);
        assert_eq!((exit, codes(&answer)), (2, vec![code]), "{asked}");
    }
}

#[test]
fn a_beginning_that_two_records_share_is_refused_with_both() {
    let memory = tempfile::tempdir().unwrap();
    // A hundred thousand ids are not needed: two records with one id are enough.
    let first = chain(&[r#"{"n":1}"#]).remove(0);
    let second = chain(&[r#"{"n":2}"#]).remove(0);
    assert_eq!(first.id(), second.id());
    write(memory.path(), &[first.clone(), second.clone()]);
    let target = memory.path().to_str().unwrap();
    let (exit, answer) = document(&["show", target, &first.id().to_string()]);
    assert_eq!((exit, codes(&answer)), (2, vec!["ambiguous-record"]));
    let message = answer["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains(&first.sha().to_string()) && message.contains(&second.sha().to_string()));
    let (exit, answer) = document(&["show", target, &second.sha().to_string()]);
    assert_eq!((exit, codes(&answer)), (0, vec!["ledger-findings"]));
}

#[test]
fn pages_of_a_query_meet_and_say_whether_there_is_more() {
    let target = reference();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut args = vec!["query", &target, "--type", "note", "--limit", "40"];
        args.extend(after.iter().flat_map(|after| ["--after", after.as_str()]));
        let (exit, answer) = document(&args);
        assert_eq!(exit, 0);
        seen.extend(answer["records"].as_array().unwrap().iter().map(|row| row["sha"].as_str().unwrap().to_owned()));
        match answer["nextCursor"].as_str() {
            Some(cursor) => after = Some(cursor.to_owned()),
            None => break,
        }
    }
    let all = document(&["log", &target, "--type", "note", "--limit", "0"]).1;
    assert!(seen.len() > 40 && seen.is_sorted());
    assert_eq!(seen.len() as u64, all["counts"]["matching"].as_u64().unwrap());
    let (exit, answer) = document(&["query", &target, "--limit", "501"]);
    assert_eq!((exit, codes(&answer)), (2, vec!["invalid-argument"]));
    let (exit, answer) = document(&["query", &target, "--after", "x"]);
    assert_eq!((exit, codes(&answer)), (2, vec!["invalid-argument"]));
    assert_eq!(document(&["heads", &target]).1["records"].as_array().unwrap().len(), 1);
}

// DB-9-14
#[test]
fn payloads_are_data_in_every_form() {
    let memory = tempfile::tempdir().unwrap();
    let evil = "{\"a\":\"\u{202e}evil\u{200b}\",\"b\":\"\\u001b[31m\\n::error::x\",\"c\":\"##[error]y\u{9b}2J\"}";
    let records = chain(&[evil]);
    write(memory.path(), &records);
    let target = memory.path().to_str().unwrap();
    let id = records[0].id().to_string();
    let commands: [&[&str]; 5] = [
        &["log", target],
        &["log", target, "--oneline"],
        &["show", target, &id],
        &["heads", target],
        &["query", target],
    ];
    for command in commands {
        for format in ["human", "github", "json"] {
            let shown = text(&[command, &["--format", format]].concat());
            let hidden: Vec<char> = shown
                .chars()
                .filter(|letter| (letter.is_control() && *letter != '\n') || "\u{202e}\u{200b}".contains(*letter))
                .collect();
            assert!(hidden.is_empty(), "{command:?} {format}: {hidden:?}");
            assert!(
                !shown.contains("##[") && !shown.lines().any(|line| line.trim_start().starts_with("::error")),
                "{shown}"
            );
        }
    }
    let (_, answer) = document(&["show", target, &id]);
    assert_eq!(answer["record"]["payload"]["a"], "\u{202e}evil\u{200b}");
    assert_eq!(answer["record"]["payload"]["c"], "##[error]y\u{9b}2J");
}
