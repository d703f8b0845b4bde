//! Conformance: the reference runtime's answers to every case in `testdata/vectors`.
//!
//! Where we answer otherwise on purpose, the table of deviations in `SPEC.md` has a row that names the case and our
//! answer. A difference without a row fails, and so does a row without a difference.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a test stops where its data is not as expected"
)]

use std::collections::BTreeSet;

use daybook_core::diagnostic::{Code, Detail, Diagnostic};
use daybook_core::json::{self, JsonFault};
use daybook_core::limits::{Bytes, Count};
use daybook_core::query::{Query, QueryFault};
use daybook_core::segment::{Segment, SegmentFault};
use daybook_core::{Digest, Ledger, Record, ShardId};
use daybook_testkit::vectors::{self, Deviations};
use serde_json::Value;

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

/// The reference's name for a code of ours, by the mapping in SPEC.md.
fn reference_code(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.code {
        Code::DuplicateRecord => "duplicate-id",
        code => code.name(),
    }
}

fn one_shard() -> ShardId {
    ShardId::from_text("00000000-0000-4000-8000-000000000001").unwrap()
}

// DB-2-01, DB-10-01
#[test]
fn canonical() {
    let mut deviations = Deviations::of("canonical");
    for case in vectors::cases("canonical") {
        let ours = match json::canonical(text(&case, "input").as_bytes()) {
            Ok(canonical) => format!("{canonical} {}", Digest::of(canonical.as_bytes())),
            Err(fault) => format!("refused: {}", fault.code()),
        };
        let theirs = match case["peer"]["error"].as_str() {
            Some("invalid-json") => format!("refused: {}", JsonFault::Syntax.code()),
            Some("Ledger JSON exceeds maximum nesting depth") => format!("refused: {}", JsonFault::TooDeep.code()),
            Some("Ledger value must be finite, acyclic JSON") => format!("refused: {}", JsonFault::Overflow.code()),
            Some(other) => panic!("an answer without a mapping: {other}"),
            None => format!("{} {}", text(&case["peer"], "canonical"), text(&case["peer"], "sha256")),
        };
        deviations.hold(text(&case, "name"), &ours, &theirs);
    }
    deviations.finish();
}

// DB-2-01, DB-2-02, DB-2-03, DB-2-04, DB-2-05, DB-2-06, DB-8-04, DB-8-05, DB-9-05, DB-10-02
#[test]
fn records() {
    let mut deviations = Deviations::of("records");
    for case in vectors::cases("records") {
        let line = text(&case, "line").as_bytes();
        let ours = match Record::parse(line) {
            Ok(record) => {
                assert_eq!(record.line(), line);
                format!("accepted {}", record.sha())
            }
            Err(fault) => reference_code(&Diagnostic::at_line(one_shard(), 1, fault)).to_owned(),
        };
        let peer = &case["peer"];
        let theirs = if peer["accepted"] == true {
            format!("accepted {}", text(peer, "sha"))
        } else {
            text(peer, "code").to_owned()
        };
        deviations.hold(text(&case, "name"), &ours, &theirs);
    }
    for case in vectors::list("records", "byte_cases") {
        let bytes = vectors::base64(text(&case, "shard_base64"));
        let mut ledger = Ledger::builder(Count::new(1024));
        ledger.add_shard(one_shard(), &bytes);
        let ledger = ledger.finish();
        let ours = summary(ledger.len() as u64, findings(&ledger));
        let theirs =
            summary(case["peer"]["accepted"].as_u64().unwrap(), expected_findings(&case["peer"]["diagnostics"]));
        deviations.hold(text(&case, "name"), &ours, &theirs);
    }
    deviations.finish();
}

fn summary(accepted: u64, findings: BTreeSet<String>) -> String {
    std::iter::once(format!("{accepted} accepted")).chain(findings).collect::<Vec<_>>().join("; ")
}

/// Findings as `code`, then the line or the record; a shard is named only where several could be meant.
fn findings(ledger: &Ledger) -> BTreeSet<String> {
    ledger
        .diagnostics()
        .kept()
        .iter()
        .map(|found| {
            finding(
                reference_code(found),
                found.shard.map(|shard| shard.file_name()),
                found.line,
                found
                    .record
                    .map(|id| id.to_string())
                    .filter(|_| found.code == Code::DuplicateIdConflict || found.line.is_none()),
            )
        })
        .collect()
}

fn expected_findings(diagnostics: &Value) -> BTreeSet<String> {
    let all = diagnostics.as_array().unwrap().iter();
    all.map(|found| {
        finding(
            text(found, "code"),
            found["file"].as_str().map(str::to_owned),
            found["line"].as_u64(),
            found["id"].as_str().map(str::to_owned),
        )
    })
    .collect()
}

fn finding(code: &str, file: Option<String>, line: Option<u64>, id: Option<String>) -> String {
    // A file whose name is bad cannot be shown: it is named by its code alone.
    let file = file.filter(|name| ShardId::from_file_name(name).is_some());
    let place = [file.filter(|_| line.is_some()), line.map(|line| line.to_string()), id];
    std::iter::once(code.to_owned()).chain(place.into_iter().flatten()).collect::<Vec<_>>().join(" ")
}

// DB-6-01, DB-8-06, DB-9-06
#[test]
fn dag() {
    let mut deviations = Deviations::of("dag");
    for case in vectors::cases("dag") {
        let bound = case["options"]["maxFiles"].as_u64().unwrap_or(1024);
        let mut builder = Ledger::builder(Count::new(bound));
        for (name, content) in case["shards"].as_object().unwrap() {
            match ShardId::from_file_name(name) {
                Some(shard) => builder.add_shard(shard, content.as_str().unwrap().as_bytes()),
                None if name.ends_with(".jsonl") => builder.add_file_fault(None, Detail::BadName),
                None => {}
            }
        }
        let ledger = builder.finish();
        let name = text(&case, "name");
        let expected = &case["expected"];
        let order: Vec<String> = ledger.order().map(|entry| entry.sha().to_string()).collect();
        let heads: Vec<String> = ledger.heads().iter().map(ToString::to_string).collect();
        assert_eq!(Value::from(order), expected["order"], "{name}");
        assert_eq!(Value::from(heads), expected["heads"], "{name}");
        assert_eq!(ledger.incomplete(), expected["status"]["incompleteRecords"], "{name}");
        let locations: Vec<String> = ledger
            .order()
            .map(|entry| format!("{}:{}", entry.location().shard.file_name(), entry.location().offset))
            .collect();
        assert_eq!(Value::from(locations), expected["locations"], "{name}");
        let ours = summary(ledger.len() as u64, findings(&ledger));
        let theirs =
            summary(expected["order"].as_array().unwrap().len() as u64, expected_findings(&expected["diagnostics"]));
        deviations.hold(name, &ours, &theirs);
    }
    deviations.finish();
}

// DB-6-03
#[test]
fn segments() {
    let document = vectors::document("segments");
    let mut deviations = Deviations::of("segments");
    for case in vectors::cases("segments") {
        // Some cases give records as values; a record that does not parse cannot reach a segment here.
        let lines: Vec<String> = case["records"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| {
                record.as_str().map_or_else(|| canonical_of(record), |key| text(&document["records"], key).to_owned())
            })
            .collect();
        let parsed: Result<Vec<Record>, _> = lines.iter().map(|line| Record::parse(line.as_bytes())).collect();
        let metadata = case.get("metadata").map_or_else(|| "{}".to_owned(), canonical_of);
        let limit = Bytes::new(case["maxSegmentBytes"].as_u64().unwrap_or(u64::MAX));
        let ours = match parsed.map(|records| Segment::build(&metadata, &records, limit)) {
            Err(_) => "an invalid record".to_owned(),
            Ok(Err(SegmentFault::TooDeep)) => "too deep".to_owned(),
            Ok(Err(SegmentFault::TooLarge { .. })) => "too large".to_owned(),
            Ok(Ok(segment)) => {
                let records: Vec<String> = segment.records().iter().map(ToString::to_string).collect();
                format!("{} {} {} {}", segment.id(), segment.bytes().len(), segment.sha256(), records.join(" "))
            }
        };
        let expected = &case["expected"];
        let theirs = match expected["error"].as_str() {
            Some("Ledger segment contains an invalid record") => "an invalid record".to_owned(),
            Some("Ledger JSON exceeds maximum nesting depth") => "too deep".to_owned(),
            Some("Ledger segment exceeds maximum size") => "too large".to_owned(),
            Some(other) => panic!("an answer without a mapping: {other}"),
            None => {
                let records: Vec<&str> =
                    expected["records"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                format!(
                    "{} {} {} {}",
                    text(expected, "segment"),
                    expected["bytes"],
                    text(expected, "sha256"),
                    records.join(" ")
                )
            }
        };
        deviations.hold(text(&case, "name"), &ours, &theirs);
    }
    deviations.finish();
}

// DB-5.2-04, DB-5.2-05, DB-5.2-06
#[test]
fn query() {
    let mut deviations = Deviations::of("query");
    let document = vectors::document("query");
    let mut records: Vec<(usize, Record)> = text(&document, "shard")
        .lines()
        .enumerate()
        .map(|(number, line)| (number, Record::parse(line.as_bytes()).unwrap()))
        .collect();
    records.sort_by_key(|(_, record)| record.sha());
    let page = |query: &Query| {
        let rows = records.iter().filter(|(_, record)| query.after().is_none_or(|after| record.sha() > after));
        let mut rows: Vec<&(usize, Record)> = rows.filter(|(_, record)| query.matches(record)).collect();
        let more = rows.len() > query.limit();
        rows.truncate(query.limit());
        let cursor = rows.last().filter(|_| more).map(|(_, record)| record.sha());
        (Value::from(rows.iter().map(|(number, _)| *number).collect::<Vec<_>>()), cursor)
    };
    for case in vectors::cases("query") {
        // Some queries hold what no Unicode string can, and stand in the file as text.
        let asked = case["query_json"].as_str().map_or_else(|| case["query"].to_string(), str::to_owned);
        let ours = match json::parse(asked.as_bytes()) {
            Err(fault) => format!("refused: {}", fault.code()),
            Ok(arguments) => match Query::parse(&arguments) {
                Err(fault) => format!("refused: {fault:?}"),
                Ok(query) => {
                    let (rows, cursor) = page(&query);
                    let cursor = cursor.map_or(Value::Null, |sha| sha.to_string().into());
                    format!("{rows} {} {cursor}", !cursor.is_null())
                }
            },
        };
        let expected = &case["expected"];
        let theirs = match expected["error"].as_str() {
            Some(message) => format!("refused: {:?}", query_fault(message)),
            None => format!("{} {} {}", expected["rows"], expected["hasMore"], expected["nextCursor"]),
        };
        deviations.hold(text(&case, "name"), &ours, &theirs);
    }
    deviations.finish();

    let mut query = Query::parse(&json::parse(br#"{"limit":5}"#).unwrap()).unwrap();
    let mut pages = Vec::new();
    loop {
        let (rows, cursor) = page(&query);
        pages.push(rows);
        let Some(cursor) = cursor else { break };
        query = query.continued(cursor);
    }
    assert_eq!(Value::from(pages), document["paging_limit_5"]);
}

/// Our name for the reason that a message of the reference gives.
fn query_fault(message: &str) -> QueryFault {
    match message {
        "Invalid query limit" => QueryFault::Limit,
        "Invalid query payload path" => QueryFault::Path,
        "Unsupported query operator" => QueryFault::Operator,
        "Query predicate must have one operator" => QueryFault::Predicate,
        "Invalid query where filter" => QueryFault::Where,
        "Invalid in query filter" => QueryFault::Alternatives,
        "Invalid query cursor" => QueryFault::After,
        other => panic!("an answer without a mapping: {other}"),
    }
}

fn canonical_of(value: &Value) -> String {
    json::canonical(value.to_string().as_bytes()).unwrap()
}

/// A ledger of 1,000 records that the reference runtime wrote reads without a finding.
#[test]
fn reference_ledger() {
    let (shards, meta) = vectors::reference_ledger();
    let mut builder = Ledger::builder(Count::new(1024));
    for (shard, bytes) in shards {
        builder.add_shard(shard, &bytes);
    }
    let ledger = builder.finish();
    let heads: Vec<String> = ledger.heads().iter().map(ToString::to_string).collect();
    assert_eq!((ledger.len() as u64, ledger.diagnostics().total()), (meta["records"].as_u64().unwrap(), 0));
    assert_eq!(Value::from(heads), meta["heads"]);
}
