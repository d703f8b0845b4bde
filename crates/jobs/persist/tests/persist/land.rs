//! Good runs, and runs that meet others.

use crate::support::{BRANCH, Job, Outcome, World, record, record_with, shard_path};
use daybook_core::Digest;

/// CASES 24: in repositories of both object formats.
// DB-3-05, DB-5.5-01, DB-5.5-02, DB-B-16
#[test]
fn new_records_land_in_shards_of_our_own_and_a_second_time_nothing_happens() {
    for format in ["sha1", "sha256"] {
        let world = World::new(format);
        let first = record(1, &[]);
        let second = record(2, &[first.sha()]);
        let mut run = world.run();
        run.stage(7, &[first.clone(), second.clone()]);
        let outcome = world.persist(&run);
        outcome.assert(0, &[]);
        assert_eq!((outcome.count("accepted"), outcome.count("attempts")), (2, 1));
        let ledger = world.ledger();
        assert_eq!((ledger.len(), ledger.heads(), ledger.diagnostics().total()), (2, &[second.sha()][..], 0));
        let listing = world.bare.listing(BRANCH);
        assert!(listing.len() == 1 && listing[0].starts_with("100644 ledger/shards/"), "{listing:?}");
        assert!(!listing[0].contains(&shard_path(7)), "the agent's own file was copied");
        let told = &outcome.report["ledgers"][0];
        assert_eq!(told["commit"].as_str(), world.bare.head(BRANCH).as_deref());
        assert_eq!(told["heads_after"][0], second.sha().to_string());
        assert_eq!((&told["shards"], &told["max_shards"]), (&1.into(), &1024.into()));
        for shown in
            ["#### Ledger triage", "| accepted | 2 |", "| heads before | none |", "| shards used | 1 of 1024 |"]
        {
            assert!(outcome.summary.contains(shown), "{shown}: {}", outcome.summary);
        }
        assert!(outcome.summary.contains("```mermaid\ngraph LR\n") && outcome.summary.contains("n0 --> n1"));

        // The same job once more: everything is there.
        let head = world.bare.head(BRANCH);
        let again = world.persist(&run);
        again.assert(0, &[]);
        assert_eq!((again.count("accepted"), again.count("commits")), (0, 0));
        assert!(!again.summary.contains("mermaid"));
        assert_eq!(world.bare.head(BRANCH), head);

        // A next run on top of it.
        let mut run = world.run();
        run.stage(8, &[record(3, &[second.sha()])]);
        world.persist(&run).assert(0, &[]);
        assert_eq!(world.ledger().len(), 3);
        assert_eq!(world.bare.git(&["log", "-1", "--format=%P", BRANCH]), head.unwrap());
        let message = world.bare.git(&["log", "-1", "--format=%B", BRANCH]);
        assert!(message.contains("Run: run-1") && message.contains("Ledger triage: 1 records in 1 shard"), "{message}");
        world.bare.git(&["fsck", "--strict"]);
    }
}

// DB-6-03
#[test]
fn the_same_records_give_the_same_shards_however_they_were_staged() {
    let trees: Vec<String> = [false, true]
        .into_iter()
        .map(|split| {
            let world = World::new("sha1");
            let first = record(1, &[]);
            let second = record(2, &[first.sha()]);
            let mut run = world.run();
            if split {
                run.stage(3, &[second]).stage(9, &[first]);
            } else {
                run.stage(5, &[first, second]);
            }
            world.persist(&run).assert(0, &[]);
            world.bare.git(&["rev-parse", &format!("{BRANCH}^{{tree}}")])
        })
        .collect();
    assert_eq!(trees[0], trees[1]);
}

/// CASES 1, 2: writers that meet all land, each after its own attempts, and every commit has one parent (CASES 5).
// DB-6-01, DB-B-04, DB-10-04
#[test]
fn writers_from_one_base_all_land() {
    let world = World::new("sha1");
    let root = record(1, &[]);
    let mut run = world.run();
    run.stage(1, std::slice::from_ref(&root));
    world.persist(&run).assert(0, &[]);
    let base = world.run();
    let children: Vec<_> = (0..8)
        .map(|number| {
            let mut run = base.clone();
            run.stage(100 + number, &[record(100 + number, &[root.sha()])]);
            world.start(&run)
        })
        .collect();
    let outcomes: Vec<Outcome> = children.into_iter().map(Job::finish).collect();
    for outcome in &outcomes {
        outcome.assert(0, &[]);
        assert_eq!((outcome.count("accepted"), outcome.count("commits")), (1, 1));
    }
    let ledger = world.ledger();
    assert_eq!((ledger.len(), ledger.heads().len(), ledger.diagnostics().total()), (9, 8, 0));
    assert_eq!(world.bare.git(&["rev-list", "--count", BRANCH]), "9");
    assert_eq!(world.bare.git(&["rev-list", "--min-parents=2", "--count", BRANCH]), "0");
    assert!(outcomes.iter().any(|outcome| outcome.count("attempts") > 1), "nobody met anybody");
}

/// CASES 26: look first, never a second commit.
// DB-B-05
#[test]
fn a_lost_answer_is_not_a_second_commit() {
    let world = World::new("sha1");
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]);
    // The server ends after the branch has moved and before it says so, once.
    world.bare.hook(
        "reference-transaction",
        "if [ \"$1\" = committed ] && [ ! -e lost ]; then touch lost; kill -9 $PPID; fi",
    );
    let outcome = world.persist(&run);
    outcome.assert(0, &[]);
    assert!(world.bare.path().join("lost").exists());
    assert_eq!((outcome.count("accepted"), outcome.count("attempts")), (1, 2));
    assert_eq!(outcome.report["ledgers"][0]["commit"].as_str(), world.bare.head(BRANCH).as_deref());
    assert_eq!(world.bare.git(&["rev-list", "--count", BRANCH]), "1");
}

#[test]
fn an_answer_lost_before_the_branch_moved_is_tried_again() {
    let world = World::new("sha1");
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]);
    world.bare.hook("pre-receive", "if [ ! -e lost ]; then touch lost; kill -9 $PPID; fi");
    let outcome = world.persist(&run);
    outcome.assert(0, &[]);
    assert_eq!((outcome.count("accepted"), outcome.count("attempts")), (1, 2));
    assert_eq!(world.ledger().len(), 1);
}

#[test]
fn a_head_that_keeps_moving_ends_as_contended_with_nothing_changed() {
    let world = World::new("sha1");
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]);
    world.persist(&run).assert(0, &[]);
    let mut run = world.run();
    run.stage(2, &[record(2, &[])]);
    run.options = vec!["--time-budget-seconds".to_owned(), "1".to_owned()];
    // Somebody is always faster: the branch moves between the look and the push.
    let move_on = "unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\n\
        export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x\n\
        git update-ref refs/heads/ledgers/triage $(git commit-tree -m faster -p ledgers/triage ledgers/triage^{tree})";
    world.bare.hook("pre-receive", move_on);
    let outcome = world.persist(&run);
    outcome.assert(5, &["contended"]);
    assert!(outcome.count("attempts") > 1);
    assert_eq!(world.ledger().len(), 1);
    world.bare.remove_hook("pre-receive");
    world.persist(&run).assert(0, &[]);
    assert_eq!(world.ledger().len(), 2);
}

/// CASES 5, 27: a rule is no race; it is named, with what to change.
#[test]
fn a_refusal_of_the_server_is_named_at_once() {
    let world = World::new("sha1");
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]);
    world.bare.hook(
        "pre-receive",
        "echo 'error: GH013: Repository rule violations found for refs/heads/ledgers/triage.' >&2\n\
         echo '- Commits must have verified signatures.' >&2; exit 1",
    );
    let outcome = world.persist(&run);
    outcome.assert(6, &["GH013-repository-rule"]);
    let message = outcome.report["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("ruleset") && message.contains("verified signatures"), "{message}");
    assert_eq!((outcome.count("attempts"), outcome.count("accepted")), (1, 0));
    assert_eq!(world.bare.head(BRANCH), None);
    world.bare.remove_hook("pre-receive");
    world.persist(&run).assert(0, &[]);
}

/// CASES 4, 13: the refusal names the key and how what is staged can still land.
// DB-2-08, DB-9-06, DB-B-06
#[test]
fn over_the_patch_limit_the_longest_leading_part_is_kept() {
    let world = World::new("sha1").configured(r#""max-patch-kb":10,"max-segment-kb":4,"max-record-kb":4"#);
    let mut records = vec![record_with(1, &[], &format!("\"{}\"", "x".repeat(2800)))];
    for number in 2..6 {
        let parent: Digest = records[records.len() - 1].sha();
        records.push(record_with(number, &[parent], &format!("\"{}\"", "x".repeat(2800))));
    }
    let mut run = world.run();
    run.stage(1, &records);
    let outcome = world.persist(&run);
    outcome.assert(8, &["over-patch"]);
    assert_eq!((outcome.count("accepted"), outcome.count("refused")), (3, 2));
    let ledger = world.ledger();
    assert_eq!((ledger.len(), ledger.incomplete(), ledger.heads()), (3, 0, &[records[2].sha()][..]));
    // One record of this size fills a shard of this size.
    assert_eq!(world.bare.listing(BRANCH).len(), 3);
    // Running the same job again starts no new budget.
    let again = world.persist(&run);
    again.assert(8, &["over-patch"]);
    assert_eq!((again.count("accepted"), world.ledger().len()), (0, 3));
}

// DB-2-08, DB-9-06, DB-10-05, DB-B-06
#[test]
fn at_the_shard_bound_the_leading_part_is_kept_and_said() {
    let world = World::new("sha1").configured(r#""max-shards":2,"max-segment-kb":1"#);
    let mut records = vec![record_with(1, &[], &format!("\"{}\"", "x".repeat(600)))];
    for number in 2..5 {
        let parent = records[records.len() - 1].sha();
        records.push(record_with(number, &[parent], &format!("\"{}\"", "x".repeat(600))));
    }
    let mut run = world.run();
    run.stage(1, &records);
    let outcome = world.persist(&run);
    outcome.assert(8, &["shard-bound", "shards-nearly-full"]);
    assert_eq!((world.ledger().len(), world.bare.listing(BRANCH).len()), (2, 2));
}

#[test]
fn nothing_staged_changes_nothing() {
    let world = World::new("sha1");
    world.bare.commit_files(BRANCH, &[("note.md", b"old")]);
    let head = world.bare.head(BRANCH);
    let mut run = world.run();
    run.staged = false;
    world.persist(&run).assert(0, &["staged-missing"]);
    assert_eq!(world.bare.head(BRANCH), head);
}
