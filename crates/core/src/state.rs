//! The compaction state of a ledger, `ledger/compaction/state.json`, and when compaction is due (FORMATS §6).

use serde::{Deserialize, Serialize};

use crate::config::Schedule;
use crate::digest::Digest;
use crate::timestamp;

/// Largest state that is read, in bytes.
pub const MAX_STATE_BYTES: usize = 64 * 1024;

/// Most plans that a state remembers.
pub const MAX_RECENT_PLANS: usize = 20;

/// Where the state lies in a memory.
pub const STATE_PATH: &str = "ledger/compaction/state.json";

const VERSION: &str = "gh-aw/ledger-compaction-state/v1";
const HOUR_MILLIS: i64 = 60 * 60 * 1000;

/// What the last compaction left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    ledger: String,
    last_applied_at: String,
    last_plan_id: Digest,
    last_trigger: Trigger,
    recent_plan_ids: Vec<Digest>,
}

/// What asked for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The clock.
    Scheduled,
    /// An agent or a person.
    Requested,
}

impl Trigger {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Requested => "requested",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Scheduled, Self::Requested].into_iter().find(|trigger| trigger.name() == name)
    }
}

/// The bytes are no state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the compaction state is not valid")]
pub struct StateFault;

/// Whether compaction is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// It is.
    pub due: bool,
    /// The last one lies in the future, or at no instant at all, and counts as long ago.
    pub clock_is_wrong: bool,
}

// In canonical order of the members.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    last_applied_at: String,
    last_plan_id: Digest,
    last_trigger: Trigger,
    ledger: String,
    recent_plan_ids: Vec<Digest>,
    version: String,
}

impl State {
    /// Reads a state.
    ///
    /// # Errors
    /// [`StateFault`], whatever is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, StateFault> {
        if bytes.len() > MAX_STATE_BYTES {
            return Err(StateFault);
        }
        let wire: Wire = serde_json::from_slice(bytes).map_err(|_| StateFault)?;
        let sound = wire.version == VERSION
            && timestamp::is_canonical(wire.last_applied_at.as_bytes())
            && wire.recent_plan_ids.len() <= MAX_RECENT_PLANS;
        if !sound {
            return Err(StateFault);
        }
        Ok(Self {
            ledger: wire.ledger,
            last_applied_at: wire.last_applied_at,
            last_plan_id: wire.last_plan_id,
            last_trigger: wire.last_trigger,
            recent_plan_ids: wire.recent_plan_ids,
        })
    }

    /// The state after a plan was applied at `now`, a canonical instant. A state of another ledger is no predecessor.
    ///
    /// # Errors
    /// [`StateFault`] where `now` is no canonical instant.
    pub fn after(
        before: Option<&Self>,
        ledger: &str,
        plan_id: Digest,
        trigger: Trigger,
        now: &str,
    ) -> Result<Self, StateFault> {
        if !timestamp::is_canonical(now.as_bytes()) {
            return Err(StateFault);
        }
        let before = before.filter(|state| state.ledger == ledger).map(State::recent_plan_ids).unwrap_or_default();
        let mut recent: Vec<Digest> = before.iter().copied().filter(|recent| *recent != plan_id).collect();
        recent.push(plan_id);
        recent.drain(..recent.len().saturating_sub(MAX_RECENT_PLANS));
        Ok(Self {
            ledger: ledger.to_owned(),
            last_applied_at: now.to_owned(),
            last_plan_id: plan_id,
            last_trigger: trigger,
            recent_plan_ids: recent,
        })
    }

    /// The state as it is stored: its canonical text and a newline.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let wire = Wire {
            last_applied_at: self.last_applied_at.clone(),
            last_plan_id: self.last_plan_id,
            last_trigger: self.last_trigger,
            ledger: self.ledger.clone(),
            recent_plan_ids: self.recent_plan_ids.clone(),
            version: VERSION.to_owned(),
        };
        let mut bytes = serde_json::to_vec(&wire).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The ledger that was compacted.
    #[must_use]
    pub fn ledger(&self) -> &str {
        &self.ledger
    }

    /// When, as a canonical instant.
    #[must_use]
    pub fn last_applied_at(&self) -> &str {
        &self.last_applied_at
    }

    /// The plan that was applied.
    #[must_use]
    pub const fn last_plan_id(&self) -> Digest {
        self.last_plan_id
    }

    /// What asked for it.
    #[must_use]
    pub const fn last_trigger(&self) -> Trigger {
        self.last_trigger
    }

    /// The plans applied lately, the last one last.
    #[must_use]
    pub fn recent_plan_ids(&self) -> &[Digest] {
        &self.recent_plan_ids
    }
}

/// Whether a scheduled compaction is due at `now_millis` (since 1970). Without a last one it is, unless the schedule is
/// manual.
#[must_use]
pub fn due(schedule: Schedule, last_applied_at: Option<&str>, now_millis: i64) -> Due {
    let pause = match schedule {
        Schedule::Daily => 20 * HOUR_MILLIS,
        Schedule::Weekly => 164 * HOUR_MILLIS,
        Schedule::Manual => return Due { due: false, clock_is_wrong: false },
    };
    let Some(last) = last_applied_at else { return Due { due: true, clock_is_wrong: false } };
    match timestamp::to_unix_millis(last) {
        Some(last) if last <= now_millis => Due { due: now_millis - last >= pause, clock_is_wrong: false },
        _ => Due { due: true, clock_is_wrong: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(from: &str, to: &str) -> Result<State, StateFault> {
        let id = format!("sha256:{}", "a".repeat(64));
        let text = format!(
            r#"{{"last_applied_at":"2026-03-31T04:00:00.000Z","last_plan_id":"{id}","last_trigger":"scheduled","ledger":"memo","recent_plan_ids":["{id}"],"version":"{VERSION}"}}"#
        );
        assert!(text.contains(from), "{from}");
        State::parse(text.replacen(from, to, 1).as_bytes())
    }

    #[test]
    fn a_state_is_read_whole_or_not_at_all() {
        let read = state("", "").unwrap();
        assert_eq!((read.ledger(), read.last_applied_at()), ("memo", "2026-03-31T04:00:00.000Z"));
        assert_eq!((read.last_trigger(), read.recent_plan_ids().len()), (Trigger::Scheduled, 1));
        for (from, to) in [
            ("state/v1", "state/v2"),
            ("scheduled", "whenever"),
            ("2026-03-31", "2026-02-31"),
            ("aaaa", "a/aa"),
            ("\"ledger\"", "\"ledgers\""),
            ("{", "{\"ledger\":\"x\","),
            ("}", ",\"more\":1}"),
            ("}", ""),
        ] {
            assert_eq!(state(from, to), Err(StateFault), "{from} {to}");
        }
        assert_eq!(State::parse(&vec![b' '; MAX_STATE_BYTES + 1]), Err(StateFault));
    }

    // DB-5.3-02
    #[test]
    fn what_is_written_is_canonical_and_remembers_the_last_plans_of_this_ledger() {
        let plan = |number: u8| Digest::of(&[number]);
        let mut state = None;
        for number in 0..30 {
            let now = "2026-04-01T00:00:00.000Z";
            let next = State::after(state.as_ref(), "memo", plan(number), Trigger::Requested, now).unwrap();
            let bytes = next.to_bytes();
            let text = bytes.strip_suffix(b"\n").unwrap();
            assert_eq!(crate::json::canonical(text).unwrap().as_bytes(), text);
            assert_eq!(State::parse(&bytes), Ok(next.clone()));
            state = Some(next);
        }
        let kept: Vec<Digest> = (10..30).map(plan).collect();
        assert_eq!(state.as_ref().unwrap().recent_plan_ids(), kept);
        // A plan that is applied again is remembered once; another ledger's plans are not.
        let now = "2026-04-01T00:00:00.000Z";
        let again = State::after(state.as_ref(), "memo", plan(12), Trigger::Scheduled, now).unwrap();
        assert_eq!((again.recent_plan_ids().len(), again.recent_plan_ids().last()), (20, Some(&plan(12))));
        let other = State::after(state.as_ref(), "other", plan(1), Trigger::Scheduled, now).unwrap();
        assert_eq!(other.recent_plan_ids(), [plan(1)]);
        assert_eq!(State::after(None, "memo", plan(1), Trigger::Scheduled, "now"), Err(StateFault));
    }

    #[test]
    fn due_at_the_edge_of_each_schedule() {
        let now = timestamp::to_unix_millis("2026-04-01T00:00:00.000Z").unwrap();
        let cases = [
            (Schedule::Daily, None, true, false),
            (Schedule::Daily, Some("2026-03-31T04:00:00.001Z"), false, false),
            (Schedule::Daily, Some("2026-03-31T04:00:00.000Z"), true, false),
            (Schedule::Weekly, Some("2026-03-25T04:00:00.001Z"), false, false),
            (Schedule::Weekly, Some("2026-03-25T04:00:00.000Z"), true, false),
            (Schedule::Weekly, Some("2026-04-01T00:00:00.001Z"), true, true),
            (Schedule::Daily, Some("never"), true, true),
            (Schedule::Manual, None, false, false),
            (Schedule::Manual, Some("2020-01-01T00:00:00.000Z"), false, false),
        ];
        for (schedule, last, expected, wrong) in cases {
            let expected = Due { due: expected, clock_is_wrong: wrong };
            assert_eq!(due(schedule, last, now), expected, "{schedule:?} {last:?}");
        }
    }
}
