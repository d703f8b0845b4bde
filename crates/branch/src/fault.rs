//! Why a remote gave no answer, read from what git says.

use std::fmt;

use daybook_runner::Exit;

use crate::git::GitFault;

/// The kinds of failure a caller can tell apart. None of them means "the branch is absent".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// The address cannot be used: empty, an unknown scheme, or one with credentials in it.
    BadUrl,
    /// The token is empty or holds characters no header can carry.
    BadToken,
    /// No connection: name not resolved, refused, no route.
    Unreachable,
    /// The server's certificate was not accepted.
    Certificate,
    /// 401: credentials missing or wrong.
    Unauthorized,
    /// 403: known, but not allowed.
    Forbidden,
    /// 404: no such repository, or one that these credentials may not see.
    NotFound,
    /// The address answers, but there is no git repository.
    NotARepository,
    /// 5xx or 429: the server itself failed or is overloaded.
    Server,
    /// The line broke in the middle of the answer.
    Dropped,
    /// No answer within the time limit.
    TimedOut,
    /// The answer was larger than any honest one.
    Oversized,
    /// The answer was not what the protocol promises.
    BadAnswer,
    /// `git` is not installed, or could not be started.
    NoGit,
    /// The machine's own disk or memory failed.
    Local,
    /// git failed in a way that the table does not know.
    Other,
}

/// One row per kind: exit, code and sentence, in the order of the enum.
const KINDS: &[(FaultKind, Exit, &str, &str)] = &[
    (
        FaultKind::BadUrl,
        Exit::Usage,
        "remote-bad-url",
        "the remote's address cannot be used; allowed are file, https, http and ssh, without credentials in it",
    ),
    (
        FaultKind::BadToken,
        Exit::Usage,
        "remote-bad-token",
        "the token is empty or holds characters that a header cannot carry; is the secret set?",
    ),
    (FaultKind::Unreachable, Exit::Io, "remote-unreachable", "the remote could not be reached"),
    (FaultKind::Certificate, Exit::Io, "remote-certificate", "the remote's certificate was not accepted"),
    (
        FaultKind::Unauthorized,
        Exit::Denied,
        "remote-unauthorized",
        "the remote wants other credentials (401); is the token set and still valid?",
    ),
    (
        FaultKind::Forbidden,
        Exit::Denied,
        "remote-forbidden",
        "the remote does not allow it (403); the job needs `contents: read`, or `contents: write` to push",
    ),
    (FaultKind::NotFound, Exit::Denied, "remote-not-found", "no such repository, or the token may not see it (404)"),
    (
        FaultKind::NotARepository,
        Exit::Usage,
        "remote-not-a-repository",
        "there is no git repository at the remote's address",
    ),
    (FaultKind::Server, Exit::Io, "remote-server", "the remote's server failed (5xx) or is overloaded"),
    (FaultKind::Dropped, Exit::Io, "remote-dropped", "the connection to the remote broke in the middle of the answer"),
    (FaultKind::TimedOut, Exit::Io, "remote-timed-out", "the remote did not answer in time"),
    (FaultKind::Oversized, Exit::Io, "remote-oversized", "the remote's answer is larger than allowed"),
    (FaultKind::BadAnswer, Exit::Io, "remote-bad-answer", "the remote's answer does not follow the protocol"),
    (FaultKind::NoGit, Exit::Io, "git-missing", "git could not be started; it has to be installed and on PATH"),
    (FaultKind::Local, Exit::Io, "git-local", "git could not work on this machine's disk"),
    (FaultKind::Other, Exit::Io, "git-failed", "git failed"),
];

impl FaultKind {
    fn row(self) -> (Exit, &'static str, &'static str) {
        let row = KINDS.iter().find(|row| row.0 == self);
        row.map_or((Exit::Io, "git-failed", "git failed"), |row| (row.1, row.2, row.3))
    }

    /// How a job ends that cannot go on without the remote.
    #[must_use]
    pub fn exit(self) -> Exit {
        self.row().0
    }

    /// The diagnostic code: lower-case words with dashes, stable.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().1
    }
}

/// A remote that gave no usable answer. `Display` shows the kind only; [`RemoteFault::private`] adds git's own words.
#[derive(Debug, Clone)]
pub struct RemoteFault {
    kind: FaultKind,
    detail: String,
}

impl RemoteFault {
    pub(crate) fn new(kind: FaultKind, detail: String) -> Self {
        Self { kind, detail }
    }

    /// Names the failure of a git process that ended with an error, from its stderr.
    #[must_use]
    pub fn from_stderr(stderr: &str) -> Self {
        Self { kind: classify(stderr), detail: stderr.to_owned() }
    }

    /// What kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The failure with git's own words, for the log of a trusted job: it may hold addresses and paths.
    #[must_use]
    pub fn private(&self) -> String {
        if self.detail.is_empty() { self.to_string() } else { format!("{self}: {}", self.detail.trim_end()) }
    }
}

impl fmt::Display for RemoteFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.kind.row().2)
    }
}

impl std::error::Error for RemoteFault {}

impl From<GitFault> for RemoteFault {
    fn from(fault: GitFault) -> Self {
        let kind = match fault {
            GitFault::Start(_) => FaultKind::NoGit,
            GitFault::Io(_) => FaultKind::Local,
            GitFault::TimedOut { .. } => FaultKind::TimedOut,
            GitFault::Oversized { .. } => FaultKind::Oversized,
        };
        Self::new(kind, fault.to_string())
    }
}

/// What git and curl say (C locale), most telling first. The first row with a hit decides.
const PHRASES: &[(FaultKind, &[&str])] = &[
    (
        FaultKind::BadUrl,
        &[
            "' not allowed",
            "is not a valid scheme",
            "Unsupported protocol",
            "URL using bad/illegal format",
            "Unable to find remote helper",
        ],
    ),
    (
        FaultKind::Certificate,
        &[
            "SSL certificate problem",
            "certificate verification failed",
            "certificate subject name",
            "Host key verification failed",
            "SSL: ",
        ],
    ),
    (
        FaultKind::Unauthorized,
        &[
            "returned error: 401",
            "Authentication failed",
            "could not read Username",
            "could not read Password",
            "terminal prompts disabled",
            "unable to get password",
            "Permission denied (publickey",
            "Access denied",
        ],
    ),
    (FaultKind::Forbidden, &["returned error: 403", "Write access to repository not granted", "Permission to "]),
    (FaultKind::NotFound, &["returned error: 404", "returned error: 410", "' not found"]),
    (FaultKind::Server, &["returned error: 5", "returned error: 429"]),
    (
        FaultKind::Unreachable,
        &[
            "Could not resolve",
            "Failed to connect",
            "Couldn't connect",
            "Connection refused",
            "Connection timed out",
            "Network is unreachable",
            "No route to host",
            "Name or service not known",
            "Temporary failure in name resolution",
            "unable to connect to",
        ],
    ),
    (FaultKind::TimedOut, &["Operation timed out", "Operation too slow", "timed out after"]),
    (
        FaultKind::Dropped,
        &[
            "Empty reply from server",
            "Connection reset",
            "Connection closed",
            "Recv failure",
            "Send failure",
            "Broken pipe",
            "transfer closed",
            "unexpected disconnect",
            "early EOF",
            "hung up unexpectedly",
            "RPC failed",
            "unexpected eof",
        ],
    ),
    (
        FaultKind::NotARepository,
        &[
            "does not appear to be a git repository",
            "not a git repository",
            "not valid: is this a git repository?",
            "' does not exist",
        ],
    ),
    (
        FaultKind::Local,
        &[
            "No space left on device",
            "Disk quota exceeded",
            "Read-only file system",
            "Too many open files",
            "Out of memory",
            "unable to create temporary file",
        ],
    ),
    (
        FaultKind::BadAnswer,
        &[
            "protocol error",
            "bad line length",
            "invalid index-pack output",
            "mismatched algorithms",
            "bad object",
            "expected flush",
            "unexpected response",
            "unknown object format",
            "doesn't support 'ls-refs'",
            "expected flush after",
            "invalid server response",
        ],
    ),
    // git adds this line to many failures; alone it says that nothing came any more.
    (FaultKind::Dropped, &["Could not read from remote repository"]),
];

fn classify(stderr: &str) -> FaultKind {
    // Lines that the server itself sent are left out: it may fail, but it may not choose how we name the failure.
    let own: Vec<&str> = stderr.lines().filter(|line| !line.trim_start().starts_with("remote:")).collect();
    PHRASES
        .iter()
        .find(|(_, phrases)| own.iter().any(|line| phrases.iter().any(|phrase| line.contains(phrase))))
        .map_or(FaultKind::Other, |row| row.0)
}

#[cfg(test)]
mod tests {
    use daybook_runner::Stop;
    use daybook_testkit::said;

    use super::*;

    #[test]
    fn every_kind_has_its_own_code() {
        let mut codes: Vec<&str> = KINDS.iter().map(|row| row.2).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), KINDS.len());
    }

    #[test]
    fn phrases_of_git_are_told_apart() {
        let table = [
            ("fatal: unable to access 'https://h/r/': Could not resolve host: h", Exit::Io, "remote-unreachable"),
            (
                "fatal: unable to access 'http://h/': Failed to connect to h port 80 after 0 ms: Couldn't connect to server",
                Exit::Io,
                "remote-unreachable",
            ),
            ("fatal: Authentication failed for 'https://h/r/'", Exit::Denied, "remote-unauthorized"),
            (
                "fatal: could not read Username for 'https://h': terminal prompts disabled",
                Exit::Denied,
                "remote-unauthorized",
            ),
            (
                "fatal: unable to access 'https://h/r/': The requested URL returned error: 403",
                Exit::Denied,
                "remote-forbidden",
            ),
            (
                "fatal: unable to access 'https://h/r/': The requested URL returned error: 503",
                Exit::Io,
                "remote-server",
            ),
            (
                "remote: Repository not found.\nfatal: repository 'https://h/r/' not found",
                Exit::Denied,
                "remote-not-found",
            ),
            (
                "fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote repository.",
                Exit::Usage,
                "remote-not-a-repository",
            ),
            (
                "error: RPC failed; curl 18 transfer closed with outstanding read data remaining\nfatal: early EOF",
                Exit::Io,
                "remote-dropped",
            ),
            (
                "fatal: unable to access 'https://h/': SSL certificate problem: self-signed certificate",
                Exit::Io,
                "remote-certificate",
            ),
            ("Host key verification failed.\nfatal: Could not read from", Exit::Io, "remote-certificate"),
            (
                "fatal: unable to access 'https://h/': Operation too slow. Less than 100 bytes/sec",
                Exit::Io,
                "remote-timed-out",
            ),
            (
                "fatal: sha1 file '/t/tmp_pack' write error. Out of diskspace: Disk quota exceeded",
                Exit::Io,
                "git-local",
            ),
            ("fatal: protocol error: bad line length character: <!DO", Exit::Io, "remote-bad-answer"),
            ("fatal: transport 'ext' not allowed", Exit::Usage, "remote-bad-url"),
            ("remote: The requested URL returned error: 401\nfatal: early EOF", Exit::Io, "remote-dropped"),
            ("remote: No space left on device\nfatal: something new", Exit::Io, "git-failed"),
            ("fatal: something new", Exit::Io, "git-failed"),
        ];
        for (stderr, exit, code) in table {
            let stop = Stop::from(RemoteFault::from_stderr(stderr));
            said::keep(stop.code, &stop.message);
            assert_eq!((stop.exit, stop.code), (exit, code), "{stderr}");
        }
    }

    #[test]
    fn the_public_form_shows_no_address() {
        let fault = RemoteFault::from_stderr("fatal: unable to access 'https://secret.example/': Connection refused");
        assert!(!fault.to_string().contains("secret.example"));
        assert!(fault.private().contains("secret.example"));
    }
}
