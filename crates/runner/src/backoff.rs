//! Waiting between attempts: decorrelated jitter, so that those who met once do not meet again in step.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Shortest wait between two attempts at a branch.
const SHORTEST: Duration = Duration::from_millis(50);

/// Longest wait between two attempts at a branch.
const LONGEST: Duration = Duration::from_secs(5);

/// The waits of one run.
#[derive(Clone, Debug)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    last: Duration,
}

impl Backoff {
    /// Waits between `base` and `cap`.
    #[must_use]
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, last: base }
    }

    /// The next wait: anything between the shortest and three times the last, under the cap.
    pub fn next_wait(&mut self) -> Duration {
        self.next_wait_after(Duration::ZERO)
    }

    /// As [`Backoff::next_wait`], up to as long as what was tried in vain took. The more contend for the same machine or
    /// server, the longer a try takes, and the further apart the next ones have to be.
    pub fn next_wait_after(&mut self, took: Duration) -> Duration {
        self.step(took, uuid::Uuid::new_v4().as_u128())
    }

    fn step(&mut self, took: Duration, random: u128) -> Duration {
        let span = (self.last * 3).saturating_sub(self.base).max(took).as_millis().max(1);
        let extra = u64::try_from(random % span).unwrap_or(0);
        self.last = (self.base + Duration::from_millis(extra)).min(self.cap);
        self.last
    }
}

/// Attempts at a branch that moves, within a time budget.
#[derive(Clone, Debug)]
pub struct Pace {
    backoff: Backoff,
    begun: Instant,
    budget: Duration,
    attempt: Instant,
}

impl Pace {
    /// A pace whose time began at `begun`.
    #[must_use]
    pub fn new(begun: Instant, budget: Duration) -> Self {
        Self { backoff: Backoff::new(SHORTEST, LONGEST), begun, budget, attempt: Instant::now() }
    }

    /// Waits before the next attempt. `false`, at once, where the wait would go over the budget.
    #[must_use]
    pub fn wait(&mut self) -> bool {
        let wait = self.backoff.next_wait_after(self.attempt.elapsed());
        let fits = self.begun.elapsed() + wait <= self.budget;
        if fits {
            sleep(wait);
            self.attempt = Instant::now();
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_millis(50);
    const CAP: Duration = Duration::from_secs(5);

    #[test]
    fn waits_stay_between_their_bounds_whatever_the_dice_say() {
        for random in [0, 1, u128::MAX, u128::MAX / 3, 0x5eed] {
            let mut backoff = Backoff::new(BASE, CAP);
            for _ in 0..50 {
                let wait = backoff.step(Duration::ZERO, random);
                assert!((BASE..=CAP).contains(&wait), "{wait:?}");
            }
        }
        let mut slow = Backoff::new(BASE, CAP);
        assert_eq!(slow.step(Duration::from_secs(2), 1_999), BASE + Duration::from_millis(1_999), "as long as it took");
        let mut highest = Backoff::new(BASE, CAP);
        let waits: Vec<Duration> = (0..8).map(|_| highest.step(Duration::ZERO, 99_999 * 100_000 - 1)).collect();
        assert!(waits.iter().any(|wait| *wait > BASE * 2), "{waits:?}");
    }
}
