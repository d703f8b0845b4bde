//! The database answers what the meaning of a query says, however its records came.

use std::collections::BTreeMap;

use daybook_core::query::Query;
use daybook_core::{Digest, Record, json};
use daybook_projection::{Page, Projection};
use daybook_testkit::ledgers::build;
use daybook_testkit::random::Random;
use daybook_testkit::vectors;
use serde_json::Value;

fn query(text: &str) -> Query {
    Query::parse(&json::parse(text.as_bytes()).unwrap()).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// What the pure evaluator says.
fn expected(records: &BTreeMap<Digest, Record>, query: &Query) -> (Vec<String>, bool) {
    let rows = records.values().filter(|record| query.after().is_none_or(|after| record.sha() > after));
    let mut rows: Vec<String> =
        rows.filter(|record| query.matches(record)).map(|record| record.sha().to_string()).collect();
    let more = rows.len() > query.limit();
    rows.truncate(query.limit());
    (rows, more)
}

fn shown(page: &Page) -> (Vec<String>, bool) {
    (page.rows.iter().map(|row| row.sha.clone()).collect(), page.more)
}

fn add<'a>(projection: &mut Projection, records: impl IntoIterator<Item = &'a Record>) {
    let mut batch = projection.batch("triage").unwrap();
    for record in records {
        batch.add(record).unwrap();
    }
    batch.finish().unwrap();
}

const VALUES: [&str; 24] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "0.5",
    "1e+21",
    "5e-324",
    "9007199254740992",
    r#""""#,
    r#""a""#,
    r#""ab""#,
    r#""b""#,
    r#""\u0000""#,
    r#""1""#,
    r#""\uffff""#,
    r#""😀""#,
    "[]",
    "[1]",
    r#"["a"]"#,
    "{}",
    r#"{"b":1}"#,
    r#"{"b":"a","length":2}"#,
];
const PATHS: [&str; 7] =
    ["payload.a", "payload.b", "payload.a.b", "payload.a.length", "payload.c", "payload.length", "payload.b.b"];

fn payload(random: &mut Random, number: usize) -> String {
    let value = |random: &mut Random| VALUES[random.below(VALUES.len())];
    match random.below(8) {
        0 => value(random).to_owned(),
        1 => format!(r#"{{"a":"{}","n":{number}}}"#, "x".repeat(2000 + random.below(3))),
        _ => format!(r#"{{"a":{},"b":{},"n":{number}}}"#, value(random), value(random)),
    }
}

fn condition(random: &mut Random) -> String {
    let value = |random: &mut Random| VALUES[random.below(VALUES.len())];
    let ordered = |random: &mut Random| loop {
        let value = VALUES[random.below(VALUES.len())];
        if value.starts_with(['"', '-', '0', '1', '5', '9']) {
            return value;
        }
    };
    match random.below(9) {
        0 | 1 => format!(r#"{{"eq":{}}}"#, value(random)),
        2 => {
            let values: Vec<&str> = (0..random.below(5)).map(|_| value(random)).collect();
            format!(r#"{{"in":[{}]}}"#, values.join(","))
        }
        3 => format!(r#"{{"exists":{}}}"#, random.below(2) == 0),
        4 => format!(r#"{{"prefix":{}}}"#, [r#""""#, r#""a""#, r#""\u0000""#, r#""😀""#, r#""xx""#][random.below(5)]),
        operator => format!(r#"{{"{}":{}}}"#, ["gt", "gte", "lt", "lte"][operator - 5], ordered(random)),
    }
}

fn random_query(random: &mut Random) -> Query {
    let mut filters = BTreeMap::new();
    for _ in 0..random.below(4) {
        filters.insert(PATHS[random.below(PATHS.len())], condition(random));
    }
    let filters: Vec<String> = filters.iter().map(|(path, condition)| format!(r#""{path}":{condition}"#)).collect();
    let kind = ["", r#","type":"note""#, r#","type":"nobody""#][random.below(9).saturating_sub(6)];
    query(&format!(r#"{{"where":{{{}}},"limit":{}{kind}}}"#, filters.join(","), random.below(40) + 1))
}

// DB-5.1-02, DB-5.2-04, DB-10-13
#[test]
fn any_query_on_any_records_in_any_batches() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut projection = Projection::temporary().unwrap();
        let mut records = BTreeMap::new();
        for _ in 0..6 {
            let fresh: Vec<Record> = (0..random.below(120))
                .map(|number| {
                    let payload = json::parse(payload(&mut random, number).as_bytes()).unwrap();
                    build(&mut random, number, &[], &payload)
                })
                .collect();
            // Some come twice, as compaction leaves them.
            add(&mut projection, fresh.iter().chain(fresh.iter().take(3)));
            records.extend(fresh.into_iter().map(|record| (record.sha(), record)));
            for _ in 0..60 {
                let mut query = random_query(&mut random);
                loop {
                    let page = projection.page(&query).unwrap();
                    assert_eq!(shown(&page), expected(&records, &query), "seed {seed}: {query:?}");
                    let Some(last) = page.rows.last().filter(|_| page.more) else { break };
                    query = query.continued(last.sha.parse().unwrap());
                }
            }
        }
    }
}

/// More paths than have keys at a time: the ones that gave way come back.
#[test]
fn paths_beyond_the_bound_answer_as_well() {
    let mut random = Random::new(1);
    let members: Vec<String> = (0..100).map(|number| format!(r#""m{number}":{number}"#)).collect();
    let payload = json::parse(format!("{{{}}}", members.join(",")).as_bytes()).unwrap();
    let record = build(&mut random, 0, &[], &payload);
    let mut projection = Projection::temporary().unwrap();
    add(&mut projection, [&record]);
    for round in 0..2 {
        for number in 0..100 {
            let asked = |value: usize| query(&format!(r#"{{"where":{{"payload.m{number}":{{"eq":{value}}}}}}}"#));
            assert_eq!(projection.page(&asked(number)).unwrap().rows.len(), 1, "{round} {number}");
            assert_eq!(projection.page(&asked(number + 1)).unwrap().rows.len(), 0);
        }
    }
}

/// Every case of the reference that is text, answered by the database.
// DB-10-13
#[test]
fn the_reference_s_cases() {
    let document = vectors::document("query");
    let records: Vec<Record> =
        document["shard"].as_str().unwrap().lines().map(|line| Record::parse(line.as_bytes()).unwrap()).collect();
    let mut projection = Projection::temporary().unwrap();
    add(&mut projection, &records);
    let mut held = 0;
    for case in vectors::cases("query") {
        let Ok(query) = Query::parse(&json::parse(case["query"].to_string().as_bytes()).unwrap()) else { continue };
        let page = projection.page(&query).unwrap();
        let rows: Vec<usize> = page
            .rows
            .iter()
            .map(|row| records.iter().position(|record| record.sha().to_string() == row.sha).unwrap())
            .collect();
        assert_eq!(Value::from(rows), case["expected"]["rows"], "{}", case["name"]);
        assert_eq!(Value::from(page.more), case["expected"]["hasMore"]);
        held += 1;
    }
    assert!(held >= 30, "{held}");
    for row in projection.page(&query("{}")).unwrap().rows {
        let record = records.iter().find(|record| record.sha().to_string() == row.sha).unwrap();
        assert_eq!(row.payload, record.payload_text());
        assert_eq!((row.kind.as_str(), row.timestamp.as_str()), (record.kind(), record.timestamp()));
    }
}

/// CASES 50: what is appended between pages is seen by whoever reads on in the order of time.
#[test]
fn the_tail_misses_nothing() {
    let mut random = Random::new(3);
    let mut projection = Projection::temporary().unwrap();
    let everything = query(r#"{"limit":7}"#);
    assert_eq!(projection.latest(&everything).unwrap(), Page::default());
    let mut seen: Vec<String> = Vec::new();
    let mut written = Vec::new();
    let mut place = daybook_projection::Place::default();
    for round in 0..30 {
        // Clocks of other writers may be behind: instants do not rise with the rounds.
        let fresh: Vec<Record> = (0..random.below(12))
            .map(|number| build(&mut random, (37 * round + number) % 50, &[], &json::Value::Null))
            .collect();
        add(&mut projection, &fresh);
        written.extend(fresh.iter().map(|record| record.sha().to_string()));
        let page = projection.since(&everything, &place).unwrap();
        seen.extend(page.rows.iter().map(|row| row.sha.clone()));
        place = page.rows.last().map_or(place, |row| row.place());
        let latest = projection.latest(&everything).unwrap();
        assert_eq!((latest.rows.len(), latest.more), (written.len().min(7), written.len() > 7));
    }
    loop {
        let page = projection.since(&everything, &place).unwrap();
        let Some(last) = page.rows.last() else { break };
        seen.extend(page.rows.iter().map(|row| row.sha.clone()));
        place = last.place();
    }
    let latest = projection.latest(&everything).unwrap();
    assert_eq!(latest.rows.last().map(|row| &row.sha), seen.last());
    seen.sort();
    written.sort();
    assert_eq!(seen, written);
}
