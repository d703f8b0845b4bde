//! What the job says: the report, its exit, and the step summary.

use daybook_core::Digest;
use daybook_runner::{Exit, Report, Severity, summary};
use serde_json::{Map, Value, json};

use crate::graph::short;
use crate::land::Landing;
use crate::tell_files;

/// Codes that say something was met, and not that something new was lost.
const NOTES: &[&str] = &["truncated-record", "duplicate-record"];

/// From how much of the shard bound on a warning is given, in percent.
const NEARLY_FULL: u64 = 80;

/// Most heads that a report lists.
const MAX_HEADS: usize = 64;

/// Most heads that the summary shows.
const MAX_HEADS_SHOWN: usize = 8;

/// Reports all memories; the exit is the one of all of them together.
pub(crate) fn all(report: &mut Report, landings: &[Landing]) {
    for landing in landings {
        one(report, landing);
        if let Some(stop) = &landing.stop {
            stop.log();
        }
    }
    let sum = |of: fn(&Landing) -> u64| landings.iter().map(of).sum::<u64>();
    report
        .count("accepted", sum(|landing| landing.accepted))
        .count("refused", sum(refused))
        .count("commits", sum(|landing| u64::from(landing.commit.is_some())))
        .count("attempts", sum(|landing| u64::from(landing.attempts)))
        .count("files-persisted", sum(|landing| landing.files.landed()))
        .count("files-set-aside", sum(|landing| landing.files.left_out()))
        .member("ledgers", landings.iter().filter(|landing| landing.ledger.is_some()).map(member).collect::<Vec<_>>())
        .set_exit(exit(landings));
}

/// One end for several memories: where one landed and another did not, that is partial.
fn exit(landings: &[Landing]) -> Exit {
    let stopped = landings.iter().find_map(|landing| landing.stop.as_ref());
    match stopped {
        Some(_) if landings.iter().any(|landing| landing.commit.is_some()) => Exit::Partial,
        Some(stop) => stop.exit,
        None if landings.iter().any(|landing| refused(landing) + landing.files.left_out() > 0) => Exit::Partial,
        None => Exit::Ok,
    }
}

fn refused(landing: &Landing) -> u64 {
    landing.refusals.iter().filter(|(code, ..)| !NOTES.contains(code)).map(|(_, count, _)| count).sum()
}

fn one(report: &mut Report, landing: &Landing) {
    let Landing { memory, branch, .. } = landing;
    if landing.missing {
        let message = format!("nothing was staged for memory {memory}; its branch stays as it is");
        report.warning("staged-missing", &message).decided(message);
        return;
    }
    if landing.incomplete {
        let message = format!("the staged memory {memory} is not complete; nothing is taken as deleted");
        report.note("staged-incomplete", &message);
    }
    for (code, count, ids) in landing.refusals.iter() {
        let severity = if NOTES.contains(&code) { Severity::Note } else { Severity::Warning };
        let message = format!("{count} in memory {memory} not kept: {code}{}", advice(code));
        let details = json!({"memory": memory, "count": count, "ids": ids});
        report.diagnose(severity, code, &message, details);
    }
    if let Some(stop) = &landing.stop {
        report.diagnose(Severity::Error, stop.code, &stop.message, json!({"memory": memory, "branch": branch}));
        report.decided(format!("nothing of memory {memory} was persisted"));
        return;
    }
    tell_files::all(report, landing);
    let Some(ledger) = &landing.ledger else {
        let tries = attempts(landing);
        match &landing.commit {
            Some(commit) => report.wrote(format!("to branch {branch} as commit {commit}, after {tries}")),
            None => report.decided(format!("memory {memory} has nothing new to keep")),
        };
        return;
    };
    report.read(format!("branch {branch}: {} heads", landing.heads_before.len()));
    if landing.findings > 0 {
        let message = format!("the ledger on branch {branch} has {} findings of its own", landing.findings);
        report.warning("branch-findings", &message);
    }
    if landing.shards * 100 >= landing.max_shards * NEARLY_FULL {
        let message =
            format!("ledger {ledger} uses {} of {} shards; it needs compaction", landing.shards, landing.max_shards);
        report.warning("shards-nearly-full", &message);
    }
    let tries = attempts(landing);
    match &landing.commit {
        Some(commit) => {
            report.decided(format!("{} records of ledger {ledger} are new and sound", landing.accepted));
            let wrote = format!("{} records in {} shards", landing.accepted, landing.segments);
            report.wrote(format!("{wrote} to branch {branch} as commit {commit}, after {tries}"));
        }
        None => {
            report.decided(format!("ledger {ledger} has nothing new to keep ({tries})"));
        }
    }
}

fn attempts(landing: &Landing) -> String {
    if landing.attempts == 1 { "1 attempt".to_owned() } else { format!("{} attempts", landing.attempts) }
}

fn advice(code: &str) -> &'static str {
    match code {
        "over-patch" => "; raise max-patch-kb, and run the job again to land what is staged",
        "shard-bound" => "; compact the ledger or raise max-shards, and run the job again to land what is staged",
        "shard-tampered" => "; a shard that is trusted already never changes",
        "coverage-refused" | "state-refused" | "ledger-file-refused" => "; agents add records and nothing else",
        "read-only" => "; the ledger is configured as read-only",
        _ => "",
    }
}

fn member(landing: &Landing) -> Value {
    let refused: Map<String, Value> =
        landing.refusals.iter().map(|(code, count, _)| (code.to_owned(), count.into())).collect();
    let heads = |heads: &[Digest]| heads.iter().take(MAX_HEADS).map(Digest::to_string).collect::<Vec<_>>();
    json!({
        "ledger": landing.ledger,
        "memory": landing.memory,
        "branch": landing.branch,
        "outcome": exit(std::slice::from_ref(landing)).name(),
        "accepted": landing.accepted,
        "refused": refused,
        "heads_before": heads(&landing.heads_before),
        "heads_after": heads(&landing.heads_after),
        "shards": landing.shards,
        "max_shards": landing.max_shards,
        "commit": landing.commit.map(|commit| commit.to_string()),
        "attempts": landing.attempts,
    })
}

/// The report as Markdown. Everything in it is text of ours, or neutralised.
pub(crate) fn markdown(report: &Report, landings: &[Landing]) -> String {
    let mut page = summary::page("persist", report);
    page.extend(landings.iter().filter_map(ledger_section));
    page.extend(landings.iter().filter_map(tell_files::section));
    page
}

/// What is in the ledger now that was not there before.
fn ledger_section(landing: &Landing) -> Option<String> {
    let ledger = landing.ledger.as_ref()?;
    let heads = |heads: &[Digest]| match heads {
        [] => "none".to_owned(),
        _ => {
            let more = heads.len().saturating_sub(MAX_HEADS_SHOWN);
            let shown = heads.iter().take(MAX_HEADS_SHOWN).map(|head| format!("`{}`", short(head)));
            let shown = shown.collect::<Vec<_>>().join(" ");
            if more == 0 { shown } else { format!("{shown} and {more} more") }
        }
    };
    let refused: Vec<String> = landing.refusals.iter().map(|(code, count, _)| format!("{count} `{code}`")).collect();
    let rows = [
        ("accepted", landing.accepted.to_string()),
        ("not kept", if refused.is_empty() { "none".to_owned() } else { refused.join(", ") }),
        ("heads before", heads(&landing.heads_before)),
        ("heads after", heads(&landing.heads_after)),
        ("shards used", format!("{} of {}", landing.shards, landing.max_shards)),
    ];
    let rows: Vec<String> = rows.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    let graph = landing.graph.as_ref().map(|graph| format!("\n{graph}")).unwrap_or_default();
    Some(format!("#### Ledger {ledger}\n\n| | |\n|---|---|\n{}{graph}\n", rows.concat()))
}
