//! Patience with bounds: what may pass is asked again, and a server that wants peace gets it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use daybook_runner::{Backoff, plain};

use crate::answer::{Answer, ApiFault, Judgement, judge};
use crate::api::ApiRequest;
use crate::client::{NoAnswer, TIMEOUT};

/// Most attempts at one request.
const MAX_ATTEMPTS: u32 = 4;

/// Longest time that all requests of a run may take, waits included.
const BUDGET: Duration = Duration::from_secs(240);

/// Longest text of a server's in our log, in characters.
const MAX_LOGGED: usize = 300;

/// How time passes for [`insist`].
pub(crate) trait Time {
    /// What has passed since the first request of the run.
    fn passed(&self) -> Duration;
    /// Seconds since 1970.
    fn now(&self) -> u64;
    /// Waits.
    fn sleep(&mut self, wait: Duration);
}

/// The time of this machine.
#[derive(Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Time for Clock {
    fn passed(&self) -> Duration {
        self.0.elapsed()
    }

    fn now(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
    }

    fn sleep(&mut self, wait: Duration) {
        std::thread::sleep(wait);
    }
}

/// Sends until there is an answer that does not change: the answer, and how many attempts it took.
pub(crate) fn insist(
    request: &ApiRequest,
    time: &mut dyn Time,
    mut send: impl FnMut(&ApiRequest) -> Result<Answer, NoAnswer>,
) -> Result<(Answer, u32), ApiFault> {
    let mut backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(10));
    let mut attempt = 1;
    loop {
        let (fault, after) = match send(request) {
            Err(NoAnswer(fault, words)) => {
                log(fault, &words);
                if fault == ApiFault::Untrusted {
                    return Err(fault);
                }
                (fault, None)
            }
            Ok(answer) => match judge(request.method, &answer, time.now()) {
                Judgement::Done => return Ok((answer, attempt)),
                Judgement::Later(fault, after) => {
                    log(fault, &words_of(&answer));
                    (fault, after)
                }
                Judgement::Never(fault) => {
                    log(fault, &words_of(&answer));
                    return Err(fault);
                }
            },
        };
        // Jitter also behind a wait that was asked for: whoever was told the same comes back at the same moment.
        let wait = after.unwrap_or_default() + backoff.next_wait();
        if attempt == MAX_ATTEMPTS || time.passed() + wait + TIMEOUT > BUDGET {
            return Err(fault);
        }
        time.sleep(wait);
        attempt += 1;
    }
}

/// What a server says about its refusal.
fn words_of(answer: &Answer) -> String {
    let document: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    document["message"].as_str().unwrap_or("no message").to_owned()
}

/// Foreign words, for the log of this job only.
fn log(fault: ApiFault, words: &str) {
    eprintln!("{}: {}", fault.code(), plain(words, MAX_LOGGED));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Api;

    #[derive(Default)]
    struct Watch {
        passed: Duration,
        waits: Vec<Duration>,
    }

    impl Time for Watch {
        fn passed(&self) -> Duration {
            self.passed
        }

        fn now(&self) -> u64 {
            1000
        }

        fn sleep(&mut self, wait: Duration) {
            self.passed += wait;
            self.waits.push(wait);
        }
    }

    /// Plays answers, the last one for ever.
    fn play(answers: &[Result<Answer, NoAnswer>]) -> (Result<u32, ApiFault>, Vec<Duration>) {
        let request = Api::new("https://forge.example", "o/n").unwrap().dispatch("main", "t");
        let (mut watch, mut next) = (Watch::default(), 0);
        let result = insist(&request, &mut watch, |_| {
            next += 1;
            answers.get(next - 1).or(answers.last()).cloned().unwrap()
        });
        (result.map(|(_, attempts)| attempts), watch.waits)
    }

    fn status(status: u16) -> Result<Answer, NoAnswer> {
        Ok(Answer { status, ..Answer::default() })
    }

    fn limited(seconds: u64) -> Result<Answer, NoAnswer> {
        Ok(Answer { status: 429, retry_after: Some(seconds.to_string()), ..Answer::default() })
    }

    fn broken(fault: ApiFault) -> Result<Answer, NoAnswer> {
        Err(NoAnswer(fault, "words".to_owned()))
    }

    #[test]
    fn what_may_pass_is_asked_again_and_what_will_not_is_not() {
        assert_eq!(play(&[status(204)]), (Ok(1), vec![]));
        assert_eq!(play(&[status(403), status(204)]), (Err(ApiFault::Forbidden), vec![]));
        assert_eq!(play(&[status(502), broken(ApiFault::Unreachable), status(204)]).0, Ok(3));
        let (result, waits) = play(&[status(503)]);
        assert_eq!((result, waits.len()), (Err(ApiFault::Unavailable(503)), 3));
        assert_eq!(play(&[broken(ApiFault::Unreachable)]).0, Err(ApiFault::Unreachable));
        assert_eq!(play(&[broken(ApiFault::Untrusted), status(204)]), (Err(ApiFault::Untrusted), vec![]));
    }

    #[test]
    fn a_wait_that_was_asked_for_is_kept_and_all_waits_together_are_bounded() {
        let (result, waits) = play(&[limited(20), status(204)]);
        assert_eq!(result, Ok(2));
        assert!(waits[0] >= Duration::from_secs(20), "{waits:?}");
        let (result, waits) = play(&[limited(60)]);
        assert!(matches!(result, Err(ApiFault::RateLimited { .. })));
        assert!(waits.iter().sum::<Duration>() + TIMEOUT <= BUDGET, "{waits:?}");
        let (result, waits) = play(&[limited(61)]);
        assert!(matches!(result, Err(ApiFault::RateLimited { .. })) && waits.is_empty());
    }
}
