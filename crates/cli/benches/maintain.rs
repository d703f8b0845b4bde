//! Plan and apply end to end, each a process that fetches the branch, against git that replaces the same shards by hand.
//! `cargo bench -p daybook --bench maintain`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use daybook_testkit::git::BareRepository;
use daybook_testkit::ledgers::{Shape, shards};

const BRANCH: &str = "ledgers/triage";
const ROUNDS: usize = 7;

fn git(place: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(place).output().expect("git starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Both jobs: what they fetched, chose, proved and pushed.
fn maintained(bare: &BareRepository, config: &Path) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(["maintain", "--apply", "--ledger", "triage", "--format", "json", "--memory"]).arg(bare.path());
    command.arg("--config").arg(config).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    assert!(command.status().expect("daybook starts").success(), "maintain --apply");
    begun.elapsed()
}

/// One shard in place of all, whatever it holds: two fetches as the two jobs make them, every object read, one push.
fn by_hand(bare: &BareRepository, folder: &Path) -> Duration {
    let begun = Instant::now();
    for fetched in ["plan", "apply"] {
        let place = folder.join(fetched);
        std::fs::create_dir(&place).expect("a folder");
        git(&place, &["init", "--quiet", "."]);
        git(&place, &["fetch", "--quiet", "--depth", "1", &bare.url(), BRANCH]);
        git(&place, &["checkout", "--quiet", "FETCH_HEAD"]);
    }
    let place = folder.join("apply");
    let all: Vec<u8> = std::fs::read_dir(place.join("ledger/shards"))
        .expect("shards")
        .flat_map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a shard"))
        .collect();
    git(&place, &["rm", "--quiet", "-r", "ledger"]);
    std::fs::create_dir_all(place.join("ledger/shards")).expect("a folder");
    std::fs::write(place.join("ledger/shards/all.jsonl"), all).expect("a shard");
    git(&place, &["add", "ledger"]);
    let tree = git(&place, &["write-tree"]);
    let who = ["-c", "user.name=b", "-c", "user.email=b@example.invalid"];
    let commit = git(&place, &[&who[..], &["commit-tree", "-p", "FETCH_HEAD", "-m", "all", &tree]].concat());
    git(&place, &["push", "--quiet", &bare.url(), &format!("{commit}:refs/heads/{BRANCH}")]);
    begun.elapsed()
}

fn main() {
    let folder = tempfile::Builder::new().prefix("bench").tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let bare = BareRepository::create(&folder.path().join("memory.git"), "sha1");
    let shards = shards(Shape::new(10_000, 128, true), 1);
    let bytes: usize = shards.iter().map(|(_, bytes)| bytes.len()).sum();
    let files: Vec<(String, &[u8])> = shards.iter().map(|(shard, bytes)| (shard.path(), bytes.as_slice())).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    let head = bare.commit_files(BRANCH, &files);
    let config = folder.path().join("config.json");
    let text =
        r#"{"version":1,"workflow":"t","ledgers":[{"name":"triage","max-segment-kb":10240,"max-patch-kb":10240}]}"#;
    std::fs::write(&config, text).expect("a configuration");
    let reset = || bare.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &head]);
    let mut pairs: Vec<(Duration, Duration)> = (0..ROUNDS)
        .map(|round| {
            let ours = maintained(&bare, &config);
            assert_eq!(bare.listing(BRANCH).len(), 2, "one shard and the state");
            reset();
            let place = folder.path().join(round.to_string());
            std::fs::create_dir(&place).expect("a folder");
            let theirs = by_hand(&bare, &place);
            reset();
            (ours, theirs)
        })
        .collect();
    let ratio = |pair: &(Duration, Duration)| pair.0.as_secs_f64() / pair.1.as_secs_f64();
    pairs.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    let (ours, theirs) = pairs[ROUNDS / 2];
    println!("| {bytes} bytes in 128 shards, 10,000 records | both jobs | by hand | ratio |\n|---|---|---|---|");
    println!("| plan and apply, end to end | {ours:.2?} | {theirs:.2?} | {:.2} |", ratio(&(ours, theirs)));
}
