//! What an answer of the API means, and what somebody has to change. Nothing here waits or sends.

use std::time::Duration;

use daybook_runner::Exit;

use crate::api::Method;

/// Longest wait that an answer may ask for; with more the job gives up.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The wait where an answer says that there were too many requests, and not how long to wait.
const USUAL_WAIT: Duration = Duration::from_secs(60);

/// Why a request did not do what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApiFault {
    #[error("GITHUB_API_URL or GITHUB_REPOSITORY is not set; a runner sets both")]
    AddressMissing,
    #[error(
        "GITHUB_API_URL has to be an https address, or an http address of this machine, without a name or password \
         in it, and GITHUB_REPOSITORY an OWNER/NAME"
    )]
    AddressUnusable,
    #[error(
        "there is no token: GITHUB_TOKEN is empty; compile the workflow again, which gives the token of the run to this step"
    )]
    TokenMissing,
    #[error("GITHUB_TOKEN holds characters that no token has")]
    TokenUnusable,
    #[error("--default-branch is no name of a branch")]
    BranchInvalid,
    #[error("the API does not say which branch is the default one")]
    BranchUnknown,
    #[error("the API server could not be reached; check GITHUB_API_URL and, where a proxy is needed, HTTPS_PROXY")]
    Unreachable,
    #[error(
        "the certificate of the API server is not trusted, and no token was sent; where it is of an authority of your \
         own, name that authority's certificate in SSL_CERT_FILE"
    )]
    Untrusted,
    #[error("the API server answered {0}; run the failed job again later")]
    Unavailable(u16),
    #[error(
        "the API server takes no more requests for now ({status}{}); run the failed job again later",
        .wait.map(|wait| format!(", for {} seconds", wait.as_secs())).unwrap_or_default()
    )]
    RateLimited {
        /// 403 or 429.
        status: u16,
        /// What it asked to wait.
        wait: Option<Duration>,
    },
    #[error(
        "the API server sends elsewhere ({0}), and a token does not follow; set GITHUB_API_URL to the address that \
         answers, and check whether the repository was renamed"
    )]
    Redirected(u16),
    #[error(
        "the API server does not accept the token (401); a run's token ends with its job, so run the failed job again, \
         and check that GITHUB_TOKEN of this step is the run's token"
    )]
    TokenRefused,
    #[error(
        "the token may not start workflows (403): this job needs the permission actions: write, which a compiled \
         workflow grants, and Settings, Actions, General of the repository or its organization has to let workflows have \
         it; runs for pull requests of forks and of Dependabot never do"
    )]
    Forbidden,
    #[error(
        "there is no daybook-maintenance.yml on the default branch, or the token cannot see it (404): run daybook \
         compile, commit the file to the default branch, and check that this job has the permission actions: write"
    )]
    WorkflowMissing,
    #[error("the token cannot see the repository (404); check GITHUB_REPOSITORY")]
    RepositoryMissing,
    #[error(
        "the maintenance workflow does not take the request (422): it is disabled, or has no workflow_dispatch with the \
         inputs operation and ledger, or the branch is gone; enable it under Actions, run daybook compile, and commit \
         daybook-maintenance.yml to the default branch"
    )]
    NotDispatchable,
    #[error("the API server refused the request ({0})")]
    Refused(u16),
}

impl ApiFault {
    /// The code in the result and in reports.
    pub(crate) const fn code(self) -> &'static str {
        self.row().0
    }

    /// How a job ends that could do nothing else.
    pub(crate) const fn exit(self) -> Exit {
        self.row().1
    }

    const fn row(self) -> (&'static str, Exit) {
        match self {
            Self::AddressMissing => ("api-address-missing", Exit::Usage),
            Self::AddressUnusable => ("api-address-unusable", Exit::Usage),
            Self::TokenMissing => ("token-missing", Exit::Usage),
            Self::TokenUnusable => ("token-unusable", Exit::Usage),
            Self::BranchInvalid => ("default-branch-invalid", Exit::Usage),
            Self::BranchUnknown => ("default-branch-unknown", Exit::Io),
            Self::Unreachable => ("api-unreachable", Exit::Io),
            Self::Untrusted => ("api-untrusted", Exit::Io),
            Self::Unavailable(_) => ("api-unavailable", Exit::Io),
            Self::RateLimited { .. } => ("api-rate-limited", Exit::Io),
            Self::Redirected(_) => ("api-redirected", Exit::Denied),
            Self::TokenRefused => ("token-refused", Exit::Denied),
            Self::Forbidden => ("permission-missing", Exit::Denied),
            Self::WorkflowMissing => ("workflow-missing", Exit::Denied),
            Self::RepositoryMissing => ("repository-missing", Exit::Denied),
            Self::NotDispatchable => ("workflow-not-dispatchable", Exit::Denied),
            Self::Refused(_) => ("api-refused", Exit::Denied),
        }
    }
}

/// An answer, as far as it matters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// `Retry-After`.
    pub(crate) retry_after: Option<String>,
    /// `X-RateLimit-Remaining`.
    pub(crate) remaining: Option<String>,
    /// `X-RateLimit-Reset`, in seconds since 1970.
    pub(crate) reset: Option<String>,
    /// The leading part of what it says.
    pub(crate) body: Vec<u8>,
}

/// What follows from an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It did what was asked.
    Done,
    /// It may do so later; where the answer says when, not before.
    Later(ApiFault, Option<Duration>),
    /// It will not.
    Never(ApiFault),
}

/// Judges an answer to a request; `now` is in seconds since 1970.
pub(crate) fn judge(method: Method, answer: &Answer, now: u64) -> Judgement {
    let status = answer.status;
    match status {
        200..=299 => Judgement::Done,
        300..=399 => Judgement::Never(ApiFault::Redirected(status)),
        401 => Judgement::Never(ApiFault::TokenRefused),
        403 if !is_limited(answer) => Judgement::Never(ApiFault::Forbidden),
        403 | 429 => {
            let wait = wait(answer, now);
            let later = wait.unwrap_or(USUAL_WAIT);
            if later > LONGEST_WAIT {
                return Judgement::Never(ApiFault::RateLimited { status, wait: Some(later) });
            }
            Judgement::Later(ApiFault::RateLimited { status, wait }, Some(later))
        }
        404 if method == Method::Get => Judgement::Never(ApiFault::RepositoryMissing),
        404 => Judgement::Never(ApiFault::WorkflowMissing),
        422 => Judgement::Never(ApiFault::NotDispatchable),
        408 | 500..=599 => Judgement::Later(ApiFault::Unavailable(status), None),
        _ => Judgement::Never(ApiFault::Refused(status)),
    }
}

/// Whether a 403 is about the number of requests and not about rights.
fn is_limited(answer: &Answer) -> bool {
    answer.retry_after.is_some() || answer.remaining.as_deref().is_some_and(|text| text.trim() == "0")
}

/// What an answer asks to wait.
fn wait(answer: &Answer, now: u64) -> Option<Duration> {
    let number = |text: &Option<String>| text.as_deref().and_then(|text| text.trim().parse::<u64>().ok());
    let reset = || number(&answer.reset).map(|at| at.saturating_sub(now));
    number(&answer.retry_after).or_else(reset).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16) -> Answer {
        Answer { status, ..Answer::default() }
    }

    #[test]
    fn every_status_has_its_meaning_and_says_what_to_change() {
        for (status, code, exit, word) in [
            (301, "api-redirected", Exit::Denied, "GITHUB_API_URL"),
            (307, "api-redirected", Exit::Denied, "renamed"),
            (401, "token-refused", Exit::Denied, "GITHUB_TOKEN"),
            (403, "permission-missing", Exit::Denied, "actions: write"),
            (404, "workflow-missing", Exit::Denied, "daybook compile"),
            (409, "api-refused", Exit::Denied, "409"),
            (422, "workflow-not-dispatchable", Exit::Denied, "workflow_dispatch"),
        ] {
            let Judgement::Never(fault) = judge(Method::Post, &answer(status), 0) else {
                panic!("{status} is final");
            };
            assert_eq!((fault.code(), fault.exit()), (code, exit), "{status}");
            assert!(fault.to_string().contains(word), "{fault}");
        }
        for status in [200, 201, 204] {
            assert_eq!(judge(Method::Post, &answer(status), 0), Judgement::Done);
        }
        for status in [408, 500, 502, 503, 504, 599] {
            let expected = Judgement::Later(ApiFault::Unavailable(status), None);
            assert_eq!(judge(Method::Post, &answer(status), 0), expected);
        }
        assert_eq!(judge(Method::Get, &answer(404), 0), Judgement::Never(ApiFault::RepositoryMissing));
    }

    #[test]
    fn a_server_that_wants_peace_gets_it_up_to_a_bound() {
        let limited = |status, retry_after: Option<&str>, remaining: Option<&str>, reset: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            let (retry_after, remaining, reset) = (text(retry_after), text(remaining), text(reset));
            judge(Method::Post, &Answer { status, retry_after, remaining, reset, body: Vec::new() }, 1000)
        };
        let after = |judgement| match judgement {
            Judgement::Later(ApiFault::RateLimited { .. }, Some(wait)) => wait.as_secs(),
            other => panic!("{other:?}"),
        };
        assert_eq!(after(limited(429, Some("7"), None, None)), 7);
        assert_eq!(after(limited(403, Some("7"), None, Some("1030"))), 7);
        assert_eq!(after(limited(403, None, Some("0"), Some("1030"))), 30);
        assert_eq!(after(limited(429, None, Some("0"), Some("900"))), 0, "the time is over already");
        assert_eq!(after(limited(429, None, None, None)), 60);
        assert_eq!(after(limited(429, Some("soon"), None, None)), 60);
        for too_long in [limited(429, Some("3600"), None, None), limited(403, None, Some("0"), Some("99999999999999"))]
        {
            let Judgement::Never(fault @ ApiFault::RateLimited { .. }) = too_long else { panic!("{too_long:?}") };
            assert_eq!(fault.exit(), Exit::Io);
        }
        assert_eq!(limited(403, None, Some("12"), Some("1030")), Judgement::Never(ApiFault::Forbidden));
    }
}
