//! One run of the installed `git`: a chosen environment, bounded output, a time limit.
//!
//! Reading and writing a branch both go through here, so that there is one place to look for what git may see
//! (DESIGN §4).

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// The variables that git keeps; all others are removed.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Variables kept by their beginning.
const KEPT_PREFIX: &str = "GIT_SSL_";

/// What git is told beside its arguments.
const SET: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // `ext::` and other helpers run commands; these four only speak to a repository.
    ("GIT_ALLOW_PROTOCOL", "file:http:https:ssh"),
    // Without a repository of our own git must not find one by looking around: an agent may have written it.
    ("GIT_DIR", "/dev/null"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
];

/// Configuration of every run; it beats what files say.
const CONFIGURED: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("credential.interactive", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.unpackLimit", "1"),
    ("fetch.writeCommitGraph", "false"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("transfer.bundleURI", "false"),
    ("transfer.credentialsInUrl", "die"),
    ("http.lowSpeedLimit", "100"),
    ("http.lowSpeedTime", "60"),
];

/// Most bytes of git's stderr that are kept; the rest is read and dropped.
const MAX_TALK: usize = 64 * 1024;
/// Longest line of git's stdout.
const MAX_LINE: u64 = 64 * 1024;
/// Most bytes of stdout over all lines.
const MAX_OUTPUT: u64 = 256 * 1024 * 1024;

/// Why a run gave no result at all. A run that ends with an error is not a fault but an [`Answer`].
#[derive(Debug, thiserror::Error)]
pub enum GitFault {
    /// git could not be started.
    #[error("git did not start: {0}")]
    Start(io::Error),
    /// A pipe to git failed.
    #[error("talking to git failed: {0}")]
    Io(io::Error),
    /// git and everything it started were ended after the limit.
    #[error("git {verb} ended after {seconds} s without an answer")]
    TimedOut {
        /// The sub-command.
        verb: String,
        /// The limit.
        seconds: u64,
    },
    /// More output than any honest answer has.
    #[error("git {verb} printed more than allowed")]
    Oversized {
        /// The sub-command.
        verb: String,
    },
}

/// How a run ended.
#[derive(Debug)]
pub struct Answer {
    /// Exit code; `None` when a signal ended git.
    pub code: Option<i32>,
    /// What it said: at most 64 KiB, control characters replaced.
    pub stderr: String,
}

impl Answer {
    /// Whether git reported success.
    #[must_use]
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

/// A git command line under construction.
#[derive(Debug)]
pub struct GitCommand {
    verb: String,
    options: Vec<OsString>,
    operands: Vec<OsString>,
    repository: Option<OsString>,
    trace: Option<OsString>,
    configuration: Vec<(String, String)>,
    limit: Duration,
}

impl GitCommand {
    /// Starts a command line for one sub-command, with a limit of two minutes.
    #[must_use]
    pub fn new(verb: &str) -> Self {
        Self {
            verb: verb.to_owned(),
            options: Vec::new(),
            operands: Vec::new(),
            repository: None,
            trace: None,
            configuration: Vec::new(),
            limit: Duration::from_secs(120),
        }
    }

    /// Works in this bare repository; otherwise git runs in none.
    #[must_use]
    pub fn within(mut self, repository: &Path) -> Self {
        self.repository = Some(repository.as_os_str().to_owned());
        self
    }

    /// Adds an option of our own making.
    #[must_use]
    pub fn option(mut self, option: impl AsRef<OsStr>) -> Self {
        self.options.push(option.as_ref().to_owned());
        self
    }

    /// Adds an address, reference or object: it stands after `--` and is never read as an option.
    #[must_use]
    pub fn operand(mut self, operand: impl AsRef<OsStr>) -> Self {
        self.operands.push(operand.as_ref().to_owned());
        self
    }

    /// Adds configuration, by environment: arguments are visible to every process of the machine.
    #[must_use]
    pub fn configure(mut self, lines: impl IntoIterator<Item = (String, String)>) -> Self {
        self.configuration.extend(lines);
        self
    }

    /// Lets git write the protocol's packets to a file.
    #[must_use]
    pub fn trace_packets(mut self, file: &Path) -> Self {
        self.trace = Some(file.as_os_str().to_owned());
        self
    }

    /// Changes the time limit.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs, and gives each line of stdout (without its newline) to `each` as it comes.
    ///
    /// # Errors
    /// [`GitFault`] when git did not start, ran over its limit or printed too much.
    pub fn lines(self, mut each: impl FnMut(&[u8])) -> Result<Answer, GitFault> {
        let mut child = self.command().spawn().map_err(GitFault::Start)?;
        let watch = Watch::over(&child, self.limit);
        let talk = child.stderr.take().map(|pipe| thread::spawn(move || read_talk(pipe)));
        let mut outcome = Ok(());
        if let Some(stdout) = child.stdout.take() {
            outcome = read_lines(stdout, &mut each);
            if outcome.is_err() {
                watch.kill();
            }
        }
        let stderr = talk.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let status = child.wait().map_err(GitFault::Io)?;
        if watch.end() {
            return Err(GitFault::TimedOut { verb: self.verb, seconds: self.limit.as_secs() });
        }
        match outcome {
            Ok(()) => Ok(Answer { code: status.code(), stderr }),
            Err(ReadEnd::Oversized) => Err(GitFault::Oversized { verb: self.verb }),
            Err(ReadEnd::Io(error)) => Err(GitFault::Io(error)),
        }
    }

    /// Runs, and drops what it prints on stdout.
    ///
    /// # Errors
    /// As [`GitCommand::lines`].
    pub fn run(self) -> Result<Answer, GitFault> {
        self.lines(|_| ())
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.env_clear();
        for (name, value) in std::env::vars_os() {
            let kept = name.to_str().is_some_and(|name| KEPT.contains(&name) || name.starts_with(KEPT_PREFIX));
            if kept {
                command.env(name, value);
            }
        }
        command.envs(SET.iter().copied());
        if let Some(repository) = &self.repository {
            command.env("GIT_DIR", repository);
        }
        if let Some(trace) = &self.trace {
            command.env("GIT_TRACE_PACKET", trace);
        }
        let lines = CONFIGURED.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let lines: Vec<(String, String)> = lines.chain(self.configuration.iter().cloned()).collect();
        command.env("GIT_CONFIG_COUNT", lines.len().to_string());
        for (index, (key, value)) in lines.into_iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{index}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        command.arg(&self.verb).args(&self.options);
        if !self.operands.is_empty() {
            command.arg("--").args(&self.operands);
        }
        // A group of its own, so that the helpers git starts end with it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command
    }
}

/// Ends a process group when its time is over.
struct Watch {
    group: Option<Pid>,
    done: mpsc::Sender<()>,
    expired: Arc<AtomicBool>,
}

impl Watch {
    fn over(child: &Child, limit: Duration) -> Self {
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (done, over) = mpsc::channel();
        let expired = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&expired);
        thread::spawn(move || {
            if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::SeqCst);
                kill(group);
            }
        });
        Self { group, done, expired }
    }

    fn kill(&self) {
        kill(self.group);
    }

    /// Stops watching; tells whether the time had run out.
    fn end(self) -> bool {
        // A watcher that has already acted listens no longer.
        let _ = self.done.send(());
        self.expired.load(Ordering::SeqCst)
    }
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        // A group that has ended by itself is what was wanted.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

enum ReadEnd {
    Oversized,
    Io(io::Error),
}

fn read_lines(stdout: impl Read, each: &mut impl FnMut(&[u8])) -> Result<(), ReadEnd> {
    let mut stdout = BufReader::new(stdout.take(MAX_OUTPUT));
    let mut line = Vec::new();
    loop {
        line.clear();
        let got = (&mut stdout).take(MAX_LINE).read_until(b'\n', &mut line).map_err(ReadEnd::Io)?;
        if got == 0 {
            return if stdout.into_inner().limit() == 0 { Err(ReadEnd::Oversized) } else { Ok(()) };
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if got as u64 == MAX_LINE {
            return Err(ReadEnd::Oversized);
        }
        each(&line);
    }
}

fn read_talk(mut pipe: impl Read) -> String {
    let mut kept = Vec::new();
    let mut chunk = [0_u8; 8192];
    while let Ok(got) = pipe.read(&mut chunk) {
        if got == 0 {
            break;
        }
        let room = MAX_TALK - kept.len();
        kept.extend(chunk.iter().take(got.min(room)));
    }
    // The other side may write into a terminal or a log through us; only plain text passes.
    String::from_utf8_lossy(&kept)
        .chars()
        .map(|c| match c {
            '\r' => '\n',
            '\n' | '\t' => c,
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn lines_are_bounded_and_the_last_one_needs_no_newline() {
        let mut seen = Vec::new();
        assert!(read_lines(&b"a\n\nb"[..], &mut |line| seen.push(line.to_vec())).is_ok());
        assert_eq!(seen, [&b"a"[..], b"", b"b"]);
        let long = vec![b'x'; 70_000];
        assert!(matches!(read_lines(&long[..], &mut |_| ()), Err(ReadEnd::Oversized)));
    }

    #[test]
    fn control_characters_of_the_other_side_do_not_pass() {
        assert_eq!(read_talk(&b"a\x1b[2Jb\rc"[..]), "a\u{fffd}[2Jb\nc");
        assert_eq!(read_talk(&vec![b'y'; MAX_TALK + 10_000][..]).len(), MAX_TALK);
    }

    #[test]
    fn a_run_without_a_repository_finds_none() {
        let mut printed = Vec::new();
        let answer =
            GitCommand::new("rev-parse").option("--git-dir").lines(|line| printed.push(line.to_vec())).unwrap();
        assert!(!answer.success(), "found {printed:?}");
    }

    #[test]
    fn a_silent_server_is_left_after_the_limit() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/r", server.local_addr().unwrap());
        let begun = Instant::now();
        let run = GitCommand::new("ls-remote").operand(url).limit(Duration::from_millis(300)).run();
        assert!(matches!(run, Err(GitFault::TimedOut { .. })), "{run:?}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
