//! What is said on the answer channel: one line by the launcher, then lines by the harness, each with a word that only
//! the two ends know.
//!
//! The script runs beside the harness and may write to the channel too; without the word that is a wrong line, and one
//! wrong line spoils the answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Strength;

/// The first line: what the launcher did before Node started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Launch {
    /// Everything that is required is enforced.
    Enforced(Strength),
    /// This could not be enforced, so Node does not start.
    Lacks(Lack),
    /// The program could not be started, after everything was enforced.
    NotStarted,
}

/// What the launcher could not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lack {
    Descriptors,
    Watch,
    Tree,
    Limits,
    Capabilities,
    Landlock,
    Seccomp,
}

impl Lack {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Descriptors => "descriptors that were inherited could not be closed",
            Self::Watch => "the process would outlive the one that watches it",
            Self::Tree => "the candidate tree cannot be entered",
            Self::Limits => "the bounds on resources could not be set",
            Self::Capabilities => "the process's capabilities could not be dropped",
            Self::Landlock => "this kernel does not enforce Landlock 3 or newer (Linux 6.2)",
            Self::Seccomp => "this kernel does not filter system calls",
        }
    }
}

/// A line of the harness.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Frame {
    /// Node started and read its input. Always the first, and only that.
    Ready(bool),
    /// The script does not load.
    Unusable(String),
    /// The script threw.
    Threw(String),
    /// `accept`, `refuse`, or the type of what it returned.
    Verdict(String),
    /// What it returned.
    Selection(Value),
}

/// The whole channel.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Told {
    /// What the launcher said; `None` where it said nothing that can be read.
    pub(crate) launch: Option<Launch>,
    /// Whether Node started and read its input.
    pub(crate) ready: bool,
    /// The answer, where there is one.
    pub(crate) last: Option<Frame>,
    /// Whether something else was written.
    pub(crate) spoilt: bool,
}

impl Told {
    /// Reads the channel; `word` is the one that the harness was given.
    pub(crate) fn read(channel: &[u8], word: &str) -> Self {
        let mut told = Self::default();
        let mut lines = channel.split_inclusive(|byte| *byte == b'\n');
        told.launch = lines.next().and_then(|line| serde_json::from_slice(line).ok());
        // A launcher that could not start the program says so after what it enforced.
        for line in lines {
            match frame(line, word) {
                Some(Frame::Ready(_)) if !told.ready => told.ready = true,
                Some(last) if told.ready && told.last.is_none() && !matches!(last, Frame::Ready(_)) => {
                    told.last = Some(last);
                }
                None if !told.ready && is_not_started(line) => told.launch = Some(Launch::NotStarted),
                _ => told.spoilt = true,
            }
        }
        told
    }
}

fn frame(line: &[u8], word: &str) -> Option<Frame> {
    let line = line.strip_prefix(word.as_bytes())?.strip_prefix(b" ")?.strip_suffix(b"\n")?;
    serde_json::from_slice(line).ok()
}

fn is_not_started(line: &[u8]) -> bool {
    serde_json::from_slice(line).is_ok_and(|said: Launch| said == Launch::NotStarted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: &str = "{\"enforced\":{\"landlock\":7,\"tcp\":true,\"signals\":true}}\n";

    fn read(lines: &str) -> Told {
        Told::read(format!("{LAUNCH}{lines}").as_bytes(), "w")
    }

    #[test]
    fn an_answer_is_the_second_and_last_line_with_the_word() {
        let told = read("w {\"ready\":true}\nw {\"verdict\":\"accept\"}\n");
        assert_eq!(told.launch, Some(Launch::Enforced(Strength { landlock: 7, tcp: true, signals: true })));
        assert_eq!((told.last, told.spoilt), (Some(Frame::Verdict("accept".into())), false));
    }

    #[test]
    fn whatever_else_is_written_spoils_the_answer() {
        let ready = "w {\"ready\":true}\n";
        let accept = "w {\"verdict\":\"accept\"}\n";
        for lines in [
            format!("{ready}x {{\"verdict\":\"accept\"}}\n"),
            format!("{ready}{{\"verdict\":\"accept\"}}\n"),
            format!("{ready}{accept}{accept}"),
            format!("{ready}{ready}{accept}"),
            format!("{ready}{accept}rubbish"),
            format!("{accept}{ready}"),
            format!("{ready}w {{\"verdict\":\"accept\"}}"),
            format!("{ready}w {{\"verdict\":\"accept\",\"threw\":\"x\"}}\n"),
            format!("{ready}\"not-started\"\n{accept}"),
        ] {
            assert!(read(&lines).spoilt, "{lines}");
        }
    }

    #[test]
    fn the_launcher_says_what_is_missing() {
        assert_eq!(Told::read(b"{\"lacks\":\"landlock\"}\n", "w").launch, Some(Launch::Lacks(Lack::Landlock)));
        assert_eq!(read("\"not-started\"\n").launch, Some(Launch::NotStarted));
        assert_eq!(Told::read(b"", "w").launch, None);
    }
}
