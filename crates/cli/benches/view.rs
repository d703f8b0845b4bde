//! The first page of `log` against `verify`, as processes, on one folder. `cargo bench -p daybook --bench view`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use daybook_testkit::ledgers::{Shape, shards, write};

const ROUNDS: usize = 9;
/// How much longer than `verify` the first page may take.
const GOAL: f64 = 1.5;

fn timed(args: &[&str], memory: &Path) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(args).arg(memory).stdout(Stdio::null()).stderr(Stdio::null()).env_remove("GITHUB_ACTIONS");
    let start = Instant::now();
    assert!(command.status().expect("daybook starts").success(), "{args:?}");
    start.elapsed()
}

fn main() {
    let memory = tempfile::Builder::new().prefix("bench").tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    write(memory.path(), &shards(Shape::new(100_000, 1024, true), 1)).expect("a ledger");
    let verify = || timed(&["verify"], memory.path());
    verify();
    println!("| 100,000 records in 1,024 shards | the command | verify | ratio | allowed |\n|---|---|---|---|---|");
    let mut missed = false;
    for args in [&["log"][..], &["log", "--oneline"], &["log", "--graph", "--oneline"], &["log", "--contains", "crash"]]
    {
        // In turn, and the median of the ratios: a machine that slows down slows down both.
        let mut pairs: Vec<(f64, f64)> =
            (0..ROUNDS).map(|_| (timed(args, memory.path()).as_secs_f64(), verify().as_secs_f64())).collect();
        pairs.sort_by(|left, right| (left.0 / left.1).total_cmp(&(right.0 / right.1)));
        let (ours, theirs) = pairs[ROUNDS / 2];
        let ratio = ours / theirs;
        missed |= ratio > GOAL;
        let mark = if ratio > GOAL { " MISSED" } else { "" };
        println!("| {} | {:.0}ms | {:.0}ms | {ratio:.2} | {GOAL}{mark} |", args.join(" "), ours * 1e3, theirs * 1e3);
    }
    assert!(!missed, "the first page takes more than {GOAL} times what verify takes");
}
