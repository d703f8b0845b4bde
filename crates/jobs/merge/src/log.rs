//! The transaction log, read as what it is: claims by a machine that the agent had.

use daybook_core::config::Config;
use daybook_core::event::MutationEvent;

/// How much of a log counts, in bytes (FORMATS §5).
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
    dropped: u64,
}

impl Log {
    /// Reads a log. A line counts if every field has the required syntax and its ledger is one of the configuration's;
    /// where a log breaks off inside a line, that line is dropped like any other that is not one.
    #[must_use]
    pub fn parse(bytes: &[u8], config: &Config) -> Self {
        let mut log = Self::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let claim = MutationEvent::parse(line).ok().and_then(|event| {
                let ledger = event.ledger_of(config)?.name.to_string();
                Some(Claim { ledger, event })
            });
            match claim {
                Some(claim) => log.claims.push(claim),
                None => log.dropped += 1,
            }
        }
        log
    }

    /// The entries.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// How many lines were no entries.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}
