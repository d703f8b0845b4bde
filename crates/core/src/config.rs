//! The compiled configuration that every job reads (FORMATS §9).
//!
//! The wire form is strict: unknown and duplicate members are refused, sizes keep the unit of their name. Parsing
//! checks everything once and fills in defaults, so that what a job holds is complete and consistent.

mod detection;
mod names;
pub mod ranges;
mod wire;

use serde_json::Value;

use crate::detection::Detection;
use crate::limits::{Bytes, Count, LimitFault, Limits};

pub use names::{BranchName, Name};

/// Most bytes of a configuration: more does not fit into one environment variable of a step.
pub const MAX_CONFIG_BYTES: usize = 96 * 1024;

/// The profiles that a ledger can be read with.
pub const PROFILES: [&str; 1] = ["records"];

/// The checked configuration of one workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    workflow: Name,
    memories: Vec<MemoryConfig>,
    ledgers: Vec<LedgerConfig>,
    safe_outputs: SafeOutputs,
    detection: Detection,
}

/// One memory: a git branch that is restored into a folder of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryConfig {
    /// The name of its folder.
    pub id: Name,
    /// The branch, without `refs/heads/`.
    pub branch: BranchName,
    /// Which ordinary files persist; empty means all.
    pub file_glob: Vec<String>,
    /// File name endings of ordinary files that persist, each with its dot; empty means all.
    pub allowed_extensions: Vec<String>,
    /// Largest ordinary file.
    pub max_file_size: Bytes,
    /// Most ordinary files.
    pub max_file_count: Count,
    /// Most bytes that one run may change.
    pub max_patch_size: Bytes,
    /// Whether a missing branch is created.
    pub create_orphan: bool,
    /// What it is for, as its author says.
    pub description: Option<String>,
    /// The author's gate before a commit (§4.1).
    pub validation: Option<Validation>,
}

/// The author's validation script (§4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// JavaScript source.
    pub script: String,
    /// Time limit in seconds.
    pub timeout_seconds: u64,
}

/// One ledger: the append-only part of one memory.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerConfig {
    /// Its name, unique in the workflow without regard to case.
    pub name: Name,
    /// The id of the memory that holds it.
    pub memory: Name,
    /// How it is read: one of [`PROFILES`].
    pub profile: String,
    /// JSON Schema of every new payload.
    pub schema: Option<Value>,
    /// Whether the agent may only read it.
    pub read_only: bool,
    /// Its bounds (§7).
    pub limits: Limits,
    /// How maintenance compacts it; `None` where compaction is off.
    pub compaction: Option<Compaction>,
}

/// How maintenance compacts a ledger (§5.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// When.
    pub schedule: Schedule,
    /// Fewest segments worth compacting.
    pub min_segments: Count,
    /// Most segments in one plan.
    pub max_segments: Count,
    /// The author's selection script (§4.2), as JavaScript source.
    pub script: Option<String>,
}

/// When compaction is due (FORMATS §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// After 20 hours.
    Daily,
    /// After 164 hours.
    Weekly,
    /// Only on request.
    Manual,
}

/// How many safe outputs of each kind a run may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SafeOutputs {
    /// Reported appends.
    pub ledger_mutation_max: Count,
    /// Requests for compaction.
    pub ledger_request_compaction_max: Count,
}

/// Why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFault {
    /// More bytes than a step can carry.
    #[error("the configuration has {bytes} bytes; allowed are {MAX_CONFIG_BYTES}; the largest part is {largest}")]
    TooLarge {
        /// How many it has.
        bytes: usize,
        /// The member that takes most of them.
        largest: String,
    },
    /// Not JSON, or a member that is unknown, missing, repeated or of the wrong kind.
    #[error("the configuration is not valid: {0}")]
    Shape(String),
    /// A ledger's bound is out of its range.
    #[error("ledgers[{name}]: {fault}")]
    Limit {
        /// The ledger.
        name: String,
        /// What is wrong.
        fault: LimitFault,
    },
    /// A member has a value that is not allowed.
    #[error("{member} is {value:?}; allowed is {allowed}")]
    Member {
        /// Where it stands.
        member: String,
        /// What it says.
        value: String,
        /// What it may say.
        allowed: String,
    },
}

/// A ledger that is compacted.
#[derive(Debug, Clone, Copy)]
pub struct Compacted<'a> {
    /// The ledger.
    pub ledger: &'a LedgerConfig,
    /// The memory that holds it.
    pub memory: &'a MemoryConfig,
    /// How it is compacted.
    pub settings: &'a Compaction,
}

/// Why a ledger is not compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCompacted {
    /// There is none of that name.
    #[error("the configuration has no such ledger")]
    Unknown,
    /// Its configuration says nothing of compaction.
    #[error("the ledger is not compacted")]
    Off,
}

impl NotCompacted {
    /// The code of the diagnostic.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "ledger-unknown",
            Self::Off => "compaction-off",
        }
    }
}

impl ConfigFault {
    /// The member that is wrong, where it is one: `ledgers[triage].max-shards`, or `ledgers[].name=x` where the value
    /// itself names the entry.
    #[must_use]
    pub fn member(&self) -> Option<String> {
        match self {
            Self::TooLarge { .. } | Self::Shape(_) => None,
            Self::Limit { name, fault: LimitFault::OutOfRange { key, .. } } => Some(format!("ledgers[{name}].{key}")),
            Self::Limit { name, .. } => Some(format!("ledgers[{name}].max-record-kb")),
            Self::Member { member, value, .. } if member.contains("[]") => Some(format!("{member}={value}")),
            Self::Member { member, .. } => Some(member.clone()),
        }
    }
}

impl Config {
    /// Reads and checks a configuration.
    ///
    /// ```
    /// use daybook_core::config::Config;
    ///
    /// let config = Config::parse(br#"{"version":1,"workflow":"triage","ledgers":[{"name":"triage"}]}"#)?;
    /// let memory = config.memory_of(config.ledger("triage").unwrap()).unwrap();
    /// assert_eq!(memory.branch.as_str(), "ledgers/triage");
    /// # Ok::<(), daybook_core::config::ConfigFault>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConfigFault`] names the first member that is wrong and what is allowed there.
    pub fn parse(text: &[u8]) -> Result<Self, ConfigFault> {
        wire::parse(text)
    }

    /// The canonical text of this configuration, every default written out.
    ///
    /// # Errors
    ///
    /// [`ConfigFault::TooLarge`] where the text has more than [`MAX_CONFIG_BYTES`], and [`ConfigFault::Shape`] where a
    /// schema has no canonical text.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ConfigFault> {
        wire::print(self)
    }

    /// The name of the workflow.
    #[must_use]
    pub fn workflow(&self) -> &Name {
        &self.workflow
    }

    /// Every memory, those that ledgers imply last.
    #[must_use]
    pub fn memories(&self) -> &[MemoryConfig] {
        &self.memories
    }

    /// Every ledger.
    #[must_use]
    pub fn ledgers(&self) -> &[LedgerConfig] {
        &self.ledgers
    }

    /// The memory with this id.
    #[must_use]
    pub fn memory(&self, id: &str) -> Option<&MemoryConfig> {
        self.memories.iter().find(|memory| memory.id.as_str() == id)
    }

    /// The ledger with this name.
    #[must_use]
    pub fn ledger(&self, name: &str) -> Option<&LedgerConfig> {
        self.ledgers.iter().find(|ledger| ledger.name.as_str() == name)
    }

    /// The memory that holds this ledger.
    #[must_use]
    pub fn memory_of(&self, ledger: &LedgerConfig) -> Option<&MemoryConfig> {
        self.memory(ledger.memory.as_str())
    }

    /// A ledger that is compacted, with its memory and how that is done.
    ///
    /// # Errors
    ///
    /// [`NotCompacted`] where there is no such ledger, or its compaction is off.
    pub fn compacted(&self, name: &str) -> Result<Compacted<'_>, NotCompacted> {
        let ledger = self.ledger(name).ok_or(NotCompacted::Unknown)?;
        let memory = self.memory_of(ledger).ok_or(NotCompacted::Unknown)?;
        let settings = ledger.compaction.as_ref().ok_or(NotCompacted::Off)?;
        Ok(Compacted { ledger, memory, settings })
    }

    /// The ledger that the memory with this id holds.
    #[must_use]
    pub fn ledger_in(&self, memory: &str) -> Option<&LedgerConfig> {
        self.ledgers.iter().find(|ledger| ledger.memory.as_str() == memory)
    }

    /// The bounds on safe outputs.
    #[must_use]
    pub fn safe_outputs(&self) -> SafeOutputs {
        self.safe_outputs
    }

    /// How findings are weighed.
    #[must_use]
    pub fn detection(&self) -> &Detection {
        &self.detection
    }
}

impl MemoryConfig {
    /// A memory with every default, as a ledger without a memory implies it.
    #[must_use]
    pub fn with_defaults(id: Name, branch: BranchName) -> Self {
        Self {
            id,
            branch,
            file_glob: Vec::new(),
            allowed_extensions: wire::DEFAULT_EXTENSIONS.map(str::to_owned).to_vec(),
            max_file_size: Bytes::new(ranges::MAX_FILE_SIZE.default),
            max_file_count: Count::new(ranges::MAX_FILE_COUNT.default),
            max_patch_size: Bytes::new(ranges::MAX_PATCH_SIZE.default),
            create_orphan: true,
            description: None,
            validation: None,
        }
    }
}

#[cfg(test)]
mod tests;
