//! The findings of one run.

use std::collections::BTreeMap;

use daybook_core::detection::{Detection, FindingCode as Code, Verdict};
use daybook_core::{Digest, RecordId};

/// Most findings that are listed; the rest is counted.
pub(crate) const MAX_LISTED: usize = 500;

/// Where a finding is. No part of it is text that the run wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The memory.
    pub memory: Option<String>,
    /// The record.
    pub record: Option<RecordId>,
    /// The digest of a record that has no other name.
    pub sha: Option<Digest>,
    /// The file of the tar, counted from 1 in its order.
    pub file: Option<u64>,
    /// The line of the log or the safe outputs, counted from 1.
    pub line: Option<u64>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// Where.
    pub place: Place,
}

/// All findings of a run: a bounded list, full counts, and the verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    listed: Vec<Finding>,
    counts: BTreeMap<Code, u64>,
}

impl Findings {
    /// Adds a finding.
    pub fn add(&mut self, code: Code, place: Place) {
        *self.counts.entry(code).or_default() += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(Finding { code, place });
        }
    }

    /// The findings that are listed.
    #[must_use]
    pub fn listed(&self) -> &[Finding] {
        &self.listed
    }

    /// How many of each code there were.
    pub fn counts(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.counts.iter().map(|(code, count)| (*code, *count))
    }

    /// The verdict that follows: the greatest of all findings decides.
    #[must_use]
    pub fn verdict(&self, detection: &Detection) -> Verdict {
        self.counts.keys().map(|code| detection.verdict_of(*code)).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_decides_also_where_it_is_not_listed() {
        let mut detection = Detection::default();
        let mut findings = Findings::default();
        assert_eq!(findings.verdict(&detection), Verdict::Clean);
        findings.add(Code::Instructions, Place::default());
        assert_eq!(findings.verdict(&detection), Verdict::Suspicious);
        for _ in 0..MAX_LISTED {
            findings.add(Code::BadLine, Place::default());
        }
        findings.add(Code::Credential, Place::default());
        assert_eq!((findings.listed().len(), findings.verdict(&detection)), (MAX_LISTED, Verdict::Threat));
        detection.findings.insert(Code::Credential, Verdict::Clean);
        assert_eq!(findings.verdict(&detection), Verdict::Suspicious);
    }
}
