//! `daybook maintain` against a real repository: a look, a rescue, and both jobs.

use std::collections::BTreeSet;
use std::process::Command;

use daybook_core::shard::checked_lines;
use daybook_core::{Digest, ShardId};
use daybook_testkit::git::BareRepository;
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;
use serde_json::Value;

const BRANCH: &str = "ledgers/triage";

fn maintain(bare: &BareRepository, options: &[&str]) -> (i32, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(["maintain", "--ledger", "triage", "--format", "json", "--memory"]).arg(bare.path()).args(options);
    let output = command.env_remove("GITHUB_TOKEN").env_remove("DAYBOOK_TOKEN").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    (
        output.status.code().unwrap(),
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}")),
    )
}

fn records(bare: &BareRepository) -> BTreeSet<Digest> {
    let paths = bare.listing(BRANCH).into_iter().map(|line| line.split_once(' ').unwrap().1.to_owned());
    let shards = paths.filter(|path| ShardId::from_path(path).is_some());
    let bytes: Vec<String> = shards.map(|path| format!("{}\n", bare.file(BRANCH, &path))).collect();
    bytes
        .iter()
        .flat_map(|bytes| checked_lines(bytes.as_bytes()))
        .filter_map(Result::ok)
        .map(|line| line.sha())
        .collect()
}

#[test]
fn a_look_changes_nothing_and_rescue_and_apply_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("memory.git"), "sha1");
    let mut random = Random::new(3);
    let files: Vec<(String, Vec<u8>)> = (0..5)
        .map(|number| {
            let record = ledgers::record(&mut random, number, &[], 300);
            let tail: &[u8] = if number == 2 { b"{\"id\":\"ldg-" } else { b"" };
            (ShardId::new(random.uuid()).unwrap().path(), [record.line(), b"\n", tail].concat())
        })
        .collect();
    let borrowed: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    bare.commit_files(BRANCH, &borrowed);
    let (head, all) = (bare.head(BRANCH), records(&bare));

    let (code, look) = maintain(&bare, &[]);
    assert_eq!((code, &look["outcome"], bare.head(BRANCH)), (0, &"planned".into(), head), "{look}");
    assert_eq!((&look["counts"]["sources"], &look["diagnostics"][0]["code"]), (&4.into(), &"damaged-shard".into()));

    let (code, done) = maintain(&bare, &["--rescue", "--apply"]);
    assert_eq!((code, &done["outcome"], &done["counts"]["rescued"]), (0, &"applied".into(), &1.into()), "{done}");
    assert_eq!((&done["counts"]["sources"], &done["diagnostics"]), (&5.into(), &serde_json::json!([])), "{done}");
    assert_eq!(records(&bare), all);
    // The shard and the state.
    assert_eq!(bare.listing(BRANCH).len(), 2);
    let (code, again) = maintain(&bare, &["--rescue", "--apply"]);
    assert_eq!((code, &again["outcome"]), (0, &"nothing_to_do".into()), "{again}");
}
