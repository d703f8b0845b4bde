//! Chooses which claims are merged.

use std::collections::HashMap;

use daybook_core::limits::Count;

pub use crate::log::Claim;
use crate::log::Log;

/// The chosen claims, in the order of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// What is merged.
    pub claims: Vec<Claim>,
    /// How many of them are about a record that is really staged.
    pub confirmed: u64,
    /// How many repeated a record of another.
    pub duplicates: u64,
    /// How many were left out because there were too many.
    pub over_bound: u64,
}

/// Chooses one claim for each record, the confirmed one if there is one, and at most `max` of them (FORMATS §5),
/// confirmed ones before others, so that a thousand forged lines displace no true one.
// DB-5.2-19, DB-5.2-20
#[must_use]
pub fn select(log: &Log, max: Count, confirms: impl Fn(&Claim) -> bool) -> Selection {
    let mut selection = Selection::default();
    let mut chosen: Vec<(&Claim, bool)> = Vec::new();
    let mut places = HashMap::new();
    for claim in log.claims() {
        let confirmed = confirms(claim);
        match places.entry(claim.event.record_sha()) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(chosen.len());
                chosen.push((claim, confirmed));
            }
            std::collections::hash_map::Entry::Occupied(place) => {
                selection.duplicates += 1;
                if let Some(first) = chosen.get_mut(*place.get())
                    && confirmed
                    && !first.1
                {
                    *first = (claim, true);
                }
            }
        }
    }
    let all_confirmed = chosen.iter().filter(|(_, confirmed)| *confirmed).count();
    let mut room = usize::try_from(max.get()).unwrap_or(usize::MAX);
    let mut room_for_others = room.saturating_sub(all_confirmed);
    for (claim, confirmed) in chosen {
        let fits = if confirmed { room > 0 } else { room_for_others > 0 };
        if !fits {
            selection.over_bound += 1;
            continue;
        }
        room -= 1;
        if confirmed {
            selection.confirmed += 1;
        } else {
            room_for_others -= 1;
        }
        selection.claims.push(claim.clone());
    }
    selection
}
