//! Plans that are true, on branches that stand still, move, or refuse.

use daybook_core::state::Trigger;

use daybook_testkit::job::{Job, Outcome};

use crate::support::{BRANCH, STATE, World};

// DB-5.3-12, DB-5.3-15, DB-4.2-07
#[test]
fn one_commit_replaces_the_shards_and_nothing_else() {
    for format in ["sha1", "sha256"] {
        let world = World::new(format, 6);
        let (records, reconstructed, head) = (world.records(), world.reconstructed(), world.bare.head(BRANCH));
        let plan = world.plan();
        let outcome = world.apply(&plan.to_bytes());
        outcome.assert_named("applied", 0, &[]);
        assert_eq!((world.records(), world.reconstructed()), (records, reconstructed));
        let id = plan.replacement().segment();
        assert_eq!(world.files().into_keys().collect::<Vec<_>>(), [STATE, &id.path(), "notes.md"]);
        assert_eq!(world.bare.git(&["log", "-1", "--format=%P", BRANCH]), head.unwrap());
        assert_eq!((outcome.count("shards-before"), outcome.count("shards-after")), (6, 1));
        assert_eq!((outcome.count("records"), outcome.count("attempts")), (6, 1));
        let size: usize = world.shards().values().map(Vec::len).sum();
        assert_eq!(outcome.count("bytes-after"), size as u64);
        for shown in ["| shards | 6 | 1 |", &plan.plan_id().to_string()] {
            assert!(outcome.summary.contains(shown), "{shown}: {}", outcome.summary);
        }
        // Canonical, with the job's own clock, not the plan's.
        let state = world.state();
        assert_eq!(format!("{}\n", world.bare.file(BRANCH, STATE)).into_bytes(), state.to_bytes());
        assert_eq!((state.last_plan_id(), state.last_trigger()), (plan.plan_id(), Trigger::Requested));
        assert!(state.last_applied_at() > "2026-01-01", "{state:?}");
        world.bare.git(&["fsck", "--strict"]);

        let head = world.bare.head(BRANCH);
        world.apply(&plan.to_bytes()).assert_named("already_applied", 0, &[]);
        assert_eq!(world.bare.head(BRANCH), head);
    }
}

// DB-5.3-14, DB-5.3-18
#[test]
fn later_appends_and_a_second_plan_cost_nothing() {
    let mut world = World::new("sha1", 5);
    let first = world.plan();
    world.append(20);
    let second = world.plan();
    let records = world.records();
    world.apply(&second.to_bytes()).assert_named("applied", 0, &[]);
    assert_eq!(world.records(), records);
    let head = world.bare.head(BRANCH);
    // The second plan took the sources of the first.
    world.apply(&first.to_bytes()).assert_named("stale", 4, &["stale"]);
    assert_eq!((world.records(), world.bare.head(BRANCH)), (records, head));

    // A plan whose sources are still there is applied, and what came later stays.
    world.append(4);
    let third = world.plan();
    world.append(20);
    let (records, shards) = (world.records(), world.shards().len());
    world.apply(&third.to_bytes()).assert_named("applied", 0, &[]);
    assert_eq!((world.records(), world.shards().len()), (records, shards + 1 - third.sources().len()));
    assert_eq!(world.state().recent_plan_ids(), [second.plan_id(), third.plan_id()]);
}

// DB-5.3-16, DB-5.3-18
#[test]
fn ten_at_once_apply_one_plan_once() {
    let world = World::new("sha1", 8);
    let (records, plan) = (world.records(), world.plan().to_bytes());
    let before = world.bare.git(&["rev-list", "--count", BRANCH]);
    let jobs: Vec<_> = (0..10).map(|_| world.start(&plan, &[])).collect();
    let outcomes: Vec<Outcome> = jobs.into_iter().map(Job::finish).collect();
    let mut names: Vec<&str> = outcomes.iter().map(|outcome| outcome.report["outcome"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!((names.iter().filter(|name| **name == "already_applied").count(), names.last()), (9, Some(&"applied")));
    assert!(outcomes.iter().all(|outcome| outcome.code == 0));
    let after = world.bare.git(&["rev-list", "--count", BRANCH]);
    assert_eq!(after.parse::<u32>().unwrap(), before.parse::<u32>().unwrap() + 1);
    assert_eq!(world.records(), records);
}

/// Commits appends beside the branch, and makes the server put them on it when the first push arrives.
fn move_during_push(world: &mut World, every_time: bool) {
    let head = world.bare.head(BRANCH).unwrap();
    world.append(3);
    let ahead = world.bare.head(BRANCH).unwrap();
    world.bare.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &head]);
    let guard = if every_time { "true" } else { "[ ! -e moved ]" };
    world.bare.hook(
        "pre-receive",
        &format!(
            "if {guard}; then touch moved; env -u GIT_QUARANTINE_PATH git update-ref refs/heads/{BRANCH} {ahead}; fi"
        ),
    );
}

// DB-5.3-17, DB-9-04
#[test]
fn a_head_that_moves_is_looked_at_anew_and_its_records_stay() {
    let mut world = World::new("sha1", 5);
    let plan = world.plan();
    move_during_push(&mut world, false);
    let outcome = world.apply(&plan.to_bytes());
    outcome.assert_named("applied", 0, &[]);
    assert_eq!(outcome.count("attempts"), 2);
    assert_eq!((world.records().len(), world.shards().len()), (8, 4));
}

// DB-5.3-17, DB-5.3-21
#[test]
fn a_head_that_never_stands_still_is_a_warning_and_changes_nothing() {
    let mut world = World::new("sha1", 5);
    let plan = world.plan();
    move_during_push(&mut world, true);
    let outcome = world.start(&plan.to_bytes(), &["--time-budget-seconds", "0"]).finish();
    outcome.assert_named("contended", 5, &["contended"]);
    assert_eq!(outcome.report["diagnostics"][0]["severity"], "warning");
    assert_eq!((world.records().len(), world.shards().len()), (8, 8));
    world.bare.remove_hook("pre-receive");
    world.apply(&plan.to_bytes()).assert_named("applied", 0, &[]);
    assert_eq!(world.records().len(), 8);
}

#[test]
fn a_lost_answer_is_looked_at_before_anything_else() {
    let world = World::new("sha1", 5);
    let (records, plan) = (world.records(), world.plan());
    world.bare.hook(
        "reference-transaction",
        "if [ \"$1\" = committed ] && [ ! -e lost ]; then touch lost; kill -9 $PPID; fi",
    );
    let outcome = world.apply(&plan.to_bytes());
    outcome.assert_named("applied", 0, &[]);
    assert_eq!((outcome.count("attempts"), outcome.count("shards-after")), (2, 1));
    assert_eq!(outcome.report["commit"].as_str(), world.bare.head(BRANCH).as_deref());
    assert_eq!(world.records(), records);
}

#[test]
fn a_refusal_of_the_remote_is_named_and_changes_nothing() {
    let world = World::new("sha1", 5);
    let (head, plan) = (world.bare.head(BRANCH), world.plan());
    world.bare.hook("pre-receive", "echo 'GH006: Protected branch update failed' >&2; exit 1");
    world.apply(&plan.to_bytes()).assert_named("denied", 6, &["GH006-protected-branch"]);
    assert_eq!(world.bare.head(BRANCH), head);
    world.bare.remove_hook("pre-receive");
    world.apply(&plan.to_bytes()).assert_named("applied", 0, &[]);
}
