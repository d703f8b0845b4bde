//! Which shards become one: those of like size, the small ones first.
//!
//! A shard's tier grows with the logarithm of its size. A tier is compacted when it holds [`FAN_IN`] shards, so that a
//! record is written again only when its shard grows by about that factor, and never in every round.

use std::collections::HashSet;

use daybook_core::config::Compaction;
use daybook_core::known::KnownLine;
use daybook_core::limits::{Bytes, Count};
use daybook_core::{Digest, Limits, ShardId};

use crate::facts::Facts;
use crate::plan::{MAX_RECORDS, MAX_SOURCE_BYTES, Unplannable};

/// How many shards of like size are worth one write, where fewer segments are not worth compacting at all.
const FAN_IN: usize = 4;

/// Below this many bytes all shards are alike; each tier after it is four times as large.
const SMALLEST_TIER: u64 = 4096;

/// From how much of the shard bound on shards of unlike size are joined, too, in percent: better to write them again than
/// to refuse an append.
const NEARLY_FULL: u64 = 80;

/// The bounds of a compaction, of the ledger and of its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Largest replacement, and largest source.
    pub max_segment: Bytes,
    /// Most shards of the ledger.
    pub max_shards: Count,
    /// Fewest shards that are worth a compaction.
    pub min_segments: Count,
    /// Most sources of a plan.
    pub max_segments: Count,
}

impl Bounds {
    /// Those of a ledger.
    #[must_use]
    pub fn of(limits: &Limits, settings: &Compaction) -> Self {
        Self {
            max_segment: limits.max_segment(),
            max_shards: limits.max_shards(),
            min_segments: settings.min_segments,
            max_segments: settings.max_segments,
        }
    }

    /// Whether a ledger of this many shards soon refuses appends.
    fn is_nearly_full(&self, shards: usize) -> bool {
        u64::try_from(shards).unwrap_or(u64::MAX).saturating_mul(100)
            >= self.max_shards.get().saturating_mul(NEARLY_FULL)
    }

    fn admits(&self, shard: &Facts<'_>) -> bool {
        shard.flaw().is_none() && shard.bytes() <= self.max_segment.get()
    }
}

/// Why there is no plan, and nothing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NothingToDo {
    /// Fewer shards than the settings ask for.
    #[error("{eligible} shards can be sources, and at least {needed} have to be")]
    TooFew {
        /// Shards that could be sources.
        eligible: usize,
        /// How many would have to be.
        needed: u64,
    },
    /// No shards whose union is within a segment are worth writing again.
    #[error("no shards of like size fit together within max-segment-kb")]
    NothingFits,
    /// The author's script named something that cannot be planned.
    #[error("the selection script's proposal cannot be planned: {0}")]
    Proposal(&'static str),
    /// What was chosen makes no plan.
    #[error(transparent)]
    Unplannable(#[from] Unplannable),
}

impl NothingToDo {
    /// The code by which reports name it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooFew { .. } => "too-few-segments",
            Self::NothingFits => "nothing-fits",
            Self::Proposal(_) => "script-proposal",
            Self::Unplannable(_) => "unplannable",
        }
    }
}

/// The shards that may be sources, the small ones first, where there are enough of them or the ledger is nearly full.
///
/// # Errors
/// [`NothingToDo::TooFew`].
pub fn eligible<'a>(shards: &'a [Facts<'a>], bounds: &Bounds) -> Result<Vec<&'a Facts<'a>>, NothingToDo> {
    let mut eligible: Vec<&Facts<'_>> = shards.iter().filter(|shard| bounds.admits(shard)).collect();
    eligible.sort_unstable_by_key(|shard| (shard.bytes(), shard.id()));
    let needed = if bounds.is_nearly_full(shards.len()) { 2 } else { bounds.min_segments.get() };
    if u64::try_from(eligible.len()).unwrap_or(u64::MAX) < needed {
        return Err(NothingToDo::TooFew { eligible: eligible.len(), needed });
    }
    Ok(eligible)
}

/// The built-in choice, ascending by id.
///
/// # Errors
/// [`NothingToDo`] where no choice is worth a plan.
pub fn select<'a>(shards: &'a [Facts<'a>], bounds: &Bounds) -> Result<Vec<&'a Facts<'a>>, NothingToDo> {
    let eligible = eligible(shards, bounds)?;
    let fan_in = usize::try_from(bounds.min_segments.get()).unwrap_or(FAN_IN).clamp(2, FAN_IN);
    let tiers: Vec<&[&Facts<'_>]> =
        eligible.chunk_by(|left, right| tier(left.bytes()) == tier(right.bytes())).collect();
    for (start, first) in tiers.iter().enumerate() {
        if first.len() < fan_in {
            continue;
        }
        let mut union = Union::new(bounds);
        union.extend(first);
        if union.chosen.len() < 2 {
            continue;
        }
        // What was joined may be alike with what lies in the tiers above: one write instead of two.
        for above in tiers.get(start + 1..).unwrap_or_default() {
            let level = above.first().map_or(0, |shard| tier(shard.bytes()));
            let reached = tier(union.bytes);
            if level < reached || (level == reached && above.len() + 1 >= fan_in) {
                union.extend(above);
            }
        }
        return Ok(union.finish());
    }
    if bounds.is_nearly_full(shards.len()) {
        let mut union = Union::new(bounds);
        union.extend(&eligible);
        if union.chosen.len() >= 2 {
            return Ok(union.finish());
        }
    }
    Err(NothingToDo::NothingFits)
}

/// The choice of an author's script, taken whole or not at all; ascending by id.
///
/// # Errors
/// [`NothingToDo::Proposal`] says what is wrong with it.
pub fn propose<'a>(
    shards: &'a [Facts<'a>],
    bounds: &Bounds,
    named: &[String],
) -> Result<Vec<&'a Facts<'a>>, NothingToDo> {
    eligible(shards, bounds)?;
    let refused = NothingToDo::Proposal;
    let mut union = Union::new(bounds);
    if named.len() < 2 {
        return Err(refused("fewer than two shards"));
    }
    for name in named {
        let id = ShardId::from_text(name).ok_or(refused("a name that is no shard's"))?;
        let shard = shards.iter().find(|shard| shard.id() == id).ok_or(refused("a shard that is not there"))?;
        if !bounds.admits(shard) {
            return Err(refused("a shard that cannot be a source"));
        }
        if union.chosen.iter().any(|chosen| chosen.id() == id) {
            return Err(refused("a shard named twice"));
        }
        if !union.take(shard) {
            return Err(refused("more than max-segments or max-segment-kb allow"));
        }
    }
    Ok(union.finish())
}

fn tier(bytes: u64) -> u32 {
    bytes.checked_div(SMALLEST_TIER).and_then(|times| times.checked_ilog(4)).map_or(0, |log| log + 1)
}

/// Shards that fit together into one segment.
struct Union<'a> {
    bounds: Bounds,
    chosen: Vec<&'a Facts<'a>>,
    records: HashSet<Digest>,
    bytes: u64,
    source_bytes: u64,
    source_records: usize,
}

impl<'a> Union<'a> {
    fn new(bounds: &Bounds) -> Self {
        let (chosen, records) = (Vec::new(), HashSet::new());
        Self { bounds: *bounds, chosen, records, bytes: 0, source_bytes: 0, source_records: 0 }
    }

    /// Takes those that fit, in order; one that does not is passed over.
    fn extend(&mut self, shards: &[&'a Facts<'a>]) {
        for shard in shards {
            self.take(shard);
        }
    }

    fn take(&mut self, shard: &'a Facts<'a>) -> bool {
        let new = shard.records().iter().filter(|line| !self.records.contains(&line.sha()));
        let bytes = new.fold(self.bytes, |sum, line| sum.saturating_add(line.stored_len()));
        let source_bytes = self.source_bytes.saturating_add(shard.bytes());
        let source_records = self.source_records.saturating_add(shard.records().len());
        let fits = bytes <= self.bounds.max_segment.get()
            && source_bytes <= MAX_SOURCE_BYTES
            && source_records <= MAX_RECORDS
            && u64::try_from(self.chosen.len()).is_ok_and(|chosen| chosen < self.bounds.max_segments.get());
        if fits {
            self.records.extend(shard.records().iter().map(KnownLine::sha));
            self.chosen.push(shard);
            (self.bytes, self.source_bytes, self.source_records) = (bytes, source_bytes, source_records);
        }
        fits
    }

    fn finish(mut self) -> Vec<&'a Facts<'a>> {
        self.chosen.sort_unstable_by_key(|shard| shard.id());
        self.chosen
    }
}
