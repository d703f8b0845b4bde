//! The lines of a safe-output file, each one refused, claimed, asked for or passed on (§5.2, §9).
//!
//! Every line may have been written by the agent, also those that look like the merge step's.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use daybook_core::Digest;
use daybook_core::config::{Config, LedgerConfig};
use daybook_core::event::{EVENT_TYPE, MutationEvent};
use daybook_core::json::{self, Value};
use daybook_runner::files::MAX_SAFE_OUTPUT_BYTES;
use daybook_runner::{MAX_TEXT, plain};

use crate::fault::{LineFault, LineFaults};

/// The `type` of a request for compaction.
pub(crate) const REQUEST_TYPE: &str = "ledger_request_compaction";

/// Longest line, in bytes: the longest comment, every character of it escaped.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Longest reason, in characters.
const MAX_REASON: usize = 512;

/// Most types of other outputs that are counted each on its own.
const MAX_TYPES: usize = 64;

/// Most types that are named to later jobs.
const MAX_WORDS: usize = 4096;

/// An append that somebody claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Where it stands, from 1.
    pub(crate) line: u64,
    /// A ledger of the configuration.
    pub(crate) ledger: String,
    pub(crate) event: MutationEvent,
}

/// A request for compaction that may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// Where it stands, from 1.
    pub(crate) line: u64,
    /// A ledger of the configuration whose compaction is on.
    pub(crate) ledger: String,
    /// What the agent gave as its reason; never shown as it is.
    pub(crate) reason: String,
}

/// What a file held.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ingested {
    /// Lines that are not blank.
    pub(crate) lines: u64,
    /// One for each record.
    pub(crate) claims: Vec<Claim>,
    /// Claims that repeat an earlier one.
    pub(crate) repeated: u64,
    /// Claims with members that events do not have, or in another spelling than the merge step's.
    pub(crate) reduced: u64,
    /// One for each ledger.
    pub(crate) requests: Vec<Request>,
    /// The outputs of other types, one canonical line each.
    pub(crate) remaining: Vec<u8>,
    /// How many of each type there are, by its harmless spelling.
    pub(crate) types: BTreeMap<String, u64>,
    /// Their types, as far as those are words that a job can have as its name.
    pub(crate) words: BTreeSet<String>,
    /// How many more there are, of types that are not counted each on its own.
    pub(crate) other_types: u64,
    pub(crate) faults: LineFaults,
}

impl Ingested {
    /// How many outputs are passed on.
    pub(crate) fn passed_on(&self) -> u64 {
        self.types.values().sum::<u64>() + self.other_types
    }
}

/// Reads a file. Time and memory are linear in its bytes.
// DB-5.2-22, DB-5.2-23
pub(crate) fn ingest(text: &[u8], config: &Config) -> Ingested {
    let mut reader = Reader { config, found: Ingested::default(), claimed: HashMap::new() };
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        reader.found.lines += 1;
        if let Err(fault) = reader.line(number, line) {
            reader.found.faults.add(number, fault);
        }
    }
    reader.found
}

struct Reader<'c> {
    config: &'c Config,
    found: Ingested,
    /// Where the claim about a record is.
    claimed: HashMap<Digest, usize>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRequest {
    #[serde(rename = "type")]
    _type: String,
    ledger: Option<String>,
    reason: Option<String>,
}

impl Reader<'_> {
    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), LineFault> {
        if line.len() > MAX_LINE_BYTES {
            return Err(LineFault::TooLong);
        }
        let value = json::parse(line)?;
        let Value::Object(members) = &value else {
            return Err(LineFault::NotAnObject);
        };
        let kind = members.iter().find_map(|(key, value)| match value {
            Value::String(text) if key.spelling() == "type" && !text.spelling().is_empty() => text.to_str(),
            _ => None,
        });
        let kind = kind.ok_or(LineFault::NoType)?;
        match kind.as_ref() {
            EVENT_TYPE => self.claim(number, line),
            REQUEST_TYPE => self.request(number, &value.to_canonical()),
            // Another reader could take it for one of ours, and no job of an author can have such a type.
            other if other.trim().to_ascii_lowercase().replace('-', "_").starts_with("ledger_") => {
                Err(LineFault::ReservedType)
            }
            other => self.pass_on(&plain(other, MAX_TEXT), &value.to_canonical()),
        }
    }

    fn claim(&mut self, number: u64, line: &[u8]) -> Result<(), LineFault> {
        let event = MutationEvent::parse(line)?;
        let ledger = event.ledger_of(self.config).ok_or(LineFault::UnknownLedger)?.name.to_string();
        if let Some(earlier) = self.claimed.get(&event.record_sha()).and_then(|place| self.found.claims.get(*place)) {
            if earlier.ledger != ledger || !earlier.event.repeats(&event) {
                return Err(LineFault::Contradiction);
            }
            self.found.repeated += 1;
            return Ok(());
        }
        let max = self.config.safe_outputs().ledger_mutation_max.get();
        if self.found.claims.len() as u64 >= max {
            return Err(LineFault::OverBound);
        }
        self.found.reduced += u64::from(event.to_line().as_bytes() != line);
        self.claimed.insert(event.record_sha(), self.found.claims.len());
        self.found.claims.push(Claim { line: number, ledger, event });
        Ok(())
    }

    fn request(&mut self, number: u64, text: &str) -> Result<(), LineFault> {
        let wire: WireRequest = serde_json::from_str(text).map_err(|_| LineFault::Request)?;
        let reason = wire.reason.unwrap_or_default();
        if reason.chars().count() > MAX_REASON {
            return Err(LineFault::ReasonTooLong);
        }
        let ledger = self.ledger_to_compact(wire.ledger.as_deref())?.name.to_string();
        if self.found.requests.iter().any(|request| request.ledger == ledger) {
            return Err(LineFault::AskedAlready);
        }
        let max = self.config.safe_outputs().ledger_request_compaction_max.get();
        if self.found.requests.len() as u64 >= max {
            return Err(LineFault::OverBound);
        }
        self.found.requests.push(Request { line: number, ledger, reason });
        Ok(())
    }

    /// The ledger that a request names, or the only one that is compacted.
    fn ledger_to_compact(&self, name: Option<&str>) -> Result<&LedgerConfig, LineFault> {
        if let Some(name) = name {
            let ledger = self.config.ledger(name).ok_or(LineFault::UnknownLedger)?;
            return if ledger.compaction.is_some() { Ok(ledger) } else { Err(LineFault::NoCompaction) };
        }
        let mut compacted = self.config.ledgers().iter().filter(|ledger| ledger.compaction.is_some());
        match (compacted.next(), compacted.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(LineFault::LedgerNotNamed),
        }
    }

    fn pass_on(&mut self, kind: &str, canonical: &str) -> Result<(), LineFault> {
        // Canonical numbers can be longer than what was read.
        if (self.found.remaining.len() + canonical.len()) as u64 >= MAX_SAFE_OUTPUT_BYTES {
            return Err(LineFault::OverBound);
        }
        self.found.remaining.extend_from_slice(canonical.as_bytes());
        self.found.remaining.push(b'\n');
        let is_word = kind.len() <= 64 && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if is_word && !kind.is_empty() && self.found.words.len() < MAX_WORDS {
            self.found.words.insert(kind.to_owned());
        }
        let types = &mut self.found.types;
        if types.len() < MAX_TYPES || types.contains_key(kind) {
            *types.entry(kind.to_owned()).or_default() += 1;
        } else {
            self.found.other_types += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
