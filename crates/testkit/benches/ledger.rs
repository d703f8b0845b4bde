//! Benchmark of the validation core: every figure is a ratio against a yardstick that runs beside it.
//!
//! `cargo bench -p daybook-testkit --bench ledger [-- --json FILE]` prints the table; `scripts/bench` does that and
//! refreshes the figures in `docs/`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use daybook_core::known::KnownShard;
use daybook_core::limits::{Bytes, Configured, Count};
use daybook_core::segment::{COMPACTION_METADATA, Segment};
use daybook_core::{Digest, Ledger, Limits, RecordId, ShardId, json};
use daybook_store::{MemoryFolder, NewRecord, Writer, scan_folder};
use daybook_testkit::ledgers::{self, Shape};
use daybook_testkit::random::Random;
use serde_json::{Value, json};

const ROUNDS: usize = 7;

struct Row {
    what: String,
    ours: f64,
    yardstick: f64,
    name: &'static str,
    ratio: f64,
    goal: Option<f64>,
}

/// Runs both in turn and takes the median of the ratios, pair by pair: a machine that slows down slows down both.
fn paired(
    rounds: usize,
    mut ours: impl FnMut() -> Duration,
    mut yardstick: impl FnMut() -> Duration,
) -> (f64, f64, f64) {
    ours();
    yardstick();
    let mut pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (ours().as_secs_f64(), yardstick().as_secs_f64())).collect();
    pairs.sort_by(|left, right| (left.0 / left.1).total_cmp(&(right.0 / right.1)));
    let (ours, yardstick) = pairs[pairs.len() / 2];
    (ours, yardstick, ours / yardstick)
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn scan(memory: &Path, threads: usize) -> Ledger {
    let folder = MemoryFolder::open(memory).and_then(|memory| memory.shards()).expect("a folder").expect("shards");
    let threads = NonZeroUsize::new(threads).expect("a thread");
    scan_folder(&folder, Count::new(1024), threads, &|_| {}).expect("a scan")
}

fn sha256sum(memory: &Path) -> Duration {
    let pipeline = "cat ledger/shards/*.jsonl | sha256sum";
    timed(|| {
        let status = Command::new("sh").args(["-c", pipeline]).current_dir(memory).stdout(Stdio::null()).status();
        assert!(status.expect("sh runs").success(), "sha256sum is part of the yardstick");
    })
}

fn main() {
    let argument = |name: &str| std::env::args().skip_while(|argument| argument != name).nth(1);
    if let Some(memory) = argument("--peak") {
        return peak_of_this_process(Path::new(&memory));
    }
    let json_file = argument("--json");
    // A real disk: the target folder, not a temporary file system.
    let scratch = tempfile::Builder::new().prefix("bench").tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut rows = Vec::new();
    for shape in [
        Shape::new(100_000, 1024, true),
        Shape::new(100_000, 1024, false),
        Shape::new(20_000, 256, true),
        Shape::new(1_000, 32, true),
    ] {
        verify(&mut rows, scratch.path(), shape);
    }
    replacement(&mut rows, scratch.path());
    append(&mut rows, scratch.path());
    print(&rows, json_file.as_deref());
}

fn verify(rows: &mut Vec<Row>, scratch: &Path, shape: Shape) {
    let memory = scratch.join(format!("verify-{}-{}", shape.records, shape.forks));
    let shards = ledgers::shards(shape, 1);
    ledgers::write(&memory, &shards).expect("shards are written");
    let ledger = scan(&memory, 1);
    assert_eq!((ledger.len(), ledger.diagnostics().total()), (shape.records, 0));
    let bytes: Vec<u8> = shards.into_iter().flat_map(|(_, bytes)| bytes).collect();
    let name = format!(
        "{} records{}, {:.0} MB",
        shape.records,
        if shape.forks { "" } else { " in one chain" },
        f64::from(u32::try_from(bytes.len()).expect("a small ledger")) / 1e6
    );
    let mut row = |what: String, threads, in_memory: bool, goal| {
        let yardstick = || if in_memory { timed(|| Digest::of(&bytes)) } else { sha256sum(&memory) };
        let (ours, yardstick, ratio) = paired(ROUNDS, || timed(|| scan(&memory, threads)), yardstick);
        let name = if in_memory { "SHA-256 in memory" } else { "cat, sha256sum" };
        rows.push(Row { what, ours, yardstick, name, ratio, goal });
    };
    let large = shape.records == 100_000;
    row(format!("verify and order {name}, 1 thread"), 1, false, large.then_some(1.0));
    row(format!("verify and order {name}, 1 thread"), 1, true, large.then_some(4.0));
    row(format!("verify and order {name}, 2 threads"), 2, false, large.then_some(0.6));
    if large {
        let peak = peak(&memory);
        let what = format!("verify and order {name}: peak memory, 1 thread (MB)");
        rows.push(Row { what, ours: peak, yardstick: 60.0, name: "60 MB", ratio: peak / 60.0, goal: Some(1.0) });
    }
}

/// Peak resident memory of a fresh process that reads and orders the ledger, in megabytes. The process does nothing
/// else, so that nobody's test data counts.
fn peak(memory: &Path) -> f64 {
    let this = std::env::current_exe().expect("a path");
    let output = Command::new(this).arg("--peak").arg(memory).output().expect("this program runs");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}

fn peak_of_this_process(memory: &Path) {
    std::hint::black_box(scan(memory, 1).len());
    let status = std::fs::read_to_string("/proc/self/status").expect("a system that tells");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    println!("{}", kib * 1024.0 / 1e6);
}

/// The work of building a compaction replacement: 128 segments, 10,000 records, from bytes to bytes.
fn replacement(rows: &mut Vec<Row>, scratch: &Path) {
    let memory = scratch.join("replacement");
    let shards = ledgers::shards(Shape::new(10_000, 128, true), 2);
    ledgers::write(&memory, &shards).expect("shards are written");
    let build = || {
        let known: Vec<KnownShard<'_>> = shards.iter().map(|(_, bytes)| KnownShard::of(bytes)).collect();
        let lines = known.iter().filter_map(KnownShard::kept);
        Segment::build_from_known(COMPACTION_METADATA, lines, Bytes::new(u64::MAX)).expect("a segment")
    };
    let (ours, yardstick, ratio) = paired(ROUNDS, || timed(build), || sha256sum(&memory));
    let what = "build a replacement from 128 segments, 10,000 records".to_owned();
    rows.push(Row { what, ours, yardstick, name: "cat, sha256sum", ratio, goal: Some(1.0) });
}

struct Appender {
    writer: Writer,
    random: Random,
    payload: daybook_core::json::Value,
}

impl Appender {
    fn new(scratch: &Path, records: usize, shards: usize) -> Self {
        let memory = scratch.join(format!("append-{records}"));
        let shards = ledgers::shards(Shape::new(records, shards, true), 3);
        ledgers::write(&memory, &shards).expect("shards are written");
        let limits = Limits::new(Configured {
            max_patch_kb: Some(10_240),
            max_segment_kb: Some(10_240),
            ..Configured::default()
        })
        .expect("limits");
        let folder = MemoryFolder::open(&memory).expect("a folder");
        let baseline: Vec<Digest> = scan(&memory, 2).order().map(daybook_core::shard::Entry::sha).collect();
        let writer = Writer::open(&folder, limits, baseline).expect("a writer");
        let payload = json::parse(format!(r#"{{"text":"{}"}}"#, "x".repeat(700)).as_bytes()).expect("JSON");
        let mut appender = Self { writer, random: Random::new(4), payload };
        appender.append();
        appender
    }

    fn append(&mut self) -> usize {
        let new = NewRecord {
            id: RecordId::new(self.random.uuid()).expect("version 4"),
            kind: "note".to_owned(),
            timestamp: "2026-11-29T12:00:00.000Z".to_owned(),
            payload: self.payload.clone(),
        };
        let shard = ShardId::new(self.random.uuid()).expect("version 4");
        let appended = self.writer.append(&new, shard).expect("an append");
        appended.records.iter().map(|record| record.line().len() + 1).sum()
    }
}

fn append(rows: &mut Vec<Row>, scratch: &Path) {
    const APPENDS: usize = 400;
    let mut small = Appender::new(scratch, 1_000, 32);
    let mut medium = Appender::new(scratch, 20_000, 256);
    let mut large = Appender::new(scratch, 100_000, 1_023);
    let line = vec![b'x'; medium.append()];
    let bare = std::fs::File::options().create(true).append(true).open(scratch.join("bare")).expect("a file");
    let bare_append = || {
        use std::io::Write as _;
        (&bare).write_all(&line).and_then(|()| bare.sync_all()).expect("a write");
    };
    let many = |work: &mut dyn FnMut()| timed(|| (0..APPENDS).for_each(|_| work()));
    let (ours, yardstick, ratio) = paired(
        ROUNDS,
        || {
            many(&mut || {
                medium.append();
            })
        },
        || many(&mut || bare_append()),
    );
    let per = |seconds: f64| seconds / f64::from(u32::try_from(APPENDS).expect("few"));
    let what = "append at 20,000 records, mean".to_owned();
    rows.push(Row {
        what,
        ours: per(ours),
        yardstick: per(yardstick),
        name: "append + fsync, bare",
        ratio,
        goal: Some(1.3),
    });
    let (ours, yardstick, ratio) = paired(
        ROUNDS,
        || {
            many(&mut || {
                large.append();
            })
        },
        || {
            many(&mut || {
                small.append();
            })
        },
    );
    let what = "append at 100,000 records, mean".to_owned();
    rows.push(Row {
        what,
        ours: per(ours),
        yardstick: per(yardstick),
        name: "append at 1,000",
        ratio,
        goal: Some(1.2),
    });
}

fn print(rows: &[Row], json_file: Option<&str>) {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_sha = flags.split_whitespace().any(|flag| flag == "sha_ni" || flag == "sha2");
    println!("CPU SHA instructions: {}", if has_sha { "yes" } else { "no" });
    println!("| what | time | yardstick | time | ratio | goal |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        let goal = row
            .goal
            .map_or("–".to_owned(), |goal| format!("≤ {goal}{}", if row.ratio <= goal { "" } else { " MISSED" }));
        println!(
            "| {} | {} | {} | {} | {:.2} | {goal} |",
            row.what,
            if row.name == "60 MB" { format!("{:.1}", row.ours) } else { human(row.ours) },
            row.name,
            if row.name == "60 MB" { "60".to_owned() } else { human(row.yardstick) },
            row.ratio
        );
    }
    if let Some(file) = json_file {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| json!({"what": row.what, "value": row.ours, "yardstick": row.name, "yardstick_value": row.yardstick, "ratio": row.ratio, "goal": row.goal}))
            .collect();
        let document = json!({"sha_instructions": has_sha, "rounds": ROUNDS, "rows": rows});
        std::fs::write(file, format!("{document:#}\n")).expect("the JSON file is written");
    }
}

fn human(seconds: f64) -> String {
    if seconds >= 0.1 {
        format!("{seconds:.2} s")
    } else if seconds >= 0.001 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.0} µs", seconds * 1e6)
    }
}
