//! Waiting between attempts: decorrelated jitter, so that writers who met once do not meet again in step.

use std::time::Duration;

/// Shortest wait.
const BASE: Duration = Duration::from_millis(50);
/// Longest wait.
const CAP: Duration = Duration::from_secs(5);

/// The waits of one run.
#[derive(Debug)]
pub(crate) struct Backoff {
    last: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { last: BASE }
    }

    /// The next wait: anything between the shortest and three times the last, under the cap.
    pub(crate) fn next(&mut self) -> Duration {
        self.step(uuid::Uuid::new_v4().as_u128())
    }

    fn step(&mut self, random: u128) -> Duration {
        let span = (self.last * 3).saturating_sub(BASE).as_millis().max(1);
        let extra = u64::try_from(random % span).unwrap_or(0);
        self.last = (BASE + Duration::from_millis(extra)).min(CAP);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_stay_between_their_bounds_whatever_the_dice_say() {
        for random in [0, 1, u128::MAX, u128::MAX / 3, 0x5eed] {
            let mut backoff = Backoff::new();
            for _ in 0..50 {
                let wait = backoff.step(random);
                assert!((BASE..=CAP).contains(&wait), "{wait:?}");
            }
        }
        let mut highest = Backoff::new();
        let waits: Vec<Duration> = (0..8).map(|_| highest.step(99_999 * 100_000 - 1)).collect();
        assert!(waits.iter().any(|wait| *wait > BASE * 2), "{waits:?}");
    }
}
