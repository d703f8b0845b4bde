//! What the log and the safe outputs claim, held against the records that are really there (§8).

use std::collections::BTreeSet;

use daybook_core::Digest;
use daybook_core::baseline::MemoryBaseline;
use daybook_core::config::Config;
use daybook_core::detection::FindingCode as Code;
use daybook_core::event::{EVENT_TYPE, MutationEvent};

use crate::finding::{Findings, Place};
use crate::memory::Memory;

/// A well-formed event and the line on which it stands, counted from 1.
#[derive(Debug)]
pub(crate) struct Claim {
    line: u64,
    ledger: Option<String>,
    event: MutationEvent,
}

/// Reads the events of a file. Lines of other kinds are passed over; one that names itself an event and is none is a
/// finding.
pub(crate) fn read(text: &[u8], config: &Config, only_events: bool, findings: &mut Findings) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (line, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let text = text.trim_ascii();
        if text.is_empty() || !(only_events || names_an_event(text)) {
            continue;
        }
        match MutationEvent::parse(text) {
            Ok(event) => claims.push(Claim {
                line,
                ledger: event.ledger_of(config).map(|ledger| ledger.name.to_string()),
                event,
            }),
            Err(_) => findings.add(Code::EventMalformed, Place { line: Some(line), ..Place::default() }),
        }
    }
    claims
}

/// Whether any reader could take the line for an event.
fn names_an_event(line: &[u8]) -> bool {
    line.windows(EVENT_TYPE.len()).any(|window| window == EVENT_TYPE.as_bytes())
        || serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|value| value["type"] == EVENT_TYPE)
}

/// Correlates the claims about one ledger with its memory, both ways.
// DB-8-08
pub(crate) fn correlate(
    ledger: &str,
    claims: &[Claim],
    memory: &Memory,
    baseline: &MemoryBaseline,
    findings: &mut Findings,
) {
    let place = || Place { memory: Some(baseline.id.clone()), ..Place::default() };
    let mut told: BTreeSet<Digest> = BTreeSet::new();
    for claim in claims.iter().filter(|claim| claim.ledger.as_deref() == Some(ledger)) {
        let sha = claim.event.record_sha();
        let place = Place { record: Some(claim.event.record_id()), sha: Some(sha), line: Some(claim.line), ..place() };
        match memory.new_records.get(&sha) {
            Some(record) if claim.event.agrees_with(record) => drop(told.insert(sha)),
            Some(_) => findings.add(Code::EventDisagrees, place),
            None if baseline.records.contains(&sha) => findings.add(Code::EventForKnownRecord, place),
            None => findings.add(Code::EventWithoutRecord, place),
        }
    }
    for record in memory.new_records.values().filter(|record| !told.contains(&record.sha())) {
        findings.add(Code::RecordWithoutEvent, Place { record: Some(record.id()), ..place() });
    }
}

/// Claims about ledgers that this workflow does not have.
pub(crate) fn strangers(claims: &[Claim], findings: &mut Findings) {
    for claim in claims.iter().filter(|claim| claim.ledger.is_none()) {
        findings.add(Code::EventWithoutRecord, Place { line: Some(claim.line), ..Place::default() });
    }
}
