//! Sending: one HTTP client, and a token that goes to one server.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use daybook_runner::files;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::answer::{Answer, ApiFault};
use crate::api::{ApiRequest, HEADERS, Method};

/// Longest time of one attempt.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Most bytes of an answer that are read.
const MAX_BODY: u64 = 256 * 1024;

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
pub(crate) struct NoAnswer(pub(crate) ApiFault, pub(crate) String);

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

#[cfg(test)]
mod tests {
    use super::*;

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
