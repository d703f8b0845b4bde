//! The plan: a transition, named by digests only, never by commands, paths or arguments (§5.3, FORMATS §6).

use std::borrow::Cow;

use daybook_core::config::Compacted;
use daybook_core::json::Text;
use daybook_core::known::KnownLine;
use daybook_core::segment::{COMPACTION_METADATA, SegmentIdentity};
use daybook_core::shards::{Found, Shards};
use daybook_core::state::Trigger;
use daybook_core::{Digest, Hasher, ShardId};
use serde::Serialize;

use crate::facts::Facts;
use crate::select::{Bounds, NothingToDo, select};

/// Largest plan that is read, in bytes.
pub const MAX_PLAN_BYTES: usize = 16 * 1024 * 1024;

/// Most sources of a plan, whatever a ledger's settings allow.
pub(crate) const MAX_SOURCES: u64 = 256;

/// Most records that the sources of a plan name together.
pub const MAX_RECORDS: usize = 100_000;

/// Most bytes that the sources of a plan have together; they are held in memory at once.
pub const MAX_SOURCE_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) const VERSION: &str = "gh-aw/ledger-compaction-plan/v1";

/// What a plan has to be about.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The ledger's name.
    pub ledger: &'a str,
    /// The memory branch, without `refs/heads/`.
    pub branch: &'a str,
    /// The bounds that hold now.
    pub bounds: Bounds,
}

impl<'a> Target<'a> {
    /// A ledger as it is configured.
    #[must_use]
    pub fn of(compacted: &Compacted<'a>) -> Self {
        Self {
            ledger: compacted.ledger.name.as_str(),
            branch: compacted.memory.branch.as_str(),
            bounds: Bounds::of(&compacted.ledger.limits, compacted.settings),
        }
    }
}

/// What a plan says of its making; nothing is decided by it.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// What asked for it.
    pub trigger: Trigger,
    /// When, as a canonical instant.
    pub created_at: &'a str,
    /// The head that it was made from: 40 or 64 lower-case hexadecimal digits.
    pub base_commit: &'a str,
}

/// A segment, named so that no two contents have one name. Members in canonical order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    pub(crate) bytes: u64,
    pub(crate) records: Vec<Digest>,
    pub(crate) segment: ShardId,
    pub(crate) sha256: Digest,
}

impl Identity {
    /// The id.
    #[must_use]
    pub const fn segment(&self) -> ShardId {
        self.segment
    }

    /// Digest of the bytes.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// Size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The records, ascending.
    #[must_use]
    pub fn records(&self) -> &[Digest] {
        &self.records
    }

    /// Whether a shard is this one, byte for byte.
    pub(crate) fn is(&self, facts: &Facts<'_>) -> bool {
        self.bytes == facts.bytes() && self.sha256 == facts.known().sha256()
    }

    /// By what the id of a plan names it.
    pub(crate) const fn name(&self) -> (ShardId, Digest) {
        (self.segment, self.sha256)
    }

    fn of(facts: &Facts<'_>) -> Self {
        Self {
            bytes: facts.bytes(),
            records: facts.records().iter().map(KnownLine::sha).collect(),
            segment: facts.id(),
            sha256: facts.known().sha256(),
        }
    }

    pub(crate) fn of_segment(segment: &SegmentIdentity) -> Self {
        Self {
            bytes: segment.size().get(),
            records: segment.records().to_vec(),
            segment: segment.id(),
            sha256: segment.sha256(),
        }
    }
}

/// A plan of our own making. Members in canonical order.
#[expect(clippy::struct_field_names, reason = "named as the members are")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    base_commit: String,
    branch: String,
    created_at: String,
    ledger: String,
    plan_id: Digest,
    replacement: Identity,
    sources: Vec<Identity>,
    trigger: Trigger,
    version: &'static str,
}

/// Why no plan can be made of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unplannable {
    /// A source is not what it was when it was chosen.
    #[error("a shard changed while the plan was made")]
    Changed,
    /// The sources make no segment within the bounds.
    #[error("the chosen shards do not fit into one segment")]
    NoSegment,
    /// The replacement would have the name of a source: the choice changes nothing.
    #[error("shard {0} holds all records of the others, and would replace itself")]
    Same(ShardId),
}

impl Plan {
    /// Plans what the built-in choice chooses. A shard that would be its own replacement is left out, and it is chosen
    /// again.
    ///
    /// # Errors
    /// As [`Plan::build`]; the inner one is what [`select`] answers.
    pub fn choose<S: Shards>(
        target: &Target<'_>,
        stamp: &Stamp<'_>,
        facts: &[Facts<'_>],
        shards: &S,
    ) -> Result<Result<Self, NothingToDo>, S::Fault> {
        let mut left = Cow::Borrowed(facts);
        loop {
            let chosen = match select(&left, &target.bounds) {
                Ok(chosen) => chosen,
                Err(nothing) => return Ok(Err(nothing)),
            };
            match Self::build(target, stamp, &chosen, shards)? {
                Ok(plan) => return Ok(Ok(plan)),
                Err(Unplannable::Same(id)) => left = left.iter().filter(|one| one.id() != id).cloned().collect(),
                Err(other) => return Ok(Err(NothingToDo::Unplannable(other))),
            }
        }
    }

    /// Plans the compaction of chosen shards, which are ascending by id, as [`crate::select`] gives them.
    ///
    /// # Errors
    /// The outer one where a shard could not be looked at; the inner one says why the choice makes no plan.
    pub fn build<S: Shards>(
        target: &Target<'_>,
        stamp: &Stamp<'_>,
        sources: &[&Facts<'_>],
        shards: &S,
    ) -> Result<Result<Self, Unplannable>, S::Fault> {
        let again = |source: &&Facts<'_>| match source.known().kept() {
            Some(_) => Ok(None),
            None => shards.shard(source.id(), source.bytes()).map(Some),
        };
        let found = sources.iter().map(again).collect::<Result<Vec<_>, _>>()?;
        let lines = sources.iter().zip(&found).map(|(source, found)| match found {
            None => source.known().kept(),
            Some(Found::Bytes(bytes)) => source.known().found_in(bytes),
            Some(_) => None,
        });
        let Some(lines) = lines.collect::<Option<Vec<_>>>() else { return Ok(Err(Unplannable::Changed)) };
        let Ok(segment) = SegmentIdentity::of_known(COMPACTION_METADATA, lines, target.bounds.max_segment) else {
            return Ok(Err(Unplannable::NoSegment));
        };
        if sources.iter().any(|source| source.id() == segment.id()) {
            return Ok(Err(Unplannable::Same(segment.id())));
        }
        let replacement = Identity::of_segment(&segment);
        let sources: Vec<Identity> = sources.iter().map(|source| Identity::of(source)).collect();
        Ok(Ok(Self {
            base_commit: stamp.base_commit.to_owned(),
            branch: target.branch.to_owned(),
            created_at: stamp.created_at.to_owned(),
            ledger: target.ledger.to_owned(),
            plan_id: plan_id(
                VERSION,
                target.ledger,
                target.branch,
                sources.iter().map(Identity::name),
                replacement.name(),
            ),
            replacement,
            sources,
            trigger: stamp.trigger,
            version: VERSION,
        }))
    }

    /// The plan as an artifact: its canonical text and a newline.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let records =
            self.sources.iter().map(|source| source.records.len()).sum::<usize>() + self.replacement.records.len();
        let mut bytes = Vec::with_capacity((records + 4 * self.sources.len()) * (Digest::TEXT_LEN + 3) + 1024);
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut bytes, self);
        bytes.push(b'\n');
        bytes
    }

    /// The id of the transition.
    #[must_use]
    pub const fn plan_id(&self) -> Digest {
        self.plan_id
    }

    /// The shards that go.
    #[must_use]
    pub fn sources(&self) -> &[Identity] {
        &self.sources
    }

    /// The shard that comes.
    #[must_use]
    pub const fn replacement(&self) -> &Identity {
        &self.replacement
    }
}

/// The id of a transition: the digest of the canonical text of what it is, without when and why it was planned.
#[must_use]
pub fn plan_id(
    version: &str,
    ledger: &str,
    branch: &str,
    sources: impl IntoIterator<Item = (ShardId, Digest)>,
    replacement: (ShardId, Digest),
) -> Digest {
    let mut hasher = Hasher::new();
    let mut text = |text: &str| hasher.update(text.as_bytes());
    text(&format!(r#"{{"branch":"{}","ledger":"{}""#, Text::new(branch).spelling(), Text::new(ledger).spelling()));
    text(&format!(r#","replacement":{{"segment":"{}","sha256":"{}"}}"#, replacement.0, replacement.1));
    text(r#","sources":["#);
    for (position, (segment, sha256)) in sources.into_iter().enumerate() {
        let comma = if position > 0 { "," } else { "" };
        text(&format!(r#"{comma}{{"segment":"{segment}","sha256":"{sha256}"}}"#));
    }
    text(&format!(r#"],"version":"{}"}}"#, Text::new(version).spelling()));
    hasher.finish()
}
