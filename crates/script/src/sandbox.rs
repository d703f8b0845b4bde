//! One Node, found and asked for its version once, and the runs of scripts in it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use crate::node::{self, NodeVersion};
use crate::order::{Cut, Ended, Order};
use crate::protocol::{Frame, Launch, Told};
use crate::{Fault, Foreign, Launcher, Limits, Script, Strength, platform};

const HARNESS: &str = include_str!("harness.js");

/// For `node --version`, which is no script.
const ASK: Limits = Limits {
    wall: Duration::from_secs(60),
    cpu_seconds: 30,
    memory_bytes: 1024 * 1024 * 1024,
    output_bytes: 1024,
    answer_bytes: 1024,
};

/// Numbers of signals with which V8, or the C++ library, gives up where memory is not to be had: ILL, TRAP, ABRT, SEGV.
const GAVE_UP: [i32; 4] = [4, 5, 6, 11];
const SIGNAL_CPU: i32 = 24;
const SIGNAL_KILL: i32 = 9;

/// A Node that runs scripts, each in a sandbox of its own.
#[derive(Debug, Clone)]
pub struct Sandbox {
    launcher: Launcher,
    node: PathBuf,
    version: NodeVersion,
    strength: Strength,
}

/// What became of one script.
#[derive(Debug)]
pub struct Ran<T> {
    /// Its answer, or why there is none.
    pub answer: Result<T, Fault>,
    /// What it printed, up to its bound; bytes that are no text are replaced.
    pub output: Foreign,
    /// Time from the start of the process to its end.
    pub took: Duration,
}

impl Sandbox {
    /// Finds Node, the one that is named or the first on the PATH, and starts it once in the sandbox to learn its version
    /// and what the kernel enforces.
    ///
    /// # Errors
    /// Where Node is missing, unusable or too old, and where the sandbox is weaker than the minimum.
    pub fn open(launcher: Launcher, node: Option<&Path>) -> Result<Self, Fault> {
        let node = node::find(node)?;
        let order = Order {
            program: node.clone(),
            arguments: vec!["--version".to_owned()],
            tree: None,
            cpu_seconds: ASK.cpu_seconds,
            data_bytes: ASK.memory_bytes,
        };
        let ended = platform::run(&launcher, &order, b"", &ASK)?;
        let strength = launched(&Told::read(&ended.answer, "").launch)?;
        let said = String::from_utf8_lossy(&ended.output);
        let version = NodeVersion::parse(&said).filter(|_| ended.cut.is_none() && ended.code == Some(0));
        let version = version.ok_or(Fault::NodeUnusable)?;
        if !version.is_supported() {
            return Err(Fault::NodeUnsupported { version: version.to_string() });
        }
        Ok(Self { launcher, node, version, strength })
    }

    /// The version of Node.
    #[must_use]
    pub const fn version(&self) -> NodeVersion {
        self.version
    }

    /// What the kernel enforces on each script.
    #[must_use]
    pub const fn strength(&self) -> Strength {
        self.strength
    }

    /// Runs a script for one of the two uses; the frame is the answer, still unchecked.
    pub(crate) fn run(
        &self,
        script: &Script,
        limits: &Limits,
        tree: Option<&Path>,
        using: &str,
        input: &impl Serialize,
    ) -> Ran<Frame> {
        let begun = Instant::now();
        let word = uuid::Uuid::new_v4().simple().to_string();
        let request = json!({ "nonce": word, "use": using, "script": script.text(), "input": input });
        match platform::run(&self.launcher, &self.order(limits, tree), request.to_string().as_bytes(), limits) {
            Ok(ended) => Ran {
                answer: judge(&ended, limits, &Told::read(&ended.answer, &word)),
                output: Foreign::new(String::from_utf8_lossy(&ended.output)),
                took: ended.took,
            },
            Err(fault) => Ran { answer: Err(fault), output: Foreign::default(), took: begun.elapsed() },
        }
    }

    fn order(&self, limits: &Limits, tree: Option<&Path>) -> Order {
        let mut arguments: Vec<String> = self.version.options().map(str::to_owned).collect();
        // The collector is to run before the kernel refuses; buffers lie outside the heap.
        arguments.push(format!("--max-old-space-size={}", limits.memory_bytes / (1024 * 1024) * 3 / 4));
        if let Some(tree) = tree {
            arguments.push(format!("--allow-fs-read={}/*", tree.display()));
        }
        arguments.extend(["--eval".to_owned(), HARNESS.to_owned()]);
        Order {
            program: self.node.clone(),
            arguments,
            tree: tree.map(Path::to_owned),
            cpu_seconds: limits.cpu_seconds,
            data_bytes: limits.memory_bytes.saturating_add(self.version.reserved_bytes()),
        }
    }
}

fn launched(launch: &Option<Launch>) -> Result<Strength, Fault> {
    match launch {
        Some(Launch::Enforced(strength)) => Ok(*strength),
        Some(Launch::Lacks(lack)) => Err(Fault::SandboxTooWeak { lacks: lack.text() }),
        Some(Launch::NotStarted) => Err(Fault::NodeUnusable),
        None => Err(Fault::System(std::io::ErrorKind::Other)),
    }
}

/// What a run comes to. A verdict counts only where the process also ended well.
// DB-4.1-02, DB-4.1-04
fn judge(ended: &Ended, limits: &Limits, told: &Told) -> Result<Frame, Fault> {
    match ended.cut {
        Some(Cut::Time) => return Err(Fault::TimeLimit),
        Some(Cut::Output) => return Err(Fault::OutputLimit),
        Some(Cut::Answer) => return Err(Fault::AnswerLimit),
        None => {}
    }
    launched(&told.launch)?;
    if let Some(signal) = ended.signal {
        return Err(died(signal, ended, limits));
    }
    if !told.ready {
        return Err(Fault::NodeUnusable);
    }
    if told.spoilt {
        return Err(Fault::BadAnswer);
    }
    match &told.last {
        Some(Frame::Unusable(text)) => Err(Fault::ScriptUnusable(Foreign::new(text))),
        Some(Frame::Threw(text)) => Err(Fault::Threw(Foreign::new(text))),
        _ if ended.code != Some(0) => Err(Fault::Exited { code: ended.code.unwrap_or(-1) }),
        Some(frame) => Ok(frame.clone()),
        None => Err(Fault::NoAnswer),
    }
}

fn died(signal: i32, ended: &Ended, limits: &Limits) -> Fault {
    let output = String::from_utf8_lossy(&ended.output);
    let out_of_memory = ["out of memory", "Allocation failed", "bad_alloc"].iter().any(|said| output.contains(said));
    match signal {
        SIGNAL_CPU => Fault::CpuLimit,
        // The kernel's last word to a process that did not heed the first.
        SIGNAL_KILL if ended.took.as_secs() >= limits.cpu_seconds => Fault::CpuLimit,
        signal if GAVE_UP.contains(&signal) && out_of_memory => Fault::MemoryLimit,
        signal => Fault::Died { signal },
    }
}
