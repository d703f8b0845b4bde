//! What the job says: the report, its exit, the result file, and the step summary.
//!
//! Of what an agent wrote, only a record's type and a reason are shown, short and harmless.

use std::collections::BTreeMap;

use daybook_core::Digest;
use daybook_runner::{Exit, MAX_TEXT, Report, Severity, neutralise, plain};
use serde_json::{Value, json};

use crate::deliver::{Delivery, Fate};
use crate::ingest::{Claim, Ingested, REQUEST_TYPE};

/// How many hexadecimal digits of a digest a table shows.
const SHORT: usize = 12;

/// How the job ends (FORMATS §8). A request that failed says so unless another one was sent; lines that were refused,
/// while the others were handled, are partial.
pub(crate) fn exit(found: &Ingested, delivery: &Delivery) -> Exit {
    let failed = delivery.fates.iter().find_map(|fate| match fate {
        Fate::Failed(fault) => Some(fault.exit()),
        _ => None,
    });
    match failed {
        Some(_) if delivery.fates.contains(&Fate::Sent) => Exit::Partial,
        Some(exit) => exit,
        None if found.faults.total() > 0 => Exit::Partial,
        None => Exit::Ok,
    }
}

/// The result file: what was handled and what was refused, bounded.
pub(crate) fn result(found: &Ingested, delivery: &Delivery) -> Value {
    let claims = found.claims.iter().map(|claim| {
        let mut item: Value = serde_json::from_str(&claim.event.to_line()).unwrap_or_default();
        item["ledger"] = claim.ledger.as_str().into();
        item["line"] = claim.line.into();
        item["record"]["type"] = plain(claim.event.record_kind(), MAX_TEXT).into();
        item
    });
    let mut errors = found.faults.to_json();
    let mut requests = Vec::new();
    for (request, fate) in found.requests.iter().zip(&delivery.fates) {
        let reason = plain(&request.reason, MAX_TEXT);
        let (line, ledger) = (request.line, &request.ledger);
        let outcome = fate.name();
        requests
            .push(json!({"type": REQUEST_TYPE, "line": line, "ledger": ledger, "reason": reason, "outcome": outcome}));
        if let Fate::Failed(fault) = fate {
            let message = fault.to_string();
            errors.push(json!({"line": line, "ledger": ledger, "code": fault.code(), "message": message}));
        }
    }
    json!({ "items": claims.chain(requests).collect::<Vec<_>>(), "errors": errors })
}

/// Fills the report.
// DB-3-10, DB-9-10
pub(crate) fn report(report: &mut Report, found: &Ingested, delivery: &Delivery) {
    let sent = |fate| delivery.fates.iter().filter(|other| **other == fate).count() as u64;
    report
        .read(format!("{} lines of the safe outputs", found.lines))
        .count("lines", found.lines)
        .count("claimed", found.claims.len() as u64)
        .count("claims-repeated", found.repeated)
        .count("requests", found.requests.len() as u64)
        .count("requests-sent", sent(Fate::Sent))
        .count("attempts", delivery.attempts.into())
        .count("passed-on", found.passed_on())
        .count("refused", found.faults.total())
        .set_exit(exit(found, delivery));
    for (ledger, claims) in by_ledger(found) {
        report.decided(format!("{} appends to ledger {ledger} are claimed; nothing follows from that", claims.len()));
    }
    for (request, fate) in found.requests.iter().zip(&delivery.fates) {
        let ledger = &request.ledger;
        match fate {
            Fate::Sent => drop(report.wrote(format!("a request to compact ledger {ledger}"))),
            Fate::Printed => drop(report.decided(format!("a request to compact ledger {ledger} is printed, not sent"))),
            Fate::Failed(fault) => {
                let message = format!("compaction of ledger {ledger} was not asked for: {fault}");
                let details = json!({ "ledger": ledger, "line": request.line });
                report.diagnose(Severity::Error, fault.code(), &message, details);
            }
        }
    }
    for (code, group) in found.faults.groups() {
        let message = format!("{} refused ({}): {}", lines(group.count), group.places(), group.sentence);
        report.diagnose(Severity::Warning, code, &message, json!({ "count": group.count }));
    }
    if found.reduced > 0 {
        let message = format!("{} held more than an audit event has, which was dropped", lines(found.reduced));
        report.note("event-reduced", &message);
    }
    report.wrote(format!("outputs for the author's jobs: {}", found.passed_on()));
    if !delivery.printed.is_empty() {
        for request in &delivery.printed {
            report.decided(format!("would send {request}"));
        }
        report.member("requests", delivery.printed.clone());
    }
    report.member("types", json!(found.types));
}

fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn by_ledger(found: &Ingested) -> BTreeMap<&str, Vec<&Claim>> {
    let mut ledgers: BTreeMap<&str, Vec<&Claim>> = BTreeMap::new();
    for claim in &found.claims {
        ledgers.entry(&claim.ledger).or_default().push(claim);
    }
    ledgers
}

/// The step summary. Claims come last: they are what a summary that is full can do without.
pub(crate) fn summary(found: &Ingested, delivery: &Delivery) -> String {
    let mut page = format!("### Safe outputs: {}\n\n", exit(found, delivery).name());
    if !found.requests.is_empty() {
        page.push_str("| compaction asked for | outcome | reason given |\n|---|---|---|\n");
        for (request, fate) in found.requests.iter().zip(&delivery.fates) {
            let reason = neutralise(&request.reason, MAX_TEXT);
            let outcome = match fate {
                Fate::Failed(fault) => format!("failed: `{}`", fault.code()),
                other => other.name().to_owned(),
            };
            page.push_str(&format!("| {} | {outcome} | {reason} |\n", request.ledger));
        }
        page.push('\n');
    }
    if found.passed_on() > 0 {
        page.push_str("| handed on to the author's jobs | outputs |\n|---|---|\n");
        for (kind, count) in &found.types {
            page.push_str(&format!("| {} | {count} |\n", neutralise(kind, MAX_TEXT)));
        }
        if found.other_types > 0 {
            page.push_str(&format!("| (other types) | {} |\n", found.other_types));
        }
        page.push('\n');
    }
    if found.faults.total() > 0 {
        page.push_str("| refused | lines | where |\n|---|---|---|\n");
        for (code, group) in found.faults.groups() {
            page.push_str(&format!("| `{code}` | {} | {} |\n", group.count, group.places()));
        }
        page.push('\n');
    }
    for (ledger, claims) in by_ledger(found) {
        page.push_str(&format!(
            "#### Ledger {ledger}: {} appends *claimed*\n\nWhat the run says of itself; what landed, the persist job says.\n\n\
             | record | type | time | record hash | payload hash |\n|---|---|---|---|---|\n",
            claims.len()
        ));
        for claim in claims {
            let event = &claim.event;
            page.push_str(&format!(
                "| `{}` | {} | {} | `{}` | `{}` |\n",
                event.record_id(),
                neutralise(event.record_kind(), MAX_TEXT),
                event.record_timestamp(),
                short(event.record_sha()),
                short(event.payload_sha()),
            ));
        }
        page.push('\n');
    }
    if found.lines == 0 {
        page.push_str("The run left no outputs.\n");
    }
    page
}

fn short(digest: Digest) -> String {
    digest.to_string().trim_start_matches("sha256:").chars().take(SHORT).collect()
}
