//! The requests to GitHub's REST API, and where they go. The address comes from the environment, whoever serves it.

use std::net::IpAddr;

use daybook_core::config::BranchName;
use serde_json::{Value, json};

use crate::answer::ApiFault;

/// The workflow that compacts: the file that `daybook compile` writes for all sources of a repository.
const WORKFLOW: &str = "daybook-maintenance.yml";

/// The operation that it is asked for (§5.3).
const OPERATION: &str = "compact_ledger";

/// Headers of every request besides the token.
pub(crate) const HEADERS: [(&str, &str); 3] = [
    ("accept", "application/vnd.github+json"),
    ("user-agent", concat!("daybook/", env!("CARGO_PKG_VERSION"))),
    ("x-github-api-version", "2022-11-28"),
];

/// Where a repository's API is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Api(String);

impl Api {
    /// From `GITHUB_API_URL` and `GITHUB_REPOSITORY`.
    pub(crate) fn from_environment() -> Result<Self, ApiFault> {
        let value = |name: &str| std::env::var(name).unwrap_or_default();
        Self::new(&value("GITHUB_API_URL"), &value("GITHUB_REPOSITORY"))
    }

    /// An address that a token may be sent to, and a repository of the form `OWNER/NAME`.
    pub(crate) fn new(base: &str, repository: &str) -> Result<Self, ApiFault> {
        if base.is_empty() || repository.is_empty() {
            return Err(ApiFault::AddressMissing);
        }
        let word = |text: &str| {
            !text.is_empty()
                && text.len() <= 100
                && !text.starts_with('.')
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
        };
        let is_repository = repository.split_once('/').is_some_and(|(owner, name)| word(owner) && word(name));
        if !is_repository || !is_safe(base) {
            return Err(ApiFault::AddressUnusable);
        }
        Ok(Self(format!("{}/repos/{repository}", base.trim_end_matches('/'))))
    }

    /// The address for printing only, with the names of the variables in place of what they do not say.
    pub(crate) fn or_names_of_variables() -> Self {
        Self::from_environment().unwrap_or_else(|_| Self("$GITHUB_API_URL/repos/$GITHUB_REPOSITORY".to_owned()))
    }

    /// Asks for the repository, which names its default branch.
    pub(crate) fn repository(&self) -> ApiRequest {
        ApiRequest { method: Method::Get, url: self.0.clone(), body: Value::Null }
    }

    /// Starts the maintenance workflow for one ledger. Sent twice it starts two runs, the second of which finds
    /// nothing due: a lost answer may be asked for again.
    pub(crate) fn dispatch(&self, branch: &str, ledger: &str) -> ApiRequest {
        let url = format!("{}/actions/workflows/{WORKFLOW}/dispatches", self.0);
        let body = json!({ "ref": branch, "inputs": { "operation": OPERATION, "ledger": ledger } });
        ApiRequest { method: Method::Post, url, body }
    }
}

/// How a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
}

/// One request, without the token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiRequest {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) body: Value,
}

impl ApiRequest {
    /// The request for people: everything that would be sent, except the token.
    pub(crate) fn to_json(&self) -> Value {
        let headers: Value = HEADERS.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        let method = if self.method == Method::Get { "GET" } else { "POST" };
        json!({ "method": method, "url": self.url, "headers": headers, "body": self.body })
    }
}

/// The default branch in the API's words about a repository.
pub(crate) fn default_branch(body: &[u8]) -> Result<String, ApiFault> {
    let document: Value = serde_json::from_slice(body).map_err(|_| ApiFault::BranchUnknown)?;
    let branch = document["default_branch"].as_str().unwrap_or_default();
    BranchName::parse(branch).map(|name| name.as_str().to_owned()).map_err(|_| ApiFault::BranchUnknown)
}

/// Whether a token may be sent there: encrypted, or to this machine; and no name or password in the address.
fn is_safe(base: &str) -> bool {
    let plain = base.bytes().all(|byte| byte.is_ascii_graphic()) && !base.contains(['?', '#', '@', '\\']);
    let host = |rest: &str| {
        let authority = rest.split('/').next().unwrap_or_default();
        match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default().to_owned(),
            None => authority.split(':').next().unwrap_or_default().to_owned(),
        }
    };
    let is_here = |host: String| host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    plain
        && match base.split_once("://") {
            Some(("https", rest)) => !host(rest).is_empty(),
            Some(("http", rest)) => is_here(host(rest)),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_only_where_nobody_reads_along() {
        for good in [
            "https://api.forge.example",
            "https://forge.example/api/v3/",
            "http://127.0.0.1:8080",
            "http://localhost:1",
            "http://[::1]:1/x",
        ] {
            assert!(Api::new(good, "owner/na.me").is_ok(), "{good}");
        }
        for bad in [
            "http://forge.example",
            "http://127.0.0.1.forge.example",
            "https://",
            "https:///x",
            "https://user@forge.example",
            "http://localhost@forge.example",
            "https://forge.example/?x",
            "https://forge.example\\@x",
            "file:///x",
            "ftp://localhost",
            "forge.example",
            "https://forge.example/\n",
        ] {
            assert_eq!(Api::new(bad, "owner/name"), Err(ApiFault::AddressUnusable), "{bad}");
        }
        for bad in ["owner", "owner/", "/name", "o/n/x", "o/..", "o/n?x", "o w/n"] {
            assert_eq!(Api::new("https://forge.example", bad), Err(ApiFault::AddressUnusable), "{bad}");
        }
        assert_eq!(Api::new("", "o/n"), Err(ApiFault::AddressMissing));
    }

    #[test]
    fn a_request_says_what_it_asks_for_and_holds_no_token() {
        let api = Api::new("https://forge.example/api/v3/", "octo/repo").unwrap();
        let request = api.dispatch("trunk", "triage");
        let url = "https://forge.example/api/v3/repos/octo/repo/actions/workflows/daybook-maintenance.yml/dispatches";
        assert_eq!(request.url, url);
        let printed = request.to_json();
        assert_eq!(
            printed["body"],
            json!({ "ref": "trunk", "inputs": { "operation": "compact_ledger", "ledger": "triage" } })
        );
        assert_eq!((printed["method"].as_str(), printed["headers"].as_object().unwrap().len()), (Some("POST"), 3));
        assert!(!printed.to_string().to_lowercase().contains("authorization"));
    }

    #[test]
    fn a_branch_is_believed_only_where_it_is_one() {
        assert_eq!(default_branch(br#"{"id":1,"default_branch":"trunk"}"#), Ok("trunk".to_owned()));
        for bad in ["", "{}", "[]", r#"{"default_branch":""}"#, r#"{"default_branch":"a b"}"#, "{"] {
            assert_eq!(default_branch(bad.as_bytes()), Err(ApiFault::BranchUnknown), "{bad}");
        }
    }
}
