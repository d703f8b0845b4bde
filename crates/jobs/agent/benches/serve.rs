//! The server as a process against the bare system calls of the same work, in turns; medians count.
//!
//! `cargo bench -p daybook-agent`. Everything lies below the target folder: a memory file system would flatter.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use daybook_testkit::mcp::Client;
use serde_json::json;

const APPENDS: usize = 400;
const STARTS: usize = 20;

fn command(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook-agent"));
    command.env_clear().arg("serve");
    for (option, name) in [
        ("--config", "config.json"),
        ("--memory-root", "memory"),
        ("--baseline", "baseline.json"),
        ("--transaction-log", "log.jsonl"),
    ] {
        command.arg(option).arg(place.join(name));
    }
    command
}

fn set_up(place: &Path) {
    let config = json!({"version": 1, "workflow": "bench", "ledgers": [{"name": "bench", "max-patch-kb": 10_240, "max-segment-kb": 10_240}]});
    let baseline = json!({"memories": [{"base": "", "branch": "ledgers/bench", "files": [], "id": "bench", "records": []}], "version": 1});
    std::fs::create_dir_all(place.join("memory/bench")).expect("a folder");
    std::fs::write(place.join("config.json"), config.to_string()).expect("a file");
    std::fs::write(place.join("baseline.json"), baseline.to_string()).expect("a file");
}

fn append_to(path: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(path).expect("a file")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on the disk of the target folder");
    let place = place.path();
    set_up(place);
    println!("| | server | bare | ratio | allowed |\n|---|---|---|---|---|");

    let starts = (0..STARTS).map(|_| {
        let start = Instant::now();
        let client = Client::start(command(place));
        let ready = start.elapsed();
        client.close();
        ready
    });
    println!("| ready on an empty ledger | {:.2?} | | | 30 ms |", median(starts.collect()));

    let mut client = Client::start(command(place));
    let (mut shard, mut log) = (append_to(&place.join("bare-shard")), append_to(&place.join("bare-log")));
    let payload = json!({"issue": 1, "reason": "x".repeat(300)});
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for number in 0..APPENDS {
        let start = Instant::now();
        client.call("ledger_append", &json!({"type": "note", "payload": payload})).expect("an append");
        let took = start.elapsed();
        let (line, event) = ([b'x'; 640], [b'y'; 400]);
        let start = Instant::now();
        shard.write_all(&line).and_then(|()| shard.sync_all()).expect("the shard");
        log.write_all(&event).and_then(|()| log.sync_data()).expect("the log");
        // The first append makes folders and a shard.
        if number > 0 {
            ours.push(took);
            bare.push(start.elapsed());
        }
    }
    let (ours, bare) = (median(ours), median(bare));
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("| append | {ours:.2?} | {bare:.2?} | {ratio:.2} | 1.3{} |", if ratio > 1.3 { " MISSED" } else { "" });
}
