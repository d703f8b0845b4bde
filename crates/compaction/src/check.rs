//! A plan as it comes in: hostile until every rule that needs no shard holds (§5.3, FORMATS §6).

use std::fmt;
use std::marker::PhantomData;

use daybook_core::state::Trigger;
use daybook_core::{Digest, ShardId, timestamp};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::plan::{Identity, MAX_PLAN_BYTES, MAX_RECORDS, MAX_SOURCE_BYTES, MAX_SOURCES, Target, VERSION, plan_id};

/// The bytes of a plan, within their bound.
#[derive(Debug, Clone, Copy)]
pub struct RawPlan<'a>(&'a [u8]);

/// A plan that is one, for this ledger. Whether its shards are what it says is still open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPlan {
    pub(crate) trigger: Trigger,
    pub(crate) plan_id: Digest,
    pub(crate) sources: Vec<Identity>,
    pub(crate) replacement: Identity,
    base_commit: String,
}

/// Why a plan is rejected before any shard is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum PlanFault {
    /// More than [`MAX_PLAN_BYTES`].
    #[error("the plan is larger than {MAX_PLAN_BYTES} bytes")]
    TooLarge,
    /// Not JSON, or members that are missing, unknown, repeated or of the wrong kind.
    #[error("the plan has not the shape of one")]
    Shape,
    /// A version that is not known.
    #[error("the plan has a version that is not known")]
    Version,
    /// Another ledger.
    #[error("the plan is about another ledger")]
    Ledger,
    /// Another branch.
    #[error("the plan is about another branch")]
    Branch,
    /// Neither scheduled nor requested.
    #[error("the plan names no trigger that there is")]
    Trigger,
    /// Not a canonical instant.
    #[error("the plan was made at no canonical instant")]
    CreatedAt,
    /// Not a full object id.
    #[error("the plan's base is no commit id")]
    BaseCommit,
    /// Fewer than two, or more than the settings allow.
    #[error("the plan has fewer sources than two, or more than max-segments")]
    SourceCount,
    /// Not strictly ascending.
    #[error("the plan's sources are not in order, or one is named twice")]
    SourceOrder,
    /// Not a shard's id.
    #[error("the plan names a source that no shard can have")]
    SourceSegment,
    /// Not a digest.
    #[error("the plan has a source without digest")]
    SourceDigest,
    /// No size that a source may have.
    #[error("the plan has a source of a size that none may have")]
    SourceBytes,
    /// Empty, not strictly ascending, or too many.
    #[error("the plan lists the records of a source wrongly")]
    SourceRecords,
    /// Not a shard's id.
    #[error("the plan names a replacement that no shard can have")]
    ReplacementSegment,
    /// Not a digest.
    #[error("the plan has a replacement without digest")]
    ReplacementDigest,
    /// No size that a segment may have.
    #[error("the plan has a replacement of a size that none may have")]
    ReplacementBytes,
    /// Empty, not strictly ascending, or too many.
    #[error("the plan lists the records of its replacement wrongly")]
    ReplacementRecords,
    /// One shard is both.
    #[error("the plan's replacement is one of its sources")]
    ReplacementIsSource,
    /// A record of a source is not in the replacement.
    #[error("the plan's replacement lacks a record of a source")]
    Loses,
    /// Not the id of what it says.
    #[error("the plan's id is not that of its content")]
    PlanId,
}

impl PlanFault {
    /// The code by which reports name the fault.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLarge => "plan-too-large",
            Self::Shape => "plan-shape",
            Self::Version => "plan-version",
            Self::Ledger => "plan-ledger",
            Self::Branch => "plan-branch",
            Self::Trigger => "plan-trigger",
            Self::CreatedAt => "plan-created-at",
            Self::BaseCommit => "plan-base-commit",
            Self::SourceCount => "plan-source-count",
            Self::SourceOrder => "plan-source-order",
            Self::SourceSegment => "plan-source-segment",
            Self::SourceDigest => "plan-source-digest",
            Self::SourceBytes => "plan-source-bytes",
            Self::SourceRecords => "plan-source-records",
            Self::ReplacementSegment => "plan-replacement-segment",
            Self::ReplacementDigest => "plan-replacement-digest",
            Self::ReplacementBytes => "plan-replacement-bytes",
            Self::ReplacementRecords => "plan-replacement-records",
            Self::ReplacementIsSource => "plan-replacement-is-source",
            Self::Loses => "plan-loses-records",
            Self::PlanId => "plan-id",
        }
    }
}

/// An object and nothing else: derived code would take a list of values for one, too.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    version: String,
    ledger: String,
    branch: String,
    trigger: String,
    created_at: String,
    base_commit: String,
    sources: Vec<Object<WireIdentity>>,
    replacement: Object<WireIdentity>,
    plan_id: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireIdentity {
    segment: String,
    sha256: String,
    bytes: serde_json::Number,
    records: Vec<Digest>,
}

/// The faults that a segment of one role can have.
struct Role {
    segment: PlanFault,
    digest: PlanFault,
    bytes: PlanFault,
    records: PlanFault,
}

const SOURCE: Role = Role {
    segment: PlanFault::SourceSegment,
    digest: PlanFault::SourceDigest,
    bytes: PlanFault::SourceBytes,
    records: PlanFault::SourceRecords,
};

const REPLACEMENT: Role = Role {
    segment: PlanFault::ReplacementSegment,
    digest: PlanFault::ReplacementDigest,
    bytes: PlanFault::ReplacementBytes,
    records: PlanFault::ReplacementRecords,
};

impl<'a> RawPlan<'a> {
    /// Takes the bytes of a plan.
    ///
    /// # Errors
    /// [`PlanFault::TooLarge`].
    pub const fn new(bytes: &'a [u8]) -> Result<Self, PlanFault> {
        if bytes.len() > MAX_PLAN_BYTES { Err(PlanFault::TooLarge) } else { Ok(Self(bytes)) }
    }

    /// Reads the plan and holds it to every rule that needs no shard.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(self, target: &Target<'_>) -> Result<CheckedPlan, PlanFault> {
        let text = std::str::from_utf8(self.0).map_err(|_| PlanFault::Shape)?;
        let Object(wire): Object<Wire> = serde_json::from_str(text).map_err(|_| PlanFault::Shape)?;
        let holds = |rule: bool, fault| if rule { Ok(()) } else { Err(fault) };
        holds(wire.version == VERSION, PlanFault::Version)?;
        holds(wire.ledger == target.ledger, PlanFault::Ledger)?;
        holds(wire.branch == target.branch, PlanFault::Branch)?;
        let trigger = Trigger::from_name(&wire.trigger).ok_or(PlanFault::Trigger)?;
        holds(timestamp::is_canonical(wire.created_at.as_bytes()), PlanFault::CreatedAt)?;
        holds(is_commit(&wire.base_commit), PlanFault::BaseCommit)?;
        let most = target.bounds.max_segments.get().min(MAX_SOURCES);
        let count = u64::try_from(wire.sources.len()).unwrap_or(u64::MAX);
        holds((2..=most).contains(&count), PlanFault::SourceCount)?;
        let max = target.bounds.max_segment.get();
        let sources =
            wire.sources.into_iter().map(|Object(wire)| wire.check(&SOURCE, max)).collect::<Result<Vec<_>, _>>()?;
        holds(sources.is_sorted_by(|left, right| left.segment < right.segment), PlanFault::SourceOrder)?;
        let bytes = sources.iter().fold(0, |sum: u64, source| sum.saturating_add(source.bytes));
        holds(bytes <= MAX_SOURCE_BYTES, PlanFault::SourceBytes)?;
        let records = sources.iter().map(|source| source.records.len()).sum::<usize>();
        holds(records <= MAX_RECORDS, PlanFault::SourceRecords)?;
        let replacement = wire.replacement.0.check(&REPLACEMENT, max)?;
        let is_source = sources.iter().any(|source| source.segment == replacement.segment);
        holds(!is_source, PlanFault::ReplacementIsSource)?;
        holds(sources.iter().all(|source| covers(&replacement.records, &source.records)), PlanFault::Loses)?;
        let names = sources.iter().map(Identity::name);
        let id = plan_id(VERSION, &wire.ledger, &wire.branch, names, replacement.name());
        holds(id == wire.plan_id, PlanFault::PlanId)?;
        Ok(CheckedPlan { trigger, plan_id: id, sources, replacement, base_commit: wire.base_commit })
    }
}

impl CheckedPlan {
    /// The id of the transition.
    #[must_use]
    pub const fn plan_id(&self) -> Digest {
        self.plan_id
    }

    /// The commit that it was planned on, for people; nothing is decided by it.
    #[must_use]
    pub fn base_commit(&self) -> &str {
        &self.base_commit
    }
}

impl WireIdentity {
    fn check(self, role: &Role, max: u64) -> Result<Identity, PlanFault> {
        let segment = ShardId::from_text(&self.segment).ok_or(role.segment)?;
        let sha256 = Digest::from_text(self.sha256.as_bytes()).ok_or(role.digest)?;
        let bytes = self.bytes.as_u64().filter(|bytes| (1..=max).contains(bytes)).ok_or(role.bytes)?;
        let records = self.records;
        let sound =
            !records.is_empty() && records.len() <= MAX_RECORDS && records.is_sorted_by(|left, right| left < right);
        if sound { Ok(Identity { bytes, records, segment, sha256 }) } else { Err(role.records) }
    }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether one ascending list holds every member of another. Each is looked up in what is left of the list: sources are
/// many and short beside their replacement, so that a walk over both would cost their number times its length.
pub(crate) fn covers(all: &[Digest], some: &[Digest]) -> bool {
    let mut rest = all;
    some.iter().all(|wanted| {
        let found = rest.binary_search(wanted);
        rest = found.ok().and_then(|position| rest.get(position + 1..)).unwrap_or_default();
        found.is_ok()
    })
}
