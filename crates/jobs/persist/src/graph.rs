//! The new part of a ledger's DAG as a drawing for the run's page.

use std::collections::HashMap;
use std::fmt::Write as _;

use daybook_core::{Digest, Record};

/// Most records that are drawn; beyond that a drawing says less than a count.
const MAX_DRAWN: usize = 32;

/// Most parents from before the run that are drawn.
const MAX_KNOWN: usize = 16;

/// Longest type in a node, in characters.
const MAX_KIND: usize = 24;

/// A Mermaid flow chart of these records: each with its type and the start of its digest, an arrow from each parent, and
/// parents from before the run as round nodes. `None` where there is nothing, or too much, to draw.
pub(crate) fn mermaid(records: &[&Record]) -> Option<String> {
    if records.is_empty() || records.len() > MAX_DRAWN {
        return None;
    }
    let new: HashMap<Digest, usize> = records.iter().enumerate().map(|(number, one)| (one.sha(), number)).collect();
    let mut known: Vec<Digest> =
        records.iter().flat_map(|record| record.parents()).copied().filter(|sha| !new.contains_key(sha)).collect();
    known.sort_unstable();
    known.dedup();
    if known.len() > MAX_KNOWN {
        return None;
    }
    let node = |sha: &Digest| match new.get(sha) {
        Some(number) => Some(format!("n{number}")),
        None => known.binary_search(sha).ok().map(|number| format!("k{number}")),
    };
    let mut chart = String::from("```mermaid\ngraph LR\n");
    // Writing into a string does not fail.
    for (number, sha) in known.iter().enumerate() {
        let _ = writeln!(chart, "  k{number}([\"{}\"])", short(sha));
    }
    for (number, record) in records.iter().enumerate() {
        let _ = writeln!(chart, "  n{number}[\"{} {}\"]", word(record.kind()), short(&record.sha()));
        for parent in record.parents().iter().filter_map(node) {
            let _ = writeln!(chart, "  {parent} --> n{number}");
        }
    }
    chart.push_str("```\n");
    Some(chart)
}

/// The start of a digest, for people.
pub(crate) fn short(sha: &Digest) -> String {
    sha.to_string().trim_start_matches("sha256:").chars().take(7).collect()
}

/// The letters and digits of a type: an agent chose it, and a chart has a language of its own.
fn word(kind: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    kind.chars().take(MAX_KIND).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use daybook_core::{Draft, Limits, RecordId, json};

    use super::*;

    fn record(number: usize, kind: &str, parents: &[Digest]) -> Record {
        let mut parents = parents.to_vec();
        parents.sort_unstable();
        let draft = Draft {
            id: RecordId::from_text(format!("ldg-{number:08x}-1111-4111-8111-111111111111").as_bytes()).unwrap(),
            kind,
            timestamp: "2026-03-01T12:00:01.000Z",
            parents: &parents,
            payload: &json::parse(b"1").unwrap(),
        };
        Record::build(&draft, &Limits::default()).unwrap()
    }

    #[test]
    fn each_record_and_each_arrow_is_there() {
        let before = Digest::of(b"before");
        let first = record(1, "note", &[before]);
        let second = record(2, "decision", &[first.sha(), before]);
        let chart = mermaid(&[&first, &second]).unwrap();
        for line in ["  k0 --> n0\n", "  n0 --> n1\n", "  k0 --> n1\n", "[\"note ", "[\"decision ", "([\""] {
            assert!(chart.contains(line), "{line} in {chart}");
        }
        assert_eq!(chart.matches("-->").count(), 3);
    }

    #[test]
    fn a_type_cannot_leave_its_node_and_what_is_too_large_is_not_drawn() {
        let hostile = record(1, "\"]; click n0 \"javascript:x\" ```", &[]);
        let chart = mermaid(&[&hostile]).unwrap();
        assert_eq!((chart.matches('"').count(), chart.matches("```").count(), chart.matches(';').count()), (2, 2, 0));
        let many: Vec<Record> = (0..=MAX_DRAWN).map(|number| record(number, "note", &[])).collect();
        assert_eq!(mermaid(&many.iter().collect::<Vec<_>>()), None);
        assert_eq!(mermaid(&[]), None);
        let parents: Vec<Digest> = (0..=MAX_KNOWN).map(|number| Digest::of(&number.to_be_bytes())).collect();
        assert_eq!(mermaid(&[&record(1, "note", &parents)]), None);
    }
}
