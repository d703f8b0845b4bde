//! Why a script gave no answer. Each is a refusal; none is ever taken for consent.

use std::io;

/// Text that came out of a script, or out of Node because of one. It has no `Display`: whoever shows it neutralises it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Foreign(String);

impl Foreign {
    /// Keeps the text, whatever it is.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as it came: controls, workflow commands and all.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }
}

/// How a run ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No program named `node` where it was looked for.
    #[error("Node is missing: there is no program `node` on the PATH, or not where it was said to be")]
    NodeMissing,
    /// What was found is not the Node binary, or it does not start in the sandbox.
    #[error("Node does not start in the sandbox; name the binary itself, not a wrapper around it")]
    NodeUnusable,
    /// A version without the permission model.
    #[error("Node {version} is too old; needed is {} or newer", crate::node::OLDEST)]
    NodeUnsupported {
        /// What it said it is; digits and dots.
        version: String,
    },
    /// This system has no sandbox that Daybook knows.
    #[error("there is no sandbox for scripts on this system; needed is Linux on x86-64 or arm64")]
    SandboxUnavailable,
    /// The kernel enforces less than the stated minimum, so nothing was started.
    #[error("the sandbox is too weak: {lacks}")]
    SandboxTooWeak {
        /// What is missing.
        lacks: &'static str,
    },
    /// The script does not load: its text is not JavaScript, it threw at once, or it gives no function.
    #[error("the script does not load, or gives no function")]
    ScriptUnusable(Foreign),
    /// More text than a script may have.
    #[error("the script is larger than {} bytes", crate::MAX_SCRIPT_BYTES)]
    ScriptTooLarge,
    /// The script said no.
    #[error("the script answered false")]
    Refused,
    /// The script threw, or its promise was rejected.
    #[error("the script threw")]
    Threw(Foreign),
    /// The answer is not of the agreed form.
    #[error("the script's answer has not the agreed form")]
    BadAnswer,
    /// The process ended well, but before the script had answered.
    #[error("the script ended before it answered; return from the function, do not exit")]
    NoAnswer,
    /// The process ended with a code other than 0.
    #[error("the script ended with exit code {code}")]
    Exited {
        /// The code.
        code: i32,
    },
    /// The process was ended by a signal that means none of what follows.
    #[error("the script was ended by signal {signal}")]
    Died {
        /// Its number.
        signal: i32,
    },
    /// Over [`crate::Limits::wall`].
    #[error("the script did not finish in time")]
    TimeLimit,
    /// Over [`crate::Limits::cpu_seconds`].
    #[error("the script used up its processor time")]
    CpuLimit,
    /// Over [`crate::Limits::memory_bytes`].
    #[error("the script used up its memory")]
    MemoryLimit,
    /// Over [`crate::Limits::output_bytes`].
    #[error("the script printed too much")]
    OutputLimit,
    /// Over [`crate::Limits::answer_bytes`].
    #[error("the script's answer is too large")]
    AnswerLimit,
    /// The tree holds something else than regular files with acceptable names, or cannot be read.
    #[error("the candidate tree holds something else than plain files")]
    TreeUnusable,
    /// The tree is not what it was before the script ran.
    #[error("the candidate tree changed while the script ran")]
    TreeChanged,
    /// The system did not do what it should.
    #[error("the script could not be started or watched ({0})")]
    System(io::ErrorKind),
}

impl Fault {
    /// The code by which reports name the fault.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NodeMissing => "node-missing",
            Self::NodeUnusable => "node-unusable",
            Self::NodeUnsupported { .. } => "node-unsupported",
            Self::SandboxUnavailable => "sandbox-unavailable",
            Self::SandboxTooWeak { .. } => "sandbox-too-weak",
            Self::ScriptUnusable(_) => "script-unusable",
            Self::ScriptTooLarge => "script-too-large",
            Self::Refused => "script-refused",
            Self::Threw(_) => "script-threw",
            Self::BadAnswer => "script-bad-answer",
            Self::NoAnswer => "script-no-answer",
            Self::Exited { .. } => "script-exited",
            Self::Died { .. } => "script-died",
            Self::TimeLimit => "script-time",
            Self::CpuLimit => "script-cpu",
            Self::MemoryLimit => "script-memory",
            Self::OutputLimit => "script-output",
            Self::AnswerLimit => "script-answer-size",
            Self::TreeUnusable => "tree-unusable",
            Self::TreeChanged => "tree-changed",
            Self::System(_) => "script-system",
        }
    }

    /// What the script itself said about it.
    #[must_use]
    pub const fn said(&self) -> Option<&Foreign> {
        match self {
            Self::ScriptUnusable(text) | Self::Threw(text) => Some(text),
            _ => None,
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::System(error.kind())
    }
}
