//! Sending: one HTTP client, a token that goes to one server, and patience with bounds.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use daybook_runner::{Backoff, files, plain};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::answer::{Answer, ApiFault, Judgement, judge};
use crate::api::{ApiRequest, HEADERS, Method};

/// Most attempts at one request.
const MAX_ATTEMPTS: u32 = 4;

/// Longest time that all requests of a run may take, waits included.
pub(crate) const BUDGET: Duration = Duration::from_secs(240);

/// Longest time of one attempt.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Most bytes of an answer that are read.
const MAX_BODY: u64 = 256 * 1024;

/// Longest text of a server's in our log, in characters.
const MAX_LOGGED: usize = 300;

/// Where systems keep the certificates that they trust, an administrator's own among them.
const BUNDLES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Most bytes of such a bundle.
const MAX_BUNDLE: u64 = 8 * 1024 * 1024;

/// The right to use the API. It never appears in a message or a debug print.
pub(crate) struct Token(String);

impl Token {
    /// The token of `DAYBOOK_TOKEN`, or else of `GITHUB_TOKEN`.
    pub(crate) fn from_environment() -> Result<Self, ApiFault> {
        let value = |name: &str| std::env::var(name).unwrap_or_default();
        Self::new(["DAYBOOK_TOKEN", "GITHUB_TOKEN"].map(value).into_iter().find(|text| !text.is_empty()))
    }

    fn new(text: Option<String>) -> Result<Self, ApiFault> {
        let text = text.ok_or(ApiFault::TokenMissing)?;
        if text.bytes().all(|byte| byte.is_ascii_graphic()) { Ok(Self(text)) } else { Err(ApiFault::TokenUnusable) }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// Why there is no answer: what that means, and the client's own words, which are for the log only.
#[derive(Debug, Clone)]
pub(crate) struct NoAnswer(ApiFault, String);

impl From<&ureq::Error> for NoAnswer {
    fn from(fault: &ureq::Error) -> Self {
        let meaning = match fault {
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => ApiFault::Untrusted,
            // What goes wrong with a certificate comes as data of the connection.
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => ApiFault::Untrusted,
            _ => ApiFault::Unreachable,
        };
        Self(meaning, fault.to_string())
    }
}

/// Sends requests.
#[derive(Debug)]
pub(crate) struct Client {
    agent: ureq::Agent,
    token: Token,
}

impl Client {
    pub(crate) fn new(token: Token) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect is an answer: neither the request nor its token goes anywhere else.
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT))
            .max_idle_connections(0)
            .tls_config(TlsConfig::builder().root_certs(roots()).build());
        Self { agent: config.build().new_agent(), token }
    }

    /// Sends a request once.
    pub(crate) fn send(&self, request: &ApiRequest) -> Result<Answer, NoAnswer> {
        let authorization = format!("Bearer {}", self.token.0);
        let headers = HEADERS.into_iter().chain([("authorization", authorization.as_str())]);
        let sent = match request.method {
            Method::Get => {
                headers.fold(self.agent.get(&request.url), |sent, (name, value)| sent.header(name, value)).call()
            }
            Method::Post => headers
                .fold(self.agent.post(&request.url), |sent, (name, value)| sent.header(name, value))
                .content_type("application/json")
                .send(request.body.to_string()),
        };
        let mut response = sent.map_err(|fault| NoAnswer::from(&fault))?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let mut answer = Answer {
            status: response.status().as_u16(),
            retry_after: header("retry-after"),
            remaining: header("x-ratelimit-remaining"),
            reset: header("x-ratelimit-reset"),
            body: Vec::new(),
        };
        // The status has been said; what is broken off behind it changes nothing.
        let body = response.body_mut().with_config().limit(MAX_BODY).read_to_vec();
        answer.body = body.unwrap_or_default();
        Ok(answer)
    }
}

/// The certificates to trust: those of `SSL_CERT_FILE`, else those of the system, else those built in.
fn roots() -> RootCerts {
    let named = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()).map(PathBuf::from);
    let read = |path: PathBuf| files::read(&path.canonicalize().ok()?, MAX_BUNDLE).ok();
    let bundle = match &named {
        Some(path) => read(path.clone()),
        None => BUNDLES.into_iter().find_map(|path| read(path.into())),
    };
    let certificates: Vec<_> = parse_pem(&bundle.map(|bundle| bundle.bytes).unwrap_or_default())
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    // Where somebody named what to trust, nothing else is trusted, also when it cannot be read.
    if certificates.is_empty() && named.is_none() { RootCerts::WebPki } else { certificates.into() }
}

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
pub(crate) struct Clock(std::time::Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
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

    #[test]
    fn an_empty_token_is_named_and_none_is_printed_or_carries_a_second_header() {
        assert!(matches!(Token::new(None), Err(ApiFault::TokenMissing)));
        for bad in ["a b", "a\r\nx: y", "ä"] {
            assert!(matches!(Token::new(Some(bad.to_owned())), Err(ApiFault::TokenUnusable)), "{bad:?}");
        }
        let token = Token::new(Some("secret-token".to_owned())).unwrap();
        assert!(!format!("{:?}", Client::new(token)).contains("secret-token"));
    }
}
