//! Random damage, and processes that may not use more than their share while they look at it.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::random::Random;

/// Bytes that mean something to one of the readers.
const TOKENS: [&[u8]; 12] = [
    b"\n",
    b"\"",
    b"{}",
    b"[[[[[[[[",
    b"\\ud800",
    b"\xff\xfe",
    b"\0\0\0\0\0\0\0\0",
    b"99999999999999999999",
    b"ledger_mutation",
    b"../../etc/passwd",
    b"::error::",
    b"sha256:",
];

/// A copy with one to eight random changes: bits, cuts, repeats, insertions, and tokens that mean something.
#[must_use]
pub fn mutated(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(600)).min(bytes.len());
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let noise: Vec<u8> = (0..random.below(64)).map(|_| random.next().to_le_bytes()[0]).collect();
                bytes.splice(at..at, noise);
            }
            _ => {
                let token = TOKENS[random.below(TOKENS.len())];
                let overwritten = (at + token.len()).min(bytes.len());
                let until = if random.below(2) == 0 { at } else { overwritten };
                bytes.splice(at..until, token.iter().copied());
            }
        }
    }
    bytes
}

/// Runs a command with at most `mebibytes` of address space and `limit` of time.
///
/// # Panics
/// Where it cannot be started or takes longer.
#[must_use]
pub fn bounded(command: &Command, mebibytes: u64, limit: Duration) -> Output {
    let mut bounded = Command::new("/bin/sh");
    bounded.arg("-c").arg(format!("ulimit -v {}; exec \"$@\"", mebibytes * 1024)).arg("sh");
    bounded.arg(command.get_program()).args(command.get_args()).env_clear();
    bounded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let start = Instant::now();
    let mut child = bounded.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    // What a report can hold fits into a pipe's reader thread, not into the pipe.
    let (mut stdout, mut stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut stdout, &mut text).map(|_| text)
    });
    let complaints = std::thread::spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut stderr, &mut text).map(|_| text)
    });
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            panic!("still running after {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let joined =
        |thread: std::thread::JoinHandle<std::io::Result<Vec<u8>>>| thread.join().expect("a reader").expect("a pipe");
    Output { status, stdout: joined(reader), stderr: joined(complaints) }
}
