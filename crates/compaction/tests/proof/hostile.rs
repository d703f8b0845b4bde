//! Plans that somebody else wrote.

use std::collections::BTreeMap;

use daybook_compaction::{Conflict, Decision, Forgery, MAX_PLAN_BYTES, PlanFault, RawPlan};
use daybook_core::segment::{COMPACTION_METADATA, Segment};
use daybook_core::{Digest, Record, ShardId};
use daybook_testkit::plans::sealed;
use daybook_testkit::{hostile, ledgers, random::Random};
use serde_json::{Value, json};

use crate::support::{BOUNDS, Folder, carry_out, decide, folder, plan, reconstructed, records, shard, target};

// DB-5.3-09, DB-5.3-10, DB-9-09
#[test]
fn a_thousand_mutated_plans_change_nothing_that_the_true_one_would_not() {
    let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let mut folder = folder(&mut random, 8);
        let (before, order) = (records(&folder), reconstructed(&folder));
        let plan = plan(&folder, BOUNDS).unwrap();
        let mut mutated: Value = serde_json::from_slice(&plan.to_bytes()).unwrap();
        for _ in 0..=random.below(3) {
            hostile::mutate_json(&mut random, &mut mutated);
        }
        if random.below(3) > 0 {
            mutated = sealed(mutated);
        }
        let mut bytes = mutated.to_string().into_bytes();
        if random.below(8) == 0 {
            bytes = hostile::mutated(&mut random, &plan.to_bytes());
        }
        let name = match decide(&bytes, &folder, None, BOUNDS) {
            Decision::Ready(proven) => {
                // Nothing of the transition itself was changed, or it is another one that loses nothing either.
                carry_out(&proven, &mut folder, &mut None);
                "ready"
            }
            Decision::AlreadyApplied => "already applied",
            Decision::Stale(_) => "stale",
            Decision::Conflict(_) => "conflict",
            Decision::Rejected(_) => "rejected",
        };
        *outcomes.entry(name).or_default() += 1;
        assert_eq!((records(&folder), reconstructed(&folder)), (before, order), "seed {seed}: {mutated}");
    }
    println!("{outcomes:?}");
    assert!(
        outcomes["rejected"] > 500 && outcomes.contains_key("stale") && outcomes.contains_key("conflict"),
        "{outcomes:?}"
    );
    assert_eq!(outcomes.get("already applied"), None);
}

// DB-5.3-12, DB-5.3-13
#[test]
fn a_plan_that_is_true_to_itself_and_not_to_the_shards_is_rejected() {
    let mut random = Random::new(7);
    let good: Vec<Record> = (0..4).map(|number| ledgers::record(&mut random, number, &[], 300)).collect();
    let id = |number: u32| ShardId::from_text(&format!("{number:08x}-0000-4000-8000-000000000000")).unwrap();
    let mut folder: Folder = (1..).zip(&good).map(|(number, record)| (id(number), shard(&[record]))).take(3).collect();
    let plan: Value = serde_json::from_slice(&plan(&folder, BOUNDS).unwrap().to_bytes()).unwrap();
    let verdict = |plan: &Value, folder: &Folder| decide(plan.to_string().as_bytes(), folder, None, BOUNDS);

    // A replacement that lacks a record, perfectly made; the lists of the plan lie along.
    let less = Segment::build(COMPACTION_METADATA, &good[..2], BOUNDS.max_segment).unwrap();
    let mut forged = plan.clone();
    forged["replacement"] =
        json!({"segment": less.id(), "sha256": less.sha256(), "bytes": less.bytes().len(), "records": less.records()});
    assert_eq!(verdict(&sealed(forged.clone()), &folder), Decision::Rejected(Forgery::Plan(PlanFault::Loses)));
    forged["sources"][2]["records"] = forged["sources"][1]["records"].clone();
    assert_eq!(verdict(&sealed(forged), &folder), Decision::Rejected(Forgery::Source(id(3))));

    // One that brings a record along that no source has.
    let more = Segment::build(COMPACTION_METADATA, &good, BOUNDS.max_segment).unwrap();
    let mut forged = plan.clone();
    forged["replacement"] =
        json!({"segment": more.id(), "sha256": more.sha256(), "bytes": more.bytes().len(), "records": more.records()});
    assert_eq!(verdict(&sealed(forged), &folder), Decision::Rejected(Forgery::Replacement));

    // A source whose bytes are as planned, and not all records.
    let torn = [shard(&[&good[0]]), b"{\"id\"".to_vec()].concat();
    let mut forged = plan.clone();
    forged["sources"][0]["sha256"] = Digest::of(&torn).to_string().into();
    forged["sources"][0]["bytes"] = torn.len().into();
    let whole = folder.insert(id(1), torn).unwrap();
    assert_eq!(verdict(&sealed(forged), &folder), Decision::Rejected(Forgery::Source(id(1))));
    assert_eq!(verdict(&plan, &folder), Decision::Conflict(Conflict::Source(id(1))));
    folder.insert(id(1), whole);

    // Nothing of that was kept anywhere: the true plan is still one.
    assert!(matches!(verdict(&plan, &folder), Decision::Ready(_)));
}

// DB-5.3-03, DB-5.3-07, DB-5.3-08
#[test]
fn a_plan_is_an_object_with_exactly_its_members_and_of_bounded_size() {
    let mut random = Random::new(3);
    let folder = folder(&mut random, 8);
    let bytes = plan(&folder, BOUNDS).unwrap().to_bytes();
    let text = std::str::from_utf8(&bytes).unwrap();
    let check = |text: &str| RawPlan::new(text.as_bytes()).and_then(|plan| plan.check(&target(BOUNDS)));
    assert!(check(text).is_ok());
    let object: Value = serde_json::from_str(text).unwrap();
    let members: Vec<&Value> =
        ["version", "ledger", "branch", "trigger", "created_at", "base_commit", "sources", "replacement", "plan_id"]
            .iter()
            .map(|member| &object[member])
            .collect();
    for wrong in [
        json!(members).to_string(),
        text.replacen("\"trigger\":", "\"trigger\":\"scheduled\",\"trigger\":", 1),
        text.replacen("\"bytes\":", "\"bytes\":1,\"bytes\":", 1),
        text.replacen("\"segment\":\"", "\"segment\":\"\\ud800", 1),
        format!("{text}{text}"),
        format!("\u{feff}{text}"),
        "[".repeat(100_000),
        String::new(),
    ] {
        assert_eq!(check(&wrong), Err(PlanFault::Shape), "{}", &wrong[..wrong.len().min(80)]);
    }
    assert!(RawPlan::new(&vec![b' '; MAX_PLAN_BYTES]).is_ok());
    assert_eq!(RawPlan::new(&vec![b' '; MAX_PLAN_BYTES + 1]).err(), Some(PlanFault::TooLarge));
    let mut many = object;
    let digests: Vec<String> = (0..60_000).map(|number| format!("sha256:{number:064x}")).collect();
    many["sources"][0]["records"] = json!(digests);
    many["sources"][1]["records"] = json!(digests);
    assert_eq!(check(&many.to_string()), Err(PlanFault::SourceRecords));
}
