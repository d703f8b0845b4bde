//! The proof: a checked plan against the shards as they are now (§5.3).

use daybook_core::known::KnownLine;
use daybook_core::segment::{COMPACTION_METADATA, Segment};
use daybook_core::shards::{Found, Shards};
use daybook_core::state::{State, Trigger};
use daybook_core::{Digest, ShardId};

use crate::check::{CheckedPlan, PlanFault, covers};
use crate::coverage::AuthorizedCoverage;
use crate::facts::{Facts, Flaw};
use crate::plan::{Identity, Target};

/// What becomes of a plan. Only the first changes anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may be applied to exactly the shards that it was proven against.
    Ready(Box<ProvenPlan>),
    /// It was applied before: success without doing anything.
    AlreadyApplied,
    /// The ledger moved on.
    Stale(Stale),
    /// A shard is not what the plan says.
    Conflict(Conflict),
    /// The plan lies about shards that are exactly those that it names.
    Rejected(Forgery),
}

/// How a ledger moved on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// All sources are gone, and not by this plan as far as anybody remembers.
    #[error("every source is gone already")]
    AllGone,
    /// Some sources are gone.
    #[error("{0} of the sources are gone already")]
    SomeGone(usize),
}

/// Which shard is not what the plan says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// A source has other bytes.
    #[error("source {0} is not what it was when it was planned")]
    Source(ShardId),
    /// Something else has the replacement's name.
    #[error("something else has the name of the replacement, {0}")]
    Replacement(ShardId),
}

/// What a plan lies about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Forgery {
    /// A rule that needs no shard.
    #[error(transparent)]
    Plan(#[from] PlanFault),
    /// A source that is not all records, or not those that the plan lists.
    #[error("source {0} does not hold the records that the plan lists")]
    Source(ShardId),
    /// A replacement that is not the union of the sources.
    #[error("the replacement is not what the records of the sources make")]
    Replacement,
}

impl Forgery {
    /// The code by which reports name it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Plan(fault) => fault.code(),
            Self::Source(_) => "plan-source-forged",
            Self::Replacement => "plan-replacement-forged",
        }
    }
}

/// A plan that loses nothing, together with the replacement built from the branch's own records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenPlan {
    plan_id: Digest,
    trigger: Trigger,
    sources: Vec<Identity>,
    replacement: Segment,
    replacement_present: bool,
}

impl CheckedPlan {
    /// Holds the plan against the shards of a ledger and what the ledger remembers of earlier plans. The answer is about
    /// these shards only: whoever acts on it must refuse any others.
    ///
    /// # Errors
    /// Where a shard could not be looked at.
    pub fn prove<S: Shards>(
        &self,
        target: &Target<'_>,
        shards: &S,
        state: Option<&State>,
    ) -> Result<Decision, S::Fault> {
        let found = self
            .sources
            .iter()
            .map(|source| shards.shard(source.segment, source.bytes))
            .collect::<Result<Vec<Found<'_>>, _>>()?;
        let replacement = shards.shard(self.replacement.segment, target.bounds.max_segment.get())?;
        let gone = found.iter().filter(|found| **found == Found::Absent).count();
        if gone > 0 {
            return Ok(self.gone(gone, &replacement, state));
        }
        let mut known = Vec::with_capacity(found.len());
        for (source, found) in self.sources.iter().zip(&found) {
            match found {
                Found::Bytes(bytes) => known.push(Facts::of(source.segment, bytes.as_ref())),
                _ => return Ok(Decision::Conflict(Conflict::Source(source.segment))),
            }
            if known.last().is_none_or(|facts| !source.is(facts)) {
                return Ok(Decision::Conflict(Conflict::Source(source.segment)));
            }
        }
        let segment = match self.rebuild(target, &known) {
            Ok(segment) => segment,
            Err(forgery) => return Ok(Decision::Rejected(forgery)),
        };
        let replacement_present = match replacement {
            Found::Absent => false,
            Found::Bytes(bytes) if *bytes == *segment.bytes() => true,
            _ => return Ok(Decision::Conflict(Conflict::Replacement(self.replacement.segment))),
        };
        Ok(Decision::Ready(Box::new(ProvenPlan {
            plan_id: self.plan_id,
            trigger: self.trigger,
            sources: self.sources.clone(),
            replacement: segment,
            replacement_present,
        })))
    }

    /// Sources are gone: all of them by this plan, or else it is too late for it.
    fn gone(&self, gone: usize, replacement: &Found<'_>, state: Option<&State>) -> Decision {
        if gone < self.sources.len() {
            return Decision::Stale(Stale::SomeGone(gone));
        }
        if state.is_some_and(|state| state.recent_plan_ids().contains(&self.plan_id)) {
            return Decision::AlreadyApplied;
        }
        match replacement {
            Found::Absent => Decision::Stale(Stale::AllGone),
            Found::Bytes(bytes) if is(&self.replacement, bytes) => Decision::AlreadyApplied,
            _ => Decision::Conflict(Conflict::Replacement(self.replacement.segment)),
        }
    }

    /// The replacement from the records that are there, held against what the plan says of all of them.
    fn rebuild(&self, target: &Target<'_>, known: &[Facts<'_>]) -> Result<Segment, Forgery> {
        for (source, facts) in self.sources.iter().zip(known) {
            let all_records = matches!(facts.flaw(), None | Some(Flaw::TooDeep));
            if !all_records || !facts.records().iter().map(KnownLine::sha).eq(source.records.iter().copied()) {
                return Err(Forgery::Source(source.segment));
            }
        }
        let lines = known.iter().filter_map(|facts| facts.known().kept());
        let segment = Segment::build_from_known(COMPACTION_METADATA, lines, target.bounds.max_segment)
            .map_err(|_| Forgery::Replacement)?;
        let lossless = self.sources.iter().all(|source| covers(segment.records(), &source.records));
        if lossless && Identity::of_segment(segment.identity()) == self.replacement {
            Ok(segment)
        } else {
            Err(Forgery::Replacement)
        }
    }
}

fn is(identity: &Identity, bytes: &[u8]) -> bool {
    crate::facts::len(bytes) == identity.bytes && Digest::of(bytes) == identity.sha256
}

impl ProvenPlan {
    /// The id of the transition.
    #[must_use]
    pub const fn plan_id(&self) -> Digest {
        self.plan_id
    }

    /// What asked for it.
    #[must_use]
    pub const fn trigger(&self) -> Trigger {
        self.trigger
    }

    /// The shards that go.
    #[must_use]
    pub fn sources(&self) -> &[Identity] {
        &self.sources
    }

    /// The shard that comes.
    #[must_use]
    pub const fn replacement(&self) -> &Segment {
        &self.replacement
    }

    /// Whether it is there already, byte for byte, from an attempt that was interrupted.
    #[must_use]
    pub const fn replacement_present(&self) -> bool {
        self.replacement_present
    }

    /// The right to retire the sources, for whoever cannot exchange all shards in one step (§5.4).
    #[must_use]
    pub fn coverage(&self) -> AuthorizedCoverage {
        let sources = self.sources.iter().map(Identity::segment).collect();
        AuthorizedCoverage::new(Some(&self.replacement), sources)
    }
}
