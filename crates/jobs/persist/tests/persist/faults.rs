//! What is handed to the job and does not fit together, what the branch or the machine has in its way, and what it warns
//! of.

use std::fs;
use std::path::Path;

use daybook_core::limits::READ_SHARD_BYTES;

use crate::hostile::{good, refused};
use crate::support::{BRANCH, Run, World, record, shard_path};

const STAGED: &str = "triage.tar";

/// A folder in place of a file can be opened and not read.
fn folder_for(path: &Path) {
    fs::remove_file(path).unwrap();
    fs::create_dir(path).unwrap();
}

/// Refused as a whole, with the branch as it was; a good run lands after each.
// DB-B-01
#[test]
fn what_does_not_belong_together_is_refused_before_anything_is_pushed() {
    type Change = fn(&mut Run);
    let (world, root, run) = good();
    let table: [(Change, i32, &str); 8] = [
        (|run| run.base = "abcdef".to_owned(), 2, "base-invalid"),
        (|run| run.base = run.base.to_uppercase(), 2, "base-invalid"),
        (|run| run.base_of = "other", 2, "base-missing"),
        (|run| run.baseline = b"{}".to_vec(), 3, "baseline-invalid"),
        (
            |run| {
                let text = String::from_utf8(run.baseline.clone()).unwrap();
                run.baseline = text.replace(BRANCH, "ledgers/other").into_bytes();
            },
            3,
            "baseline-mismatch",
        ),
        (|run| run.spoil = |place| fs::remove_file(place.join("baseline.json")).unwrap(), 3, "baseline-missing"),
        (|run| run.spoil = |place| folder_for(&place.join(STAGED)), 74, "staged-unreadable"),
        (
            |run| {
                run.stage_bytes(&shard_path(3), &vec![b'x'; READ_SHARD_BYTES.get() as usize + 1]);
            },
            8,
            "oversized",
        ),
    ];
    for (change, exit, code) in table {
        let mut attack = run.clone();
        if exit != 8 {
            attack.stage(2, &[record(2, &[root.sha()])]);
        }
        change(&mut attack);
        refused(&world, &root, &attack, exit, &[code]);
    }
}

#[test]
fn a_schema_that_is_none_keeps_the_records_out() {
    let (mut world, root, mut run) = good();
    run.stage(2, &[record(2, &[root.sha()])]);
    let before = world.bare.head(BRANCH);
    let ledger = world.ledger.clone();
    world = world.configured(r#""schema":{"$ref":"https://schemas.example/record.json"}"#);
    world.persist(&run).assert(2, &["schema-unusable"]);
    assert_eq!(world.bare.head(BRANCH), before);
    world.ledger = ledger;
    world.persist(&run).assert(0, &[]);
}

#[test]
fn a_memory_without_a_ledger_takes_no_shard() {
    let world = World::new("sha1").of_files(r#""create-orphan":true"#);
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]);
    world.persist(&run).assert(8, &["no-ledger"]);
    assert_eq!(world.bare.head(BRANCH), None);
    run.stage_bytes("note.md", b"1\n");
    world.persist(&run).assert(8, &["no-ledger"]);
    assert_eq!(world.bare.listing(BRANCH), ["100644 note.md"]);
}

#[test]
fn a_branch_is_made_only_where_that_is_allowed() {
    let world = World::new("sha1").of_files(r#""create-orphan":false"#);
    let mut run = world.run();
    run.stage_bytes("note.md", b"1\n");
    world.persist(&run).assert(3, &["branch-absent"]);
    assert_eq!(world.bare.head(BRANCH), None);
    world.bare.commit_files(BRANCH, &[("old.md", b"0\n")]);
    let mut run = world.run();
    run.stage_bytes("note.md", b"1\n");
    world.persist(&run).assert(0, &[]);
}

/// The name of a shard follows from its records, so that somebody can take it in advance.
// DB-6-03
#[test]
fn a_name_that_is_taken_is_not_written_over_and_what_lies_there_is_told() {
    let (world, root, mut run) = good();
    let twin = good().0;
    let mut ahead = twin.run();
    ahead.stage(2, &[record(2, &[root.sha()])]);
    let known = twin.bare.listing(BRANCH);
    twin.persist(&ahead).assert(0, &[]);
    let name = twin.bare.listing(BRANCH).into_iter().find(|line| !known.contains(line)).unwrap()[7..].to_owned();

    let (path, shard) = run.files.iter().next().map(|(path, bytes)| (path.clone(), bytes.clone())).unwrap();
    let head = world.bare.commit_files(BRANCH, &[(&path, &shard), (&name, b"junk\n")]);
    run.stage(2, &[record(2, &[root.sha()])]);
    world.persist(&run).assert(3, &["shard-occupied"]);
    assert_eq!(world.bare.head(BRANCH).unwrap(), head);
    // Other records land beside it.
    let mut next = world.run();
    next.stage(3, &[record(3, &[root.sha()])]);
    let outcome = world.persist(&next);
    outcome.assert(0, &["branch-findings"]);
    assert!(outcome.report["diagnostics"][0]["message"].as_str().unwrap().contains("has 1 findings"));
    assert_eq!((world.ledger().len(), world.bare.file(BRANCH, &name).as_str()), (2, "junk"));
}

/// CASES 26: the answer is lost, and there is no time to look.
// DB-B-05
#[test]
fn an_answer_that_was_lost_for_good_is_not_called_a_failure_or_a_success() {
    let (world, root, mut run) = good();
    run.stage(2, &[record(2, &[root.sha()])]);
    world.bare.hook("reference-transaction", "if [ \"$1\" = committed ]; then kill -9 $PPID; fi");
    run.options = vec!["--time-budget-seconds".to_owned(), "0".to_owned()];
    let outcome = world.persist(&run);
    outcome.assert(74, &["push-unknown"]);
    assert_eq!((outcome.count("commits"), outcome.count("accepted")), (0, 0));
    world.bare.remove_hook("reference-transaction");
    // It had landed: the next job finds it, and adds nothing.
    let head = world.bare.head(BRANCH);
    assert_eq!(world.ledger().len(), 2);
    world.persist(&run).assert(0, &[]);
    assert_eq!(world.bare.head(BRANCH), head);
}

#[test]
fn a_summary_that_cannot_be_written_costs_no_record() {
    let (world, root, mut run) = good();
    run.stage(2, &[record(2, &[root.sha()])]);
    run.spoil = |place| fs::create_dir(place.join("summary.md")).unwrap();
    world.persist(&run).assert(0, &["summary-unwritable"]);
    assert_eq!(world.ledger().len(), 2);
}

/// Each bound, at four fifths of it.
#[test]
fn a_bound_that_is_nearly_reached_is_told_before_it_is() {
    for (members, bytes, said) in [
        (r#""max-file-count":5"#, 2, "4 of 5 files (max-file-count)"),
        (r#""max-patch-size":100"#, 80, "80 of 100 bytes added in one run (max-patch-size)"),
        (r#""max-file-size":100"#, 80, "1 files near 100 bytes (max-file-size)"),
    ] {
        let world = World::new("sha1").of_files(members);
        world.bare.commit_files(BRANCH, &[("1.md", b"1"), ("2.md", b"2"), ("3.md", b"3")]);
        let mut run = world.run();
        run.stage_bytes("4.md", &vec![b'x'; bytes]);
        let outcome = world.persist(&run);
        outcome.assert(0, &["files-nearly-full"]);
        let message = outcome.report["diagnostics"][0]["message"].as_str().unwrap();
        assert!(message.contains(said), "{message}");
        let mut next = world.run();
        next.files.remove("4.md");
        world.persist(&next).assert(0, &[]);
    }
}

/// The branch and what is new are small on the wire; the tree that the script is to see does not fit onto the disk.
// DB-4.1-04
#[test]
fn a_candidate_that_does_not_fit_onto_the_disk_is_not_consent() {
    let members = r#""max-patch-size":1000,"validation":{"script":"module.exports = () => true;"}"#;
    let world = World::new("sha1").of_files(members);
    let text = "a line of some length\n".repeat(30_000);
    let head = world.bare.commit_files(BRANCH, &[("big.md", text.as_bytes())]);
    let mut run = world.run();
    run.stage_bytes("new.md", b"1\n");
    let shell = "trap '' XFSZ; ulimit -f 256; exec \"$@\"";
    run.before = ["/bin/sh", "-c", shell, "sh"].map(str::to_owned).into();
    let outcome = world.persist(&run);
    outcome.assert(7, &["candidate-unwritable"]);
    assert_eq!((outcome.count("files-persisted"), world.bare.head(BRANCH).unwrap()), (0, head));
    run.before.clear();
    world.persist(&run).assert(0, &[]);
}
