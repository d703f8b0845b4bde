//! One sandboxed Node process for a script that a workflow's author wrote (§4.1, §4.2, DESIGN §1).
//!
//! A script decides one thing and can do nothing else: it reads what it is given, starts no process, reaches no network,
//! writes no file, and is bounded in time, memory and output. The kernel enforces that (Landlock, seccomp, resource
//! bounds); where it does not, no script runs.
//!
//! The binary that uses this crate starts itself once more as a *launcher*, which gives up its rights and then becomes
//! Node. So the first thing in its `main` is to ask whether it is one:
//!
//! ```no_run
//! use std::process::ExitCode;
//! use daybook_script::{Launcher, Limits, RunFacts, Sandbox, Script};
//!
//! fn main() -> ExitCode {
//!     let args: Vec<_> = std::env::args_os().collect();
//!     if let Some(exit) = daybook_script::launcher(&args) {
//!         return exit;
//!     }
//!     let answer = Sandbox::open(Launcher::this_program(), None).and_then(|sandbox| {
//!         let script = Script::new("module.exports = ({ files }) => files.length < 100;")?;
//!         let run = RunFacts { memory: "notes".into(), branch: "memory/notes".into(), id: "1".into() };
//!         sandbox.validate(&script, &Limits::default(), "/srv/candidate".as_ref(), &run).answer
//!     });
//!     match answer {
//!         Ok(()) => ExitCode::SUCCESS,
//!         Err(fault) => {
//!             eprintln!("{}: {fault}", fault.code());
//!             ExitCode::from(7)
//!         }
//!     }
//! }
//! ```

mod fault;
mod limits;
mod node;
mod order;
mod protocol;
mod sandbox;
mod select;
mod strength;
mod tree;
mod validate;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "elsewhere.rs"]
mod platform;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "linux/mod.rs"]
mod platform;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use fault::{Fault, Foreign};
pub use limits::Limits;
pub use node::{NodeVersion, OLDEST};
pub use sandbox::{Ran, Sandbox};
pub use select::SegmentFacts;
pub use strength::{MIN_LANDLOCK, Strength};
pub use validate::RunFacts;

/// Largest script, in bytes: as much as fits into a compiled configuration.
pub const MAX_SCRIPT_BYTES: usize = daybook_core::config::MAX_CONFIG_BYTES;

/// The text of a script: JavaScript, a CommonJS or an ES module that gives one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script(String);

impl Script {
    /// Takes a text.
    ///
    /// # Errors
    /// [`Fault::ScriptTooLarge`] above [`MAX_SCRIPT_BYTES`].
    pub fn new(text: impl Into<String>) -> Result<Self, Fault> {
        let text = text.into();
        if text.len() > MAX_SCRIPT_BYTES { Err(Fault::ScriptTooLarge) } else { Ok(Self(text)) }
    }

    fn text(&self) -> &str {
        &self.0
    }
}

/// The program that becomes Node: one whose `main` calls [`launcher`] first.
#[derive(Debug, Clone)]
pub struct Launcher(PathBuf);

impl Launcher {
    /// The program that is running, also where its file was replaced or removed meanwhile.
    #[must_use]
    pub fn this_program() -> Self {
        Self("/proc/self/exe".into())
    }

    /// Another program.
    #[must_use]
    pub fn program_at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    #[cfg_attr(
        not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
        expect(dead_code, reason = "nothing is started there")
    )]
    fn program(&self) -> &Path {
        &self.0
    }
}

/// Becomes Node where this process was started as a launcher, and does not come back then, unless that failed. `None`
/// where it was not. To be called before anything else: the launcher must have one thread.
#[must_use]
pub fn launcher(args: &[OsString]) -> Option<ExitCode> {
    match args {
        [_, word, rest @ ..] if word == order::LAUNCHER => {
            Some(platform::launch(rest.first().map(OsString::as_os_str)))
        }
        _ => None,
    }
}
