//! Random damage, and processes that may not use more than their share while they look at it.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::random::Random;
use crate::said;

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

fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), all)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| pointers(value, &format!("{at}/{index}"), all));
        }
        _ => {}
    }
}

/// One change of a document with digests and ids that leaves most of its structure as it is.
///
/// # Panics
/// Never: every place that is changed was found in the document.
pub fn mutate_json(random: &mut Random, plan: &mut Value) {
    let mut all = Vec::new();
    pointers(plan, "", &mut all);
    let pointer = all[random.below(all.len())].clone();
    let other = all[random.below(all.len())].clone();
    let elsewhere = plan.pointer(&other).cloned().unwrap_or(Value::Null);
    let Some(node) = plan.pointer_mut(&pointer) else { return };
    match node {
        Value::Object(members) => match random.below(3) {
            0 => drop(members.insert("more".to_owned(), 1.into())),
            1 => {
                let key = members.keys().nth(random.below(members.len().max(1))).cloned().unwrap_or_default();
                members.remove(&key);
            }
            _ => *node = Value::Array(members.values().cloned().collect()),
        },
        Value::Array(items) => match random.below(5) {
            0 => items.reverse(),
            1 => items.truncate(random.below(items.len() + 1)),
            2 => items.push(elsewhere),
            3 if !items.is_empty() => drop(items.remove(random.below(items.len()))),
            _ => items.clear(),
        },
        Value::String(text) => {
            *node = match random.below(6) {
                0 => elsewhere,
                1 => format!("sha256:{:064x}", random.next()).into(),
                2 => text.to_uppercase().into(),
                3 => ["../../etc/passwd", "", "\u{202e}", "--upload-pack=x", "::error::x"][random.below(5)].into(),
                4 => random.uuid().to_string().into(),
                _ => json!(7),
            };
        }
        Value::Number(number) => {
            let number = number.as_u64().unwrap_or(7).min(1 << 40);
            *node = [json!(number + 1), json!(0), json!(-1), json!(1.5), json!(u64::MAX), json!("1")][random.below(6)]
                .clone();
        }
        _ => *node = elsewhere,
    }
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
    let output = Output { status, stdout: joined(reader), stderr: joined(complaints) };
    said::keep_output(&output);
    output
}
