//! Coverage and retirement (§5.4, FORMATS §7): a shard goes only when each of its records is in another that is there.

use std::collections::HashSet;

use daybook_core::segment::Segment;
use daybook_core::shard::checked_lines;
use daybook_core::shards::{Found, Shards};
use daybook_core::{Digest, ShardId, limits};
use serde::Deserialize;

/// Largest declaration that is read, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// A declaration as data: it says something and permits nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    replacement: ShardId,
    sources: Vec<ShardId>,
}

/// The bytes are no declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the coverage declaration is not valid")]
pub struct DeclarationFault;

/// The right to retire shards. It exists only in the process that made the replacement: there is no way from bytes, and
/// so none from a file, to a value of this type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizedCoverage {
    replacement: Option<(ShardId, Digest)>,
    sources: Vec<ShardId>,
}

/// Shards that may be deleted now, and the declaration with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retirement {
    sources: Vec<ShardId>,
}

/// Why nothing may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Uncovered {
    /// The replacement is not there, or not the one that was made.
    #[error("the replacement is not there as it was made")]
    Replacement,
    /// A source holds a record that the replacement does not.
    #[error("source {0} holds a record that its replacement does not")]
    Source(ShardId),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    replacement: String,
    sources: Vec<String>,
}

impl Declaration {
    /// Reads a declaration that somebody left, to name it; it permits nothing.
    ///
    /// # Errors
    /// [`DeclarationFault`], whatever is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, DeclarationFault> {
        if bytes.len() > MAX_BYTES {
            return Err(DeclarationFault);
        }
        let wire: Wire = serde_json::from_slice(bytes).map_err(|_| DeclarationFault)?;
        let replacement = ShardId::from_text(&wire.replacement).ok_or(DeclarationFault)?;
        let ids = wire.sources.iter().map(|source| ShardId::from_text(source).ok_or(DeclarationFault));
        let sources = ids.collect::<Result<Vec<_>, _>>()?;
        let sound =
            !sources.is_empty() && sources.is_sorted_by(|left, right| left < right) && !sources.contains(&replacement);
        if sound { Ok(Self { replacement, sources }) } else { Err(DeclarationFault) }
    }

    /// The declaration as it is stored: its canonical text and a newline.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let sources: Vec<String> = self.sources.iter().map(|source| format!("\"{source}\"")).collect();
        format!("{{\"replacement\":\"{}\",\"sources\":[{}]}}\n", self.replacement, sources.join(",")).into_bytes()
    }

    /// The digest of its canonical text, by which its file is named.
    #[must_use]
    pub fn id(&self) -> Digest {
        let bytes = self.to_bytes();
        Digest::of(bytes.strip_suffix(b"\n").unwrap_or(&bytes))
    }

    /// Its path inside a memory.
    #[must_use]
    pub fn path(&self) -> String {
        format!("ledger/coverage/{}.jsonl", self.id().hex())
    }

    /// The shard that is said to hold all records.
    #[must_use]
    pub const fn replacement(&self) -> ShardId {
        self.replacement
    }

    /// The shards whose records it is said to hold.
    #[must_use]
    pub fn sources(&self) -> &[ShardId] {
        &self.sources
    }
}

impl AuthorizedCoverage {
    /// Only the proofs of this crate call this. A shard that is mended under its own name replaces itself, and stays.
    pub(crate) fn new(replacement: Option<&Segment>, mut sources: Vec<ShardId>) -> Self {
        let replacement = replacement.map(|segment| (segment.id(), segment.sha256()));
        sources.retain(|source| replacement.is_none_or(|(id, _)| id != *source));
        Self { replacement, sources }
    }

    /// What may be declared of it; `None` where nothing replaces anything.
    #[must_use]
    pub fn declaration(&self) -> Option<Declaration> {
        let (replacement, _) = self.replacement.filter(|_| !self.sources.is_empty())?;
        Some(Declaration { replacement, sources: self.sources.clone() })
    }

    /// Looks at the replacement and every source as they are now. Sources that are gone are no obstacle.
    ///
    /// # Errors
    /// The outer one where a shard could not be looked at; the inner one says why nothing may be deleted.
    pub fn retire<S: Shards>(&self, shards: &S) -> Result<Result<Retirement, Uncovered>, S::Fault> {
        let max = limits::READ_SHARD_BYTES.get();
        let mut kept = HashSet::new();
        if let Some((id, sha256)) = self.replacement {
            match shards.shard(id, max)? {
                Found::Bytes(bytes) if Digest::of(&bytes) == sha256 => kept.extend(records(&bytes)),
                _ => return Ok(Err(Uncovered::Replacement)),
            }
        }
        let mut retired = Vec::new();
        for source in &self.sources {
            match shards.shard(*source, max)? {
                Found::Absent => {}
                Found::Bytes(bytes) if records(&bytes).all(|record| kept.contains(&record)) => retired.push(*source),
                _ => return Ok(Err(Uncovered::Source(*source))),
            }
        }
        Ok(Ok(Retirement { sources: retired }))
    }
}

impl Retirement {
    /// The shards that may be deleted.
    #[must_use]
    pub fn sources(&self) -> &[ShardId] {
        &self.sources
    }
}

fn records(shard: &[u8]) -> impl Iterator<Item = Digest> + '_ {
    checked_lines(shard).filter_map(Result::ok).map(|line| line.sha())
}
