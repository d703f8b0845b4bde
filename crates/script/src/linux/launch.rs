//! The launcher: the same binary once more, which gives up its rights one after the other and then becomes Node.
//!
//! A process can restrict itself without help; restricting a child between fork and exec would need code that the
//! workspace forbids. The order is fixed: whatever needs a right is done before that right is given up.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::stdio::{dup2_stdout, stderr, stdout};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::{files, resources, syscalls};
use crate::Strength;
use crate::order::Order;
use crate::protocol::{Lack, Launch};

/// The descriptor on which the harness answers.
const CHANNEL: i32 = 3;

/// Becomes the program that the order names; comes back only where that failed.
pub(crate) fn launch(order: Option<&OsStr>) -> ExitCode {
    let order = order.and_then(OsStr::to_str).and_then(|text| serde_json::from_str::<Order>(text).ok());
    if let Some(order) = order {
        let closed = close_inherited();
        if let Ok(mut channel) = open_channel() {
            let is_clean = closed.is_ok() && channel.as_raw_fd() == CHANNEL;
            match if is_clean { restrict(&order) } else { Err(Lack::Descriptors) } {
                Ok(strength) => {
                    say(&mut channel, &Launch::Enforced(strength));
                    // Comes back only on failure.
                    let _ = Command::new(&order.program).args(&order.arguments).env_clear().exec();
                    say(&mut channel, &Launch::NotStarted);
                }
                Err(lack) => say(&mut channel, &Launch::Lacks(lack)),
            }
        }
    }
    ExitCode::FAILURE
}

/// Whoever started Daybook may have left files or sockets open, and no rule of the sandbox covers those.
fn close_inherited() -> io::Result<()> {
    let mut inherited = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        inherited.extend(number.filter(|number| *number > 2));
    }
    for number in inherited {
        // The descriptor that listed the folder is among them, and closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// Moves standard output away, so that what a script prints cannot meet its answer: it goes where errors go.
fn open_channel() -> io::Result<File> {
    let channel = File::from(rustix::io::dup(stdout())?);
    dup2_stdout(stderr())?;
    Ok(channel)
}

// DB-4.1-03, DB-4.2-03
fn restrict(order: &Order) -> Result<Strength, Lack> {
    // Whatever kills the watcher kills the script.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|_| Lack::Watch)?;
    resources::bound(order).map_err(|_| Lack::Limits)?;
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, none).map_err(|_| Lack::Capabilities)?;
    std::env::set_current_dir(order.tree.as_deref().unwrap_or("/".as_ref())).map_err(|_| Lack::Tree)?;
    let strength = files::restrict(&order.program, order.tree.as_deref()).ok_or(Lack::Landlock)?;
    syscalls::restrict().ok_or(Lack::Seccomp)?;
    Ok(strength)
}

fn say(channel: &mut File, said: &Launch) {
    let mut line = serde_json::to_vec(said).unwrap_or_default();
    line.push(b'\n');
    // Nobody listens any more; the program is not to start then.
    if channel.write_all(&line).is_err() {
        std::process::exit(1);
    }
}
