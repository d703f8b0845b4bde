//! Whatever happens in the middle of an append, every acknowledged record is there afterwards, and the folder verifies.
//!
//! The child is this test program itself: it appends in a loop and prints each digest once it is acknowledged.
#![cfg(target_os = "linux")]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{note, open, read, shard_id, small_limits};
use daybook_core::Digest;
use daybook_core::diagnostic::Severity;
use daybook_store::{MemoryFolder, Writer};
use daybook_testkit::random::Random;
use daybook_testkit::said;

const FOLDER: &str = "DAYBOOK_TEST_FOLDER";
const APPENDS: &str = "DAYBOOK_TEST_APPENDS";

#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let appends: usize = std::env::var(APPENDS).unwrap().parse().unwrap();
    let mut random = Random::new(u64::from(std::process::id()));
    let mut out = std::io::stdout().lock();
    let mut opened = None;
    for _ in 0..appends {
        let Some(writer) = opened.as_mut() else {
            let memory = MemoryFolder::open(Path::new(&folder));
            opened = memory.and_then(|memory| Writer::open(&memory, small_limits(), [])).ok();
            continue;
        };
        match writer.append(&note(&mut random, 150), shard_id(&mut random)) {
            Ok(appended) => writeln!(out, "\nacknowledged {}", appended.records[0].sha()).unwrap(),
            Err(error) => writeln!(out, "\nrefused {} {error}", error.code()).unwrap(),
        }
        out.flush().unwrap();
    }
    writeln!(out, "\nfinished").unwrap();
}

fn spawn(mut command: Command, memory: &Path, appends: usize) -> Child {
    command.args(["--exact", "child", "--nocapture", "--test-threads=1"]).env(FOLDER, memory);
    command.env(APPENDS, appends.to_string()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("the test program runs")
}

fn acknowledged(lines: impl Iterator<Item = String>) -> Vec<Digest> {
    lines.filter_map(|line| line.strip_prefix("acknowledged ").and_then(|sha| sha.parse().ok())).collect()
}

/// Nothing acknowledged is missing, nothing is an error, and the next writer goes on.
fn hold(memory: &Path, acknowledged: &[Digest], about: &str) {
    let ledger = read(memory);
    let missing = acknowledged.iter().filter(|sha| !ledger.contains(sha)).count();
    assert_eq!(missing, 0, "{about}: acknowledged and lost");
    let errors = ledger.diagnostics().kept().iter().filter(|found| found.severity() == Severity::Error).count();
    assert_eq!(errors, 0, "{about}: {:?}", ledger.diagnostics().kept());
    static NEXT: AtomicU64 = AtomicU64::new(1 << 40);
    let mut random = Random::new(NEXT.fetch_add(1, Ordering::Relaxed));
    let mut writer = open(memory, small_limits());
    writer.append(&note(&mut random, 20), shard_id(&mut random)).unwrap_or_else(|error| panic!("{about}: {error}"));
}

// DB-2-10, DB-B-15
#[test]
fn kill_at_any_instant() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(1);
    let (mut all, mut killed_in_work) = (Vec::new(), 0);
    for round in 0..200 {
        // A fresh folder now and then, so that the first append is hit too, and the budget never ends the loop.
        if round % 10 == 0 {
            std::fs::remove_dir_all(memory.path().join("ledger")).ok();
            all.clear();
        }
        let mut child = spawn(Command::new(std::env::current_exe().unwrap()), memory.path(), 1_000_000);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        std::thread::sleep(Duration::from_micros(1_500 + random.next() % 9_000));
        child.kill().unwrap();
        let seen = acknowledged(lines);
        child.wait().unwrap();
        killed_in_work += usize::from(!seen.is_empty());
        all.extend(seen);
        hold(memory.path(), &all, &format!("round {round}"));
    }
    assert!(killed_in_work > 50, "only {killed_in_work} of 200 kills hit a writer at work");
}

/// Each call that touches the disk fails once, or from then on, with each error.
// DB-2-10, DB-B-15
#[test]
fn every_system_call_may_fail() {
    if Command::new("strace").arg("-V").output().is_err() {
        let message = "strace is not installed: fault injection was NOT tested";
        assert!(std::env::var_os("CI").is_none(), "{message}");
        eprintln!("\n*** {message} ***\n");
        return;
    }
    let calls: [(&str, std::ops::RangeInclusive<usize>); 7] = [
        ("pwrite64", 1..=6),
        ("fsync", 1..=14),
        ("renameat2", 1..=3),
        ("mkdirat", 1..=3),
        ("openat2", 1..=5),
        ("ftruncate", 1..=1),
        ("openat", 8..=40),
    ];
    let (mut runs, mut hits) = (0, 0);
    for (call, whens) in calls {
        for when in whens {
            for (error, on) in [("EIO", ""), ("ENOSPC", ""), ("EIO", "+")] {
                // The loader and the test harness open files too: failing all of those only says that nothing runs.
                if call == "openat" && on == "+" {
                    continue;
                }
                let memory = tempfile::tempdir().unwrap();
                let about = format!("{call} fails with {error} at {when}{on}");
                let trace = memory.path().with_extension("trace");
                let mut command = Command::new("strace");
                command.args(["-f", "-qq", "-o"]).arg(&trace).arg("-e").arg(format!("trace={call}")).arg("-e");
                command
                    .arg(format!("inject={call}:error={error}:when={when}{on}"))
                    .arg(std::env::current_exe().unwrap());
                let output = spawn(command, memory.path(), 12).wait_with_output().unwrap();
                let lines = String::from_utf8_lossy(&output.stdout).into_owned();
                hold(memory.path(), &acknowledged(lines.lines().map(str::to_owned)), &about);
                runs += 1;
                hits += usize::from(std::fs::read_to_string(&trace).unwrap().contains("(INJECTED)"));
                std::fs::remove_file(trace).unwrap();
            }
        }
    }
    assert!(hits * 2 > runs, "only {hits} of {runs} runs met their fault");
}

/// A quota in the middle of a shard: what was acknowledged stays, and a shard that is begun anew has room again.
// DB-2-10
#[test]
fn a_disk_that_is_full_refuses_and_takes_nothing_back() {
    for (blocks, some) in [("0", false), ("2", true)] {
        let memory = tempfile::tempdir().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
        command.arg(std::env::current_exe().unwrap());
        let output = spawn(command, memory.path(), 12).wait_with_output().unwrap();
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let refused = lines.lines().filter_map(|line| line.strip_prefix("refused ")?.split_once(' '));
        let codes: BTreeSet<&str> =
            refused.inspect(|(code, why)| said::keep(code, why)).map(|(code, _)| code).collect();
        assert_eq!(codes, BTreeSet::from(["no-space"]), "{lines}");
        let acknowledged = acknowledged(lines.lines().map(str::to_owned));
        assert_eq!(!acknowledged.is_empty(), some, "{lines}");
        hold(memory.path(), &acknowledged, &format!("{blocks} blocks a file"));
        // One more of whoever came after, and no half record.
        assert_eq!(read(memory.path()).len(), acknowledged.len() + 1);
    }
}

/// What a kill cannot show: without these calls a machine that loses power loses what was acknowledged.
// DB-2-11
#[test]
fn what_is_acknowledged_was_synchronised_with_every_directory_that_names_it() {
    let memory = tempfile::tempdir().unwrap();
    let trace = memory.path().with_extension("trace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-y", "-qq", "-s", "12", "-e", "trace=pwrite64,fsync,mkdirat,renameat2,write", "-o"])
        .arg(&trace);
    command.arg(std::env::current_exe().unwrap());
    // The first turn of the child's loop opens the folder, the others append: a new shard, then the same one.
    let output = spawn(command, memory.path(), 3).wait_with_output().expect("strace runs");
    assert!(output.status.success());
    let text = std::fs::read_to_string(&trace).unwrap();
    std::fs::remove_file(trace).unwrap();
    let folder = std::fs::canonicalize(memory.path()).unwrap();
    let (root, ledger) = (format!("<{}>", folder.display()), format!("<{}>", folder.join("ledger").display()));
    let (shards, inside) = (
        format!("<{}>", folder.join("ledger/shards").display()),
        format!("<{}/", folder.join("ledger/shards").display()),
    );
    let mut steps: Vec<&str> = Vec::new();
    for line in text.lines() {
        let step = match line {
            line if line.contains("mkdirat(") && line.contains("\"ledger\"") => "make ledger",
            line if line.contains("mkdirat(") && line.contains("\"shards\"") => "make shards",
            line if line.contains("fsync(") && line.contains(&root) => "sync root",
            line if line.contains("fsync(") && line.contains(&ledger) => "sync ledger",
            line if line.contains("fsync(") && line.contains(&shards) => "sync shards",
            line if line.contains("fsync(") && line.contains(&inside) => "sync file",
            line if line.contains("pwrite64(") && line.contains(&inside) => "write file",
            line if line.contains("renameat2(") && line.contains(".pending") => "name file",
            line if line.contains("write(1") && line.contains("acknowledge") => "acknowledged",
            _ => continue,
        };
        steps.push(step);
    }
    let expected = [
        "make ledger",
        "sync root",
        "make shards",
        "sync ledger", //
        "write file",
        "sync file",
        "name file",
        "sync shards",
        "acknowledged", //
        "write file",
        "sync file",
        "acknowledged",
    ];
    assert_eq!(steps, expected, "{text}");
}
