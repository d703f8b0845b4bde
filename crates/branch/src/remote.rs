//! A remote repository and the one question asked before all others: is the branch there?

use std::io::Read as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use daybook_core::config::BranchName;
use git2::ObjectFormat;

use crate::access::Token;
use crate::fault::{FaultKind, RemoteFault};
use crate::git::{Answer, GitCommand};
use crate::oid::Oid;

/// Most bytes read of a packet trace; the announcement comes first.
const MAX_TRACE: u64 = 64 * 1024;

/// Whether a branch exists. Absence is only ever an answer of the server, never the lack of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolved {
    /// The server listed its references and this branch was not among them; an empty repository counts.
    Absent,
    /// The branch is at this commit.
    At(Oid),
}

/// The full reference of a branch.
#[must_use]
pub fn reference(branch: &BranchName) -> String {
    format!("refs/heads/{branch}")
}

/// How git reaches a repository, after its `insteadOf` rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transport {
    Local,
    Web,
    Shell,
}

/// A remote repository, and what is needed to speak to it.
#[derive(Clone, Debug)]
pub struct Remote {
    url: String,
    token: Option<Token>,
    limit: Duration,
    transport: Arc<OnceLock<Transport>>,
}

impl Remote {
    /// Names a remote by address: a path, `file://`, `http(s)://`, `ssh://` or `host:path`.
    ///
    /// # Errors
    /// [`FaultKind::BadUrl`], also for an address with credentials in it: it would be visible in arguments.
    pub fn new(url: &str, token: Option<Token>) -> Result<Self, RemoteFault> {
        let bad = || RemoteFault::new(FaultKind::BadUrl, String::new());
        if url.is_empty() || url.chars().any(char::is_control) || url.contains("::") && !url.contains('[') {
            return Err(bad());
        }
        if let Some((scheme, rest)) = url.split_once("://") {
            let authority = rest.split('/').next().unwrap_or_default();
            let usable = match scheme {
                "file" => true,
                "http" | "https" => !authority.is_empty() && !authority.contains('@'),
                "ssh" => {
                    !authority.is_empty()
                        && !authority
                            .split('@')
                            .next()
                            .is_some_and(|user| authority.contains('@') && user.contains(':'))
                }
                _ => false,
            };
            if !usable {
                return Err(bad());
            }
        }
        Ok(Self { url: url.to_owned(), token, limit: Duration::from_secs(300), transport: Arc::default() })
    }

    /// The address of the repository that a workflow runs for: `$GITHUB_SERVER_URL/$GITHUB_REPOSITORY`.
    // DB-B-16
    #[must_use]
    pub fn url_from_environment() -> Option<String> {
        let value = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        Some(format!("{}/{}", value("GITHUB_SERVER_URL")?.trim_end_matches('/'), value("GITHUB_REPOSITORY")?))
    }

    /// Changes the time limit of each single call of git (five minutes unless changed).
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Asks the server where the branch is.
    ///
    /// # Errors
    /// [`RemoteFault`] whenever the server did not list its references completely.
    pub fn resolve(&self, branch: &BranchName) -> Result<Resolved, RemoteFault> {
        self.look(branch).map(|(resolved, _)| resolved)
    }

    /// A command that speaks to this remote: time limit, token and local access are set.
    ///
    /// # Errors
    /// [`RemoteFault`] when git cannot be run at all.
    pub fn command(&self, verb: &str) -> Result<GitCommand, RemoteFault> {
        let mut command = GitCommand::new(verb).limit(self.limit);
        if let (Some(token), Some(origin)) = (&self.token, self.origin()) {
            command = command.configure(token.configuration(origin));
        }
        if self.transport()? == Transport::Local {
            // The repository was named by whoever runs us; whose files they are does not matter for reading or pushing.
            let (option, program) =
                if verb == "push" { ("receive-pack", "receive-pack") } else { ("upload-pack", "upload-pack") };
            command = command.option(format!("--{option}=git -c 'safe.directory=*' {program}"));
        }
        Ok(command)
    }

    /// The branch and the object format of the repository, which an absent branch alone does not tell.
    pub(crate) fn look(&self, branch: &BranchName) -> Result<(Resolved, ObjectFormat), RemoteFault> {
        let wanted = reference(branch);
        let mut resolved = Resolved::Absent;
        let mut format = None;
        self.list(&["HEAD", &wanted], |oid, name| {
            format = Some(oid.format());
            if name == wanted.as_bytes() {
                resolved = Resolved::At(oid);
            }
        })?;
        if resolved == Resolved::Absent && self.transport()? == Transport::Web {
            self.require_protocol(&wanted)?;
        }
        if format.is_none() {
            self.list(&[], |oid, _| format = Some(oid.format()))?;
        }
        match format {
            Some(format) => Ok((resolved, format)),
            None => Ok((resolved, self.format_of_empty()?)),
        }
    }

    fn list(&self, patterns: &[&str], mut each: impl FnMut(Oid, &[u8])) -> Result<(), RemoteFault> {
        let mut command = self.command("ls-remote")?.option("--quiet").operand(&self.url);
        for pattern in patterns {
            command = command.operand(pattern);
        }
        let mut garbled = false;
        let answer = command.lines(|line| {
            let parsed = std::str::from_utf8(line.split(|byte| *byte == b'\t').next().unwrap_or_default())
                .ok()
                .and_then(|text| text.parse::<Oid>().ok())
                .zip(line.iter().position(|byte| *byte == b'\t'));
            match parsed {
                Some((oid, tab)) => each(oid, line.get(tab + 1..).unwrap_or_default()),
                None => garbled = true,
            }
        })?;
        succeeded(&answer)?;
        if garbled {
            Err(RemoteFault::new(FaultKind::BadAnswer, "a listed reference has no object id".to_owned()))
        } else {
            Ok(())
        }
    }

    /// Makes sure that it was a git server that listed nothing. Without this any web page of one line would pass: git
    /// falls back to reading plain files, and takes such a page for the list of an empty repository.
    fn require_protocol(&self, wanted: &str) -> Result<(), RemoteFault> {
        let trace = tempfile::NamedTempFile::new().map_err(local)?;
        let command = self.command("ls-remote")?.option("--quiet").trace_packets(trace.path());
        succeeded(&command.operand(&self.url).operand("HEAD").operand(wanted).run()?)?;
        let mut seen = String::new();
        let mut lines = std::io::BufReader::new(trace.as_file().take(MAX_TRACE));
        lines.read_to_string(&mut seen).map_err(local)?;
        if ["# service=git-upload-pack", "< version 2", "< version 1"].iter().any(|sign| seen.contains(sign)) {
            return Ok(());
        }
        Err(RemoteFault::new(FaultKind::NotARepository, "the server does not speak git's protocol".to_owned()))
    }

    /// Only a clone tells the format of a repository that has no reference yet; it transfers nothing.
    fn format_of_empty(&self) -> Result<ObjectFormat, RemoteFault> {
        let folder = tempfile::tempdir().map_err(local)?;
        let clone = folder.path().join("empty.git");
        let command =
            self.command("clone")?.option("--bare").option("--depth=1").option("--quiet").option("--template=");
        succeeded(&command.operand(&self.url).operand(&clone).run()?)?;
        let repository = git2::Repository::open_bare(&clone).map_err(local)?;
        Ok(repository.object_format())
    }

    /// `https://host[:port]` of a web address.
    fn origin(&self) -> Option<&str> {
        let (scheme, rest) = self.url.split_once("://")?;
        if !matches!(scheme, "http" | "https") {
            return None;
        }
        let authority = rest.find('/').unwrap_or(rest.len());
        self.url.get(..scheme.len() + 3 + authority)
    }

    /// Asked once: `insteadOf` may turn a web address into a path or a host for ssh.
    fn transport(&self) -> Result<Transport, RemoteFault> {
        if let Some(known) = self.transport.get() {
            return Ok(*known);
        }
        let mut address = Vec::new();
        let command = GitCommand::new("ls-remote").limit(self.limit).option("--get-url").operand(&self.url);
        let answer = command.lines(|line| address = line.to_vec())?;
        succeeded(&answer)?;
        Ok(*self.transport.get_or_init(|| transport_of(&String::from_utf8_lossy(&address))))
    }
}

fn transport_of(address: &str) -> Transport {
    match address.split_once("://") {
        Some(("file", _)) => Transport::Local,
        Some(("http" | "https", _)) => Transport::Web,
        Some(_) => Transport::Shell,
        // git's own rule: a colon before any slash means a host.
        None if address.split('/').next().is_some_and(|first| first.contains(':')) => Transport::Shell,
        None => Transport::Local,
    }
}

pub(crate) fn succeeded(answer: &Answer) -> Result<(), RemoteFault> {
    if answer.success() { Ok(()) } else { Err(RemoteFault::from_stderr(&answer.stderr)) }
}

pub(crate) fn local(error: impl std::fmt::Display) -> RemoteFault {
    RemoteFault::new(FaultKind::Local, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_credentials_or_commands_are_refused() {
        for good in [
            "/srv/r.git",
            "../r.git",
            "file:///srv/r.git",
            "https://h/o/r",
            "http://h:80/r",
            "ssh://git@h/r",
            "git@h:o/r",
        ] {
            assert!(Remote::new(good, None).is_ok(), "{good}");
        }
        for bad in [
            "",
            "ext::sh -c id",
            "https://u:p@h/r",
            "https://u@h/r",
            "ssh://u:p@h/r",
            "git://h/r",
            "ftp://h/r",
            "https:///r",
            "/a\nb",
        ] {
            assert_eq!(Remote::new(bad, None).map(|_| ()).unwrap_err().kind(), FaultKind::BadUrl, "{bad}");
        }
    }

    #[test]
    fn the_token_goes_to_the_origin_only() {
        let origin = |url: &str| Remote::new(url, None).unwrap().origin().map(str::to_owned);
        assert_eq!(origin("https://h:8443/o/r").as_deref(), Some("https://h:8443"));
        assert_eq!(origin("http://h").as_deref(), Some("http://h"));
        assert_eq!(origin("file:///x"), None);
        assert_eq!(origin("git@h:o/r"), None);
    }

    #[test]
    fn transports_are_told_by_the_rules_of_git() {
        for local in ["/srv/r.git", "r", "./a:b/r", "file:///srv"] {
            assert_eq!(transport_of(local), Transport::Local, "{local}");
        }
        assert_eq!(transport_of("https://h/r"), Transport::Web);
        for shell in ["git@h:o/r", "h:r", "ssh://h/r"] {
            assert_eq!(transport_of(shell), Transport::Shell, "{shell}");
        }
    }
}
