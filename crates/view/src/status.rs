//! How full a ledger is, what compaction can still gain, and what to do when it cannot (§7).

use daybook_compaction::{Bounds, Facts, select};
use daybook_core::Limits;
use daybook_core::config::{Compaction, MemoryConfig, Schedule};
use daybook_core::known::KnownLine;
use daybook_core::limits::{Bytes, Count};
use daybook_core::policy::is_nearly_full;
use daybook_core::state::{self, State};
use serde_json::{Value, json};

use crate::age;
use crate::style::{Paint, Style};

/// What is configured of a ledger.
#[derive(Debug, Clone)]
pub struct Configured {
    /// Its bounds.
    pub limits: Limits,
    /// How it is compacted; `None` where it is not.
    pub compaction: Option<Compaction>,
    /// The memory that holds it; `None` where nothing was configured.
    pub memory: Option<MemoryConfig>,
}

impl Default for Configured {
    /// Default limits, worth compacting from two shards on.
    fn default() -> Self {
        let (min_segments, max_segments) = (Count::new(2), Count::new(128));
        let compaction = Compaction { schedule: Schedule::Manual, min_segments, max_segments, script: None };
        Self { limits: Limits::default(), compaction: Some(compaction), memory: None }
    }
}

/// One bound and what of it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fullness {
    /// The configuration key, or what follows from several.
    pub name: &'static str,
    /// What is used.
    pub used: u64,
    /// The bound.
    pub limit: u64,
    /// Whether both are bytes.
    pub is_bytes: bool,
}

impl Fullness {
    /// Used in percent of the bound, rounded down; above 100 where a bound was lowered.
    #[must_use]
    pub const fn percent(&self) -> u64 {
        match self.used.saturating_mul(100).checked_div(self.limit) {
            Some(percent) => percent,
            None => 100,
        }
    }
}

/// What compaction can do for the number of shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gain {
    /// So many shards become one.
    Possible(usize),
    /// Nothing, and why.
    Nothing(String),
    /// Compaction is off.
    Off,
}

/// How a ledger stands.
#[derive(Debug, Clone)]
pub struct Status {
    /// The bounds.
    pub bounds: Vec<Fullness>,
    /// Shards that no plan may name as a source: the id, and why.
    pub pinned: Vec<(String, &'static str)>,
    /// What compaction can gain.
    pub gain: Gain,
    /// The state of compaction; an error where something is there that is none.
    pub state: Result<Option<State>, ()>,
    schedule: Option<Schedule>,
}

impl Status {
    /// Measures a ledger by its shards, and by its ordinary files (their number, and the bytes of the largest).
    #[must_use]
    pub fn of(
        facts: &[Facts<'_>],
        files: (u64, u64),
        state: Result<Option<State>, ()>,
        configured: &Configured,
    ) -> Self {
        let limits = &configured.limits;
        let shards = u64::try_from(facts.len()).unwrap_or(u64::MAX);
        let bytes = facts.iter().map(Facts::bytes).fold(0, u64::saturating_add);
        let largest = facts.iter().map(Facts::bytes).max().unwrap_or(0);
        let record = facts.iter().flat_map(Facts::records).map(KnownLine::stored_len).max().unwrap_or(0);
        let (max_shards, max_segment) = (limits.max_shards().get(), limits.max_segment().get());
        let mut bounds = vec![
            Fullness { name: "max-shards", used: shards, limit: max_shards, is_bytes: false },
            Fullness { name: "capacity", used: bytes, limit: max_shards.saturating_mul(max_segment), is_bytes: true },
            Fullness { name: "max-segment-kb", used: largest, limit: max_segment, is_bytes: true },
            Fullness { name: "max-record-kb", used: record, limit: limits.max_record().get(), is_bytes: true },
        ];
        if let Some(memory) = &configured.memory {
            let (count, size) = (memory.max_file_count.get(), memory.max_file_size.get());
            bounds.push(Fullness { name: "max-file-count", used: files.0, limit: count, is_bytes: false });
            bounds.push(Fullness { name: "max-file-size", used: files.1, limit: size, is_bytes: true });
        }
        let pinned = facts.iter().filter_map(|shard| Some((shard.id().to_string(), pinned_by(shard, limits)?)));
        let gain = match &configured.compaction {
            None => Gain::Off,
            Some(settings) => match select(facts, &Bounds::of(limits, settings)) {
                Ok(chosen) => Gain::Possible(chosen.len()),
                Err(nothing) => Gain::Nothing(nothing.to_string()),
            },
        };
        let schedule = configured.compaction.as_ref().map(|settings| settings.schedule);
        Self { pinned: pinned.collect(), bounds, gain, state, schedule }
    }

    /// Whether shards run out, or soon will.
    #[must_use]
    pub fn is_nearly_full(&self) -> bool {
        self.bounds.first().is_some_and(|shards| is_nearly_full(shards.used, shards.limit))
    }

    /// Whether shards run out and no compaction changes that.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.is_nearly_full() && !matches!(self.gain, Gain::Possible(_))
    }

    /// The ways out of a ledger that is full, each a sentence; none where it is not.
    #[must_use]
    pub fn ways_out(&self) -> Vec<&'static str> {
        let mut ways = Vec::new();
        if !self.is_stuck() {
            return ways;
        }
        if self.gain == Gain::Off {
            ways.push("switch compaction on for this ledger");
        }
        if !self.pinned.is_empty() {
            ways.push("put the good records of damaged shards into fresh ones: daybook maintain --rescue");
        }
        ways.extend([
            "raise max-segment-kb: larger segments let compaction join shards again",
            "start a second ledger beside this one for what comes next",
            "archive it: begin a new branch whose first record names the heads of this one (docs/archive.md)",
        ]);
        ways
    }

    /// The status as data.
    #[must_use]
    pub fn members(&self, now: i64) -> Vec<(&'static str, Value)> {
        let bounds = self.bounds.iter().map(
            |bound| json!({"name": bound.name, "used": bound.used, "limit": bound.limit, "percent": bound.percent()}),
        );
        let pinned = self.pinned.iter().map(|(shard, why)| json!({"shard": shard, "reason": why}));
        let gain = match &self.gain {
            Gain::Possible(shards) => json!({"possible": true, "shards": shards}),
            Gain::Nothing(why) => json!({"possible": false, "reason": why}),
            Gain::Off => json!({"possible": false, "reason": "compaction is off"}),
        };
        let last = self.state.as_ref().ok().and_then(Option::as_ref).map(|state| {
            json!({
                "applied_at": state.last_applied_at(),
                "age_seconds": age::seconds(state.last_applied_at(), now),
                "plan": state.last_plan_id().to_string(),
                "trigger": state.last_trigger().name(),
            })
        });
        vec![
            ("bounds", bounds.collect::<Vec<_>>().into()),
            ("pinned", pinned.collect::<Vec<_>>().into()),
            ("gain", gain),
            ("last_compaction", last.unwrap_or(Value::Null)),
            ("state_readable", self.state.is_ok().into()),
            ("overdue", self.is_overdue(now).into()),
            ("ways_out", self.ways_out().into()),
        ]
    }

    fn is_overdue(&self, now: i64) -> bool {
        let last = self.state.as_ref().ok().and_then(Option::as_ref).map(State::last_applied_at);
        self.schedule.is_some_and(|schedule| state::due(schedule, last, now).due)
    }

    /// The status as text.
    #[must_use]
    pub fn text(&self, now: i64, style: &Style) -> String {
        let mut text = String::new();
        for bound in &self.bounds {
            let percent = bound.percent();
            let paint = match percent {
                0..80 => Paint::Good,
                80..100 => Paint::Warn,
                _ => Paint::Bad,
            };
            let filled = usize::try_from(percent.min(100) / 5).unwrap_or(0);
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(20 - filled));
            let (used, limit) = if bound.is_bytes {
                (size(bound.used), size(bound.limit))
            } else {
                (bound.used.to_string(), bound.limit.to_string())
            };
            text.push_str(&format!(
                "{:<15} {} {percent:>4} %  {used} of {limit}\n",
                bound.name,
                style.paint(paint, &bar)
            ));
        }
        text.push('\n');
        let last = match &self.state {
            Err(()) => "unknown: what lies in its place is no state".to_owned(),
            Ok(None) => "never".to_owned(),
            Ok(Some(state)) => {
                let at = state.last_applied_at();
                let at = if style.absolute { at.to_owned() } else { age::ago(at, now) };
                format!("{at}, {}", state.last_trigger().name())
            }
        };
        let overdue = if self.is_overdue(now) { " (due)" } else { "" };
        text.push_str(&format!("last compaction {last}{overdue}\n"));
        text.push_str(&match &self.gain {
            Gain::Possible(shards) => format!("compaction now  {shards} shards become one\n"),
            Gain::Nothing(why) => format!("compaction now  nothing: {why}\n"),
            Gain::Off => "compaction now  off\n".to_owned(),
        });
        for (shard, why) in &self.pinned {
            text.push_str(&format!("pinned          {} {shard}: {why}\n", style.paint(Paint::Warn, "!")));
        }
        let ways = self.ways_out();
        if !ways.is_empty() {
            let says = if self.bounds.first().is_some_and(|shards| shards.percent() >= 100) {
                "The ledger is full: nothing can be appended, and compaction gains nothing more."
            } else {
                "The ledger is nearly full, and compaction gains nothing more."
            };
            text.push_str(&format!("\n{}\nWays out:\n", style.paint(Paint::Bad, says)));
            for way in ways {
                text.push_str(&format!("  - {way}\n"));
            }
        }
        text
    }
}

/// Why a shard can never be a source as the ledger is configured.
fn pinned_by(shard: &Facts<'_>, limits: &Limits) -> Option<&'static str> {
    match shard.flaw() {
        Some(flaw) => Some(flaw.name()),
        None => (Bytes::new(shard.bytes()) > limits.max_segment()).then_some("above-max-segment-kb"),
    }
}

/// Bytes as people read them.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        None => format!("{bytes} B"),
        Some((unit, name)) => {
            let tenths = bytes.saturating_mul(10) / unit;
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use daybook_core::ShardId;
    use daybook_core::limits::Configured as ConfiguredLimits;
    use daybook_testkit::ledgers::{Shape, shards};

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn facts(records: usize, count: usize) -> Vec<Facts<'static>> {
        shards(Shape::new(records, count, false), 1).into_iter().map(|(id, bytes)| Facts::of(id, bytes)).collect()
    }

    fn configured(max_shards: u64, max_segment_kb: u64) -> Configured {
        let limits = ConfiguredLimits {
            max_shards: Some(max_shards),
            max_segment_kb: Some(max_segment_kb),
            ..ConfiguredLimits::default()
        };
        Configured { limits: Limits::new(limits).unwrap(), ..Configured::default() }
    }

    #[test]
    fn a_full_ledger_says_whether_compaction_helps_and_what_else_does() {
        // Ten shards of about 10 KiB each.
        let facts = facts(100, 10);
        let roomy = Status::of(&facts, (0, 0), Ok(None), &configured(100, 100));
        assert!(!roomy.is_nearly_full() && roomy.ways_out().is_empty());
        let helped = Status::of(&facts, (0, 0), Ok(None), &configured(10, 100));
        assert!(helped.is_nearly_full() && !helped.is_stuck(), "{:?}", helped.gain);
        assert!(matches!(helped.gain, Gain::Possible(shards) if shards >= 2) && helped.ways_out().is_empty());
        // Segments no larger than the shards are: nothing joins.
        let stuck = Status::of(&facts, (0, 0), Ok(None), &configured(10, 11));
        assert!(stuck.is_stuck(), "{:?}", stuck.gain);
        let ways = stuck.ways_out().join("\n");
        assert!(["max-segment-kb", "second ledger", "archive"].iter().all(|way| ways.contains(way)), "{ways}");
        assert!(stuck.text(NOW, &Style::default()).contains("The ledger is full"));
        let off = Configured { compaction: None, ..configured(10, 100) };
        assert!(Status::of(&facts, (0, 0), Ok(None), &off).ways_out()[0].contains("switch compaction on"));
    }

    #[test]
    fn pinned_shards_are_named_with_the_reason() {
        let mut facts = facts(20, 2);
        let id = |number| ShardId::from_text(&format!("00000000-0000-4000-8000-00000000000{number}")).unwrap();
        facts.push(Facts::of(id(1), b"no record\n"));
        facts.push(Facts::of(id(2), b"torn"));
        let status = Status::of(&facts, (0, 0), Err(()), &configured(100, 100));
        let expected = [(id(1).to_string(), "bad-line"), (id(2).to_string(), "torn-tail")];
        assert_eq!(status.pinned, expected);
        let small = Status::of(&facts, (0, 0), Ok(None), &configured(100, 4));
        assert_eq!(small.pinned.iter().filter(|(_, why)| *why == "above-max-segment-kb").count(), 2);
        assert!(small.bounds.iter().any(|bound| bound.name == "max-segment-kb" && bound.percent() > 100));
    }

    #[test]
    fn sizes_are_rounded_down() {
        for (bytes, expected) in
            [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (102_399, "99.9 KiB"), (1 << 30, "1.0 GiB")]
        {
            assert_eq!(size(bytes), expected);
        }
    }
}
