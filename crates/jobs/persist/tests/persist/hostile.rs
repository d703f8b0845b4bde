//! Hostile runs, each in four beats: a good state, an attack, refused with the state unchanged, the next good run.

use crate::support::{BRANCH, Run, World, record, record_with, sealed, shard_path};
use daybook_core::Record;

/// A branch with one record, and a run restored from it.
pub(crate) fn good() -> (World, Record, Run) {
    let world = World::new("sha1");
    let root = record(1, &[]);
    let mut run = world.run();
    run.stage(1, std::slice::from_ref(&root));
    world.persist(&run).assert(0, &[]);
    let run = world.run();
    (world, root, run)
}

/// Beats two to four: the attack is refused under this exit and these codes, and a good run lands after it.
#[track_caller]
pub(crate) fn refused(world: &World, root: &Record, attack: &Run, exit: i32, codes: &[&str]) {
    let before = world.bare.head(BRANCH);
    world.persist(attack).assert(exit, codes);
    assert_eq!(world.bare.head(BRANCH), before, "the branch moved");
    let mut next = world.run();
    next.stage(77, &[record(77, &[root.sha()])]);
    world.persist(&next).assert(0, &[]);
    assert!(world.ledger().contains(&record(77, &[root.sha()]).sha()));
    assert_eq!(world.ledger().diagnostics().total(), 0);
}

// DB-1-01, DB-3-11, DB-9-03
#[test]
fn a_trusted_shard_does_not_change() {
    let (world, root, mut run) = good();
    let (path, content) = run.files.iter().next().map(|(path, content)| (path.clone(), content.clone())).unwrap();
    // A record added to it is as little believed as a cut one.
    let added = [content.as_slice(), record(2, &[root.sha()]).line(), b"\n"].concat();
    run.stage_bytes(&path, &added);
    refused(&world, &root, &run, 8, &["shard-tampered"]);
    let (world, root, mut run) = good();
    let path = run.files.keys().next().unwrap().clone();
    run.stage_bytes(&path, &content[..content.len() / 2]);
    refused(&world, &root, &run, 8, &["shard-tampered"]);
}

// DB-9-03
#[test]
fn a_shard_that_came_in_meanwhile_cannot_be_forged_either() {
    let (world, root, mut run) = good();
    let mut other = world.run();
    other.stage(5, &[record(5, &[root.sha()])]);
    world.persist(&other).assert(0, &[]);
    // The run stages something else under the name that the other run's shard got.
    let theirs = world.bare.listing(BRANCH).into_iter().map(|line| line[7..].to_owned());
    let theirs = theirs.filter(|path| !run.files.contains_key(path)).collect::<Vec<_>>();
    let forged = [record(6, &[root.sha()]).line(), b"\n"].concat();
    run.stage_bytes(&theirs[0], &forged);
    refused(&world, &root, &run, 8, &["shard-tampered"]);
}

// DB-2-07, DB-3-11
#[test]
fn good_records_beside_a_forged_shard_are_kept() {
    let (world, root, mut run) = good();
    let path = run.files.keys().next().unwrap().clone();
    run.stage_bytes(&path, b"junk\n").stage(9, &[record(9, &[root.sha()])]);
    // Junk under low names crowds nothing out.
    for number in 0..40 {
        run.stage_bytes(&shard_path(number + 1000), b"{}\n");
    }
    let outcome = world.persist(&run);
    outcome.assert(8, &["invalid-envelope", "shard-tampered"]);
    assert_eq!(outcome.count("accepted"), 1);
    assert!(world.ledger().contains(&record(9, &[root.sha()]).sha()));
    assert_eq!(world.ledger().len(), 2);
}

#[test]
fn a_forged_parent_takes_its_children_with_it() {
    let (world, root, mut run) = good();
    let nowhere = record(66, &[]).sha();
    let child = record(2, &[nowhere]);
    run.stage(2, &[child.clone(), record(3, &[child.sha(), root.sha()])]);
    let before = world.persist(&run);
    assert_eq!(before.count("refused"), 2);
    refused(&world, &root, &run, 8, &["missing-parent"]);
}

/// CASES 7, 9: without a verdict, and with a bad one, nothing is pushed.
// DB-B-02
#[test]
fn no_verdict_or_a_bad_one_keeps_everything_out() {
    let (mut world, root, mut run) = good();
    run.stage(2, &[record(2, &[root.sha()])]);
    for (verdict, code) in
        [(None, "verdict-missing"), (Some("threat"), "verdict-threat"), (Some("CLEAN"), "verdict-unknown")]
    {
        run.verdict = verdict;
        let before = world.bare.head(BRANCH);
        world.persist(&run).assert(3, &[code]);
        assert_eq!(world.bare.head(BRANCH), before);
    }
    run.verdict = Some("suspicious");
    world.detection = r#"{"suspicious":"refuse"}"#.to_owned();
    let before = world.bare.head(BRANCH);
    world.persist(&run).assert(3, &["verdict-suspicious"]);
    assert_eq!(world.bare.head(BRANCH), before);
    world.detection = "{}".to_owned();
    world.persist(&run).assert(0, &["verdict-suspicious"]);
    assert_eq!(world.ledger().len(), 2);
}

// DB-B-01, DB-B-02
#[test]
fn other_bytes_than_those_examined_are_not_read() {
    let (world, root, mut run) = good();
    run.stage(2, &[record(2, &[root.sha()])]);
    let mut exchanged = run.clone();
    exchanged.exchange = Some(b"another tar".to_vec());
    refused(&world, &root, &exchanged, 3, &["expect-mismatch"]);
    let mut lost = world.run();
    lost.staged = false;
    lost.options = vec!["--expect".to_owned(), format!("triage.tar={}", "a".repeat(64))];
    world.persist(&lost).assert(3, &["expect-mismatch"]);
    let mut contradicted = run.clone();
    contradicted.options = vec!["--expect".to_owned(), format!("baseline.json={}", "a".repeat(64))];
    world.persist(&contradicted).assert(2, &["expect-invalid"]);
    // The base is bound, too: by the baseline, and by the branch.
    let mut based = run.clone();
    based.base = "ab".repeat(20);
    world.persist(&based).assert(3, &["base-mismatch"]);
    world.persist(&run).assert(0, &[]);
}

// DB-B-03
#[test]
fn a_run_from_a_history_that_was_replaced_is_refused() {
    let (world, root, mut run) = good();
    run.stage(2, &[record(2, &[root.sha()])]);
    let other = world.bare.commit_files("other", &[("x", b"1")]);
    let before = world.bare.head(BRANCH).unwrap();
    world.bare.git(&["update-ref", "refs/heads/ledgers/triage", &other]);
    world.persist(&run).assert(3, &["base-not-ancestor"]);
    assert_eq!(world.bare.head(BRANCH).unwrap(), other);
    world.bare.git(&["update-ref", "-d", "refs/heads/ledgers/triage"]);
    world.persist(&run).assert(3, &["base-not-ancestor"]);
    world.bare.git(&["update-ref", "refs/heads/ledgers/triage", &before]);
    world.persist(&run).assert(0, &[]);
}

// DB-B-01, DB-B-03
#[test]
fn a_purged_record_does_not_come_back_with_a_run_that_still_had_it() {
    let (world, root, mut run) = good();
    let kept = run.files.values().next().unwrap().clone();
    // Purged: the branch goes on without the record.
    world.bare.commit_files(BRANCH, &[("note.md", b"purged")]);
    let path = run.files.keys().next().unwrap().clone();
    run.files.remove(&path);
    run.stage_bytes(&shard_path(50), &kept).stage(2, &[record(2, &[root.sha()])]);
    let before = world.bare.head(BRANCH);
    world.persist(&run).assert(8, &["missing-parent"]);
    assert_eq!(world.bare.head(BRANCH), before);
    assert_eq!(world.ledger().len(), 0);
}

// DB-3-11, DB-5.5-02, DB-8-03, DB-9-02
#[test]
fn agents_add_records_and_nothing_else_to_a_ledger() {
    let (world, root, mut run) = good();
    run.stage_bytes("ledger/compaction/state.json", b"{}");
    run.stage_bytes(&format!("ledger/coverage/{}.jsonl", "a".repeat(64)), b"{}\n");
    run.stage_bytes("ledger/shards/not-a-shard.jsonl", b"x");
    run.stage_bytes("LEDGER/Compaction/other", b"x");
    refused(&world, &root, &run, 8, &["coverage-refused", "ledger-file-refused", "state-refused"]);
    // Where the branch has a state, it is trusted like a shard.
    let shard = world.bare.listing(BRANCH)[0][7..].to_owned();
    let content = format!("{}\n", world.bare.file(BRANCH, &shard));
    world.bare.commit_files(BRANCH, &[(&shard, content.as_bytes()), ("ledger/compaction/state.json", b"{\"a\":1}")]);
    let mut run = world.run();
    run.stage_bytes("ledger/compaction/state.json", b"{}");
    world.persist(&run).assert(8, &["shard-tampered"]);
    assert_eq!(world.bare.file(BRANCH, "ledger/compaction/state.json"), "{\"a\":1}");
}

// DB-3-11, DB-8-04, DB-8-05, DB-8-06, DB-8-07
#[test]
fn lines_that_no_writer_may_write_are_refused_one_by_one() {
    let (world, root, mut run) = good();
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let line = |id: &str, payload: &str, version: &str| {
        sealed(
            &format!(r#"{{"id":"{id}","parents":[],"payload":{payload}"#),
            &format!(r#","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":{version}}}"#),
        )
    };
    let tagged = "ldg-0000aaaa-1111-4111-8111-111111111111";
    let cases: &[(Vec<u8>, &str)] = &[
        (line(tagged, &nested(30), "1"), "too-deep"),
        (line(tagged, "1", "2"), "unsupported-version"),
        (line(&tagged[4..], "1", "1"), "untagged-id"),
        (line(tagged, "1", "1").replace_once(b"note", b"nope"), "invalid-sha"),
        (line(tagged, &format!("\"{}\"", "x".repeat(33 * 1024)), "1"), "record-too-large"),
        (b"not json\n".to_vec(), "invalid-json"),
        // Somebody else's id.
        ([record_with(1, &[root.sha()], "2").line(), b"\n"].concat(), "duplicate-id-conflict"),
    ];
    for (number, (content, code)) in cases.iter().enumerate() {
        let mut attack = run.clone();
        attack.stage_bytes(&shard_path(200 + number as u32), content);
        let before = world.bare.head(BRANCH);
        world.persist(&attack).assert(8, &[code]);
        assert_eq!(world.bare.head(BRANCH), before, "{code}");
    }
    // Two new records with one id: neither.
    run.stage(2, &[record_with(2, &[], "1"), record_with(2, &[], "2")]);
    world.persist(&run).assert(8, &["duplicate-id-conflict"]);
    run.stage(2, &[record(2, &[root.sha()])]);
    world.persist(&run).assert(0, &[]);
    assert_eq!(world.ledger().len(), 2);
}

#[test]
fn a_torn_tail_is_said_and_costs_nothing() {
    let (world, root, mut run) = good();
    let whole = record(2, &[root.sha()]);
    let torn = [whole.line(), b"\n", &record(3, &[root.sha()]).line()[..40]].concat();
    run.stage_bytes(&shard_path(2), &torn);
    let outcome = world.persist(&run);
    outcome.assert(0, &["truncated-record"]);
    assert_eq!(outcome.count("accepted"), 1);
    assert_eq!(world.ledger().diagnostics().total(), 0);
}

#[test]
fn a_read_only_ledger_takes_nothing() {
    let world = World::new("sha1").configured(r#""read-only":true"#);
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]);
    world.persist(&run).assert(8, &["read-only"]);
    assert_eq!(world.bare.head(BRANCH), None);
}

// DB-2-09, DB-8-02
#[test]
fn a_branch_whose_ledger_folder_is_a_link_is_not_written_through() {
    let world = World::new("sha1");
    let blob = world.bare.blob(b"/etc");
    let tree = world.bare.tree(&[("120000", "blob", &blob, "ledger")]);
    let mut run = world.run();
    let before = world.bare.commit_tree(BRANCH, &tree);
    run.stage(1, &[record(1, &[])]);
    world.persist(&run).assert(3, &["tree-occupied"]);
    assert_eq!(world.bare.head(BRANCH).unwrap(), before);
}

trait ReplaceOnce {
    fn replace_once(self, from: &[u8], to: &[u8]) -> Self;
}

impl ReplaceOnce for Vec<u8> {
    fn replace_once(mut self, from: &[u8], to: &[u8]) -> Self {
        let at = self.windows(from.len()).position(|window| window == from).unwrap();
        self.splice(at..at + from.len(), to.iter().copied());
        self
    }
}
