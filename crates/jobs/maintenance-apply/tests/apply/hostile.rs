//! Plans that lie, and branches that are not what a plan says: the branch stays as it is, and the next good plan works.

use std::fs;

use daybook_testkit::{hostile, random::Random};
use serde_json::{Value, json};

use daybook_testkit::plans::sealed;

use crate::support::{BRANCH, CONFIG, STATE, World};

// DB-5.3-11, DB-5.3-19, DB-5.3-20, DB-5.3-21, DB-9-13
#[test]
fn a_branch_that_is_not_what_the_plan_says_stays_as_it_is() {
    let mut world = World::new("sha1", 5);
    let plan = world.plan();
    let sources: Vec<String> = plan.sources().iter().map(|source| source.segment().path()).collect();
    let replacement = plan.replacement().segment().path();
    let good = world.files();
    let (first, content) = (&sources[0], good[&sources[0]].clone());
    let foreign = good[&sources[1]].clone();

    let refused = |world: &World, outcome: &str, code: i32, codes: &[&str]| {
        let head = world.bare.head(BRANCH);
        world.apply(&plan.to_bytes()).assert_named(outcome, code, codes);
        assert_eq!(world.bare.head(BRANCH), head);
        world.commit(&good);
    };
    world.remove(first);
    refused(&world, "stale", 4, &["stale"]);
    sources.iter().for_each(|source| world.remove(source));
    refused(&world, "stale", 4, &["stale"]);
    // One record more, a torn tail, another shard's content, a file that is none.
    for other in [[content.clone(), foreign.clone()].concat(), [&content[..], b"{\"id\"\n"].concat(), foreign.clone()] {
        world.put(first, &other);
        refused(&world, "conflict", 4, &["conflict"]);
    }
    // Somebody else's content under the name of the replacement, with sources and without.
    world.put(&replacement, &foreign);
    refused(&world, "conflict", 4, &["conflict"]);
    world.put(&replacement, &foreign);
    sources.iter().for_each(|source| world.remove(source));
    refused(&world, "conflict", 4, &["conflict"]);

    // The replacement itself is there already, as after an interruption elsewhere: it goes on.
    let bytes: Vec<u8> = {
        let mut lines: Vec<(&str, &[u8])> = Vec::new();
        for source in &sources {
            let line = good[source].as_slice();
            let text = std::str::from_utf8(line).unwrap();
            lines.push((text.split_once("\"sha\":\"").unwrap().1.split('"').next().unwrap(), line));
        }
        lines.sort_unstable();
        lines.into_iter().flat_map(|(_, line)| line.to_vec()).collect()
    };
    world.put(&replacement, &bytes);
    world.append(1);
    let records = world.records();
    let outcome = world.apply(&plan.to_bytes());
    outcome.assert_named("applied", 0, &[]);
    assert_eq!((outcome.count("bytes-written"), outcome.count("shards-after")), (0, 2));
    assert_eq!(world.records(), records);
}

// DB-5.4-04
#[test]
fn what_lies_beside_the_shards_decides_nothing() {
    let world = World::new("sha1", 5);
    let plan = world.plan();
    let forged = format!(
        "{{\"replacement\":\"{}\",\"sources\":[\"{}\"]}}\n",
        plan.sources()[0].segment(),
        plan.sources()[1].segment()
    );
    world.put(&format!("ledger/coverage/{}.jsonl", "a".repeat(64)), forged.as_bytes());
    world.put(STATE, b"{\"version\":\"::error::x\"}\n");
    let records = world.records();
    world.apply(&plan.to_bytes()).assert_named("applied", 0, &["coverage-ignored", "state-invalid"]);
    assert_eq!((world.records(), world.state().recent_plan_ids()), (records, &[plan.plan_id()][..]));
    assert!(world.files().keys().any(|path| path.starts_with("ledger/coverage/")), "it is ignored, not acted on");
}

// DB-9-09, DB-5.3-06
#[test]
fn mutated_plans_change_nothing_on_a_live_branch() {
    let world = World::new("sha1", 6);
    let (plan, head, records) = (world.plan(), world.bare.head(BRANCH), world.records());
    let truth: Value = serde_json::from_slice(&plan.to_bytes()).unwrap();
    let mut met = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut mutated = truth.clone();
        for _ in 0..=random.below(2) {
            hostile::mutate_json(&mut random, &mut mutated);
        }
        if random.below(4) > 0 {
            mutated = sealed(mutated);
        }
        let outcome = world.apply(mutated.to_string().as_bytes());
        if outcome.code == 0 {
            // What a plan says of its making is not part of the transition.
            assert_eq!((world.records(), &mutated["plan_id"]), (records.clone(), &truth["plan_id"]), "seed {seed}");
            world.bare.git(&["update-ref", &format!("refs/heads/{BRANCH}"), head.as_deref().unwrap()]);
        } else {
            assert!([3, 4].contains(&outcome.code), "seed {seed}: {}\n{mutated}", outcome.report);
        }
        assert_eq!(world.bare.head(BRANCH), head, "seed {seed}");
        assert!(!outcome.report.to_string().contains("::") && !outcome.stderr.contains("panicked"));
        met += u32::from(outcome.report["counts"]["attempts"] == 1);
    }
    assert!(met > 10, "only {met} plans were held against the branch");
    world.apply(&plan.to_bytes()).assert_named("applied", 0, &[]);
}

// DB-5.3-07, DB-5.3-10
#[test]
fn what_is_no_plan_at_all_is_refused_without_a_question_to_the_remote() {
    let world = World::new("sha1", 4);
    let plan = world.plan();
    world.apply(b"").assert_named("rejected", 3, &["plan-shape"]);
    world.apply(&vec![b'['; 1 << 20]).assert_named("rejected", 3, &["plan-shape"]);
    let outcome = world.apply(&vec![b' '; (16 << 20) + 1]);
    outcome.assert_named("rejected", 3, &["plan-too-large"]);
    assert_eq!(outcome.count("attempts"), 0);
    assert_eq!(outcome.report["diagnostics"][0]["severity"], "error");
    world.apply(&plan.to_bytes()).assert_named("applied", 0, &[]);
}

// DB-5.3-07, DB-5.3-09, DB-5.3-13
#[test]
fn a_plan_that_breaks_one_rule_is_refused_by_the_code_of_that_rule() {
    let world = World::new("sha1", 4);
    let (plan, head) = (world.plan(), world.bare.head(BRANCH));
    let truth: Value = serde_json::from_slice(&plan.to_bytes()).unwrap();
    let (first, second) = (&truth["sources"][0], &truth["sources"][1]);
    let all = truth["replacement"]["records"].as_array().unwrap();
    let backwards: Value = all.iter().rev().cloned().collect();
    let longer = json!(truth["replacement"]["bytes"].as_u64().unwrap() + 1);
    // What is put where, the answer, and how often the branch was asked for.
    let table = [
        ("version", json!("gh-aw/ledger-compaction-plan/v2"), "plan-version", 0),
        ("ledger", json!("other"), "plan-ledger", 0),
        ("branch", json!("ledgers/other"), "plan-branch", 0),
        ("trigger", json!("hourly"), "plan-trigger", 0),
        ("created_at", json!("2026-02-30T00:00:00.000Z"), "plan-created-at", 0),
        ("base_commit", json!("main"), "plan-base-commit", 0),
        ("sources", json!([first]), "plan-source-count", 0),
        ("sources", json!(vec![first; 300]), "plan-source-count", 0),
        ("sources", json!([second, first]), "plan-source-order", 0),
        ("sources", json!([first, first]), "plan-source-order", 0),
        ("sources/0/segment", json!("../../notes.md"), "plan-source-segment", 0),
        ("sources/0/sha256", json!("sha256:00"), "plan-source-digest", 0),
        ("sources/0/bytes", json!(0), "plan-source-bytes", 0),
        ("sources/0/bytes", json!(100 * 1024 + 1), "plan-source-bytes", 0),
        ("sources/0/bytes", json!(-1), "plan-source-bytes", 0),
        ("sources/0/records", json!([]), "plan-source-records", 0),
        ("sources/0/records", backwards.clone(), "plan-source-records", 0),
        ("replacement/segment", json!("new"), "plan-replacement-segment", 0),
        ("replacement/sha256", json!("SHA256"), "plan-replacement-digest", 0),
        ("replacement/bytes", json!(1.5), "plan-replacement-bytes", 0),
        ("replacement/records", backwards, "plan-replacement-records", 0),
        ("replacement/segment", first["segment"].clone(), "plan-replacement-is-source", 0),
        ("replacement/records", json!(all[1..]), "plan-loses-records", 0),
        ("plan_id", first["sha256"].clone(), "plan-id", 0),
        ("sources/0/records", second["records"].clone(), "plan-source-forged", 1),
        ("replacement/bytes", longer, "plan-replacement-forged", 1),
    ];
    for (member, value, code, attempts) in table {
        let mut wrong = truth.clone();
        *wrong.pointer_mut(&format!("/{member}")).unwrap() = value;
        // Its id is that of what it says, so that nothing but the rule is in its way.
        let wrong = if member == "plan_id" { wrong } else { sealed(wrong) };
        let outcome = world.apply(wrong.to_string().as_bytes());
        outcome.assert_named("rejected", 3, &[code]);
        assert_eq!((outcome.count("attempts"), world.bare.head(BRANCH)), (attempts, head.clone()), "{code}");
        assert!(!outcome.report.to_string().contains("notes.md"), "{}", outcome.report);
    }
    world.apply(&plan.to_bytes()).assert_named("applied", 0, &[]);
}

#[test]
fn without_a_plan_to_read_or_a_ledger_to_compact_nothing_is_asked_of_the_remote() {
    let world = World::new("sha1", 4);
    let (plan, head) = (world.plan().to_bytes(), world.bare.head(BRANCH));
    let place = world.place();
    let file = place.join("plan.json");
    let unreadable = |world: &World, message: &str| {
        let outcome = world.start_at(&place, CONFIG, &[]).finish();
        outcome.assert(74, &["plan-unreadable"]);
        assert_eq!(outcome.report["diagnostics"][0]["message"], message);
        assert_eq!((outcome.count("attempts"), world.bare.head(BRANCH)), (0, head.clone()));
    };
    unreadable(&world, "the plan is missing");
    fs::create_dir(&file).unwrap();
    unreadable(&world, "the plan is not a regular file");
    fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("/dev/stdin", &file).unwrap();
    unreadable(&world, "the plan is not a regular file");
    fs::remove_file(&file).unwrap();

    fs::write(&file, &plan).unwrap();
    let off = CONFIG.replace(r#"{"min-segments":2}"#, "false");
    world.start_at(&place, &off, &[]).finish().assert(2, &["compaction-off"]);
    world.start_at(&place, &CONFIG.replace("triage", "other"), &[]).finish().assert(2, &["ledger-unknown"]);
    assert_eq!(world.bare.head(BRANCH), head);
    world.start_at(&place, CONFIG, &[]).finish().assert_named("applied", 0, &[]);
}
