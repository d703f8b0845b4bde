//! What can be wrong with a line. No fault repeats text of the line.

use std::collections::BTreeMap;

use daybook_core::event::EventFault;
use daybook_core::json::JsonFault;
use serde_json::{Value, json};

/// Most faults that the result lists one by one; the rest is counted.
pub(crate) const MAX_LISTED: usize = 500;

/// Most line numbers that a message names.
const MAX_LINES: usize = 8;

/// Why a line is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineFault {
    #[error("longer than a line may be")]
    TooLong,
    #[error("no output: {0}")]
    Json(#[from] JsonFault),
    #[error("no output: not an object")]
    NotAnObject,
    #[error("no output: the member type is missing, or not a text")]
    NoType,
    #[error("a type that begins like those of ledgers, and is none of them")]
    ReservedType,
    #[error("looks like an audit event and is none")]
    Event(#[from] EventFault),
    #[error("about a ledger that this workflow does not have")]
    UnknownLedger,
    #[error("says of a record something else than an earlier line")]
    Contradiction,
    #[error("more lines of one kind than the configuration allows")]
    OverBound,
    #[error("a request for compaction has the members type, ledger and reason, all of them texts, and no other")]
    Request,
    #[error("the reason has more than 512 characters")]
    ReasonTooLong,
    #[error("a request for compaction has to name its ledger where not exactly one is compacted")]
    LedgerNotNamed,
    #[error("about a ledger whose compaction is off")]
    NoCompaction,
    #[error("this run has asked for the compaction of this ledger already")]
    AskedAlready,
}

impl LineFault {
    /// The code in the result and in reports.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::TooLong => "line-too-long",
            Self::Json(fault) => fault.code(),
            Self::NotAnObject => "not-an-object",
            Self::NoType => "type-missing",
            Self::ReservedType => "type-reserved",
            Self::Event(_) => "event-malformed",
            Self::UnknownLedger => "unknown-ledger",
            Self::Contradiction => "event-contradicts",
            Self::OverBound => "over-bound",
            Self::Request => "request-malformed",
            Self::ReasonTooLong => "reason-too-long",
            Self::LedgerNotNamed => "ledger-not-named",
            Self::NoCompaction => "no-compaction",
            Self::AskedAlready => "asked-already",
        }
    }
}

/// Faults of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) count: u64,
    pub(crate) sentence: String,
    lines: Vec<u64>,
}

impl Group {
    /// Where they are, as far as a message names it.
    pub(crate) fn places(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(u64::to_string).collect();
        let more = if self.count > self.lines.len() as u64 { ", …" } else { "" };
        format!("line {}{more}", lines.join(", "))
    }
}

/// All faults of a file: a bounded list, and full counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LineFaults {
    listed: Vec<(u64, LineFault)>,
    groups: BTreeMap<&'static str, Group>,
}

impl LineFaults {
    pub(crate) fn add(&mut self, line: u64, fault: LineFault) {
        let group = self.groups.entry(fault.code()).or_insert_with(|| Group {
            count: 0,
            sentence: fault.to_string(),
            lines: Vec::new(),
        });
        group.count += 1;
        if group.lines.len() < MAX_LINES {
            group.lines.push(line);
        }
        if self.listed.len() < MAX_LISTED {
            self.listed.push((line, fault));
        }
    }

    /// How many there were.
    pub(crate) fn total(&self) -> u64 {
        self.groups.values().map(|group| group.count).sum()
    }

    /// Each code with its faults.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&'static str, &Group)> {
        self.groups.iter().map(|(code, group)| (*code, group))
    }

    /// The list as the result holds it; where it was cut, the last entry says how many are missing.
    pub(crate) fn to_json(&self) -> Vec<Value> {
        let entry = |(line, fault): &(u64, LineFault)| {
            let mut entry = json!({ "line": line, "code": fault.code(), "message": fault.to_string() });
            if let LineFault::Event(EventFault::Member(member)) = fault {
                entry["member"] = (*member).into();
            }
            entry
        };
        let mut entries: Vec<Value> = self.listed.iter().map(entry).collect();
        let cut = self.total() - self.listed.len() as u64;
        if cut > 0 {
            entries.push(json!({ "code": "not-listed", "count": cut }));
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_bounded_and_nothing_goes_uncounted() {
        let mut faults = LineFaults::default();
        for line in 1..=2000 {
            faults.add(line, if line % 2 == 0 { LineFault::NoType } else { LineFault::TooLong });
        }
        assert_eq!((faults.total(), faults.to_json().len()), (2000, MAX_LISTED + 1));
        assert_eq!(faults.to_json()[MAX_LISTED], json!({ "code": "not-listed", "count": 1500 }));
        let (code, group) = faults.groups().next().unwrap();
        assert_eq!((code, group.count), ("line-too-long", 1000));
        assert_eq!(group.places(), "line 1, 3, 5, 7, 9, 11, 13, 15, …");
    }
}
