//! The transaction log, read as what it is: claims by a machine that the agent had.

use daybook_core::config::Config;
use daybook_core::event::MutationEvent;

/// How much of a log counts, in bytes (FORMATS §5).
// DB-5.2-20
pub const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// A well-formed entry of the log, and the ledger it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The ledger's name.
    pub ledger: String,
    /// What was claimed.
    pub event: MutationEvent,
}

/// The well-formed entries of a log in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    claims: Vec<Claim>,
    dropped: Dropped,
}

/// Lines that were no entries, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Not UTF-8.
    pub not_utf8: u64,
    /// No event in the required syntax.
    pub not_an_event: u64,
    /// About a ledger that the workflow does not have.
    pub unknown_ledger: u64,
}

impl Dropped {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.not_utf8 + self.not_an_event + self.unknown_ledger
    }
}

impl Log {
    /// Reads a log. A line counts if every field has the required syntax and its ledger is one of the configuration's;
    /// where a log breaks off inside a line, that line is dropped like any other that is not one.
    // DB-5.2-17
    #[must_use]
    pub fn parse(bytes: &[u8], config: &Config) -> Self {
        let mut log = Self::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match MutationEvent::parse(line) {
                Ok(event) => match event.ledger_of(config).map(|ledger| ledger.name.to_string()) {
                    Some(ledger) => log.claims.push(Claim { ledger, event }),
                    None => log.dropped.unknown_ledger += 1,
                },
                Err(_) if std::str::from_utf8(line).is_err() => log.dropped.not_utf8 += 1,
                Err(_) => log.dropped.not_an_event += 1,
            }
        }
        log
    }

    /// The entries.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// What was no entry.
    #[must_use]
    pub const fn dropped(&self) -> Dropped {
        self.dropped
    }
}
