//! Conformance: the reference runtime's answers about plans, their application, selection, settings and due times.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where its data is not as expected"
)]

use std::collections::BTreeMap;

use daybook_compaction::{
    Bounds, Conflict, Decision, Facts, Forgery, NothingToDo, Plan, PlanFault, RawPlan, Stale, Stamp,
};
use daybook_compaction::{Target, plan_id, select};
use daybook_core::config::{Config, Schedule};
use daybook_core::limits::{Bytes, Count};
use daybook_core::state::{State, Trigger, due};
use daybook_core::{Digest, Draft, Limits, Record, RecordId, ShardId, json, timestamp};
use daybook_testkit::vectors::{self, Deviations};
use serde_json::{Value, json};

type Folder = BTreeMap<ShardId, Vec<u8>>;

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("{member}: {value}"))
}

fn document() -> Value {
    vectors::document("compaction")
}

fn folder(value: &Value) -> Folder {
    let files = value.as_object().unwrap();
    files.iter().map(|(name, bytes)| (ShardId::from_file_name(name).unwrap(), bytes.as_str().unwrap().into())).collect()
}

/// The bounds of a configuration as the reference spells it.
fn bounds(config: &Value) -> Bounds {
    let count = |value: &Value, default| Count::new(value.as_u64().unwrap_or(default));
    Bounds {
        max_segment: Bytes::new(config["max_segment_kb"].as_u64().unwrap() * 1024),
        max_shards: Limits::default().max_shards(),
        min_segments: count(&config["compaction"]["min_segments"], 32),
        max_segments: count(&config["compaction"]["max_segments"], 128),
    }
}

fn target(config: &Value) -> Target<'_> {
    Target { ledger: text(config, "name"), branch: text(config, "branch_name"), bounds: bounds(config) }
}

fn ids(chosen: &[&Facts<'_>]) -> String {
    chosen.iter().map(|shard| shard.id().to_string()).collect::<Vec<_>>().join(" ")
}

fn identity(value: &Value) -> (ShardId, Digest) {
    (ShardId::from_text(text(value, "segment")).unwrap(), text(value, "sha256").parse().unwrap())
}

/// The id of whatever a plan says, where it can be said at all.
fn sealed(mut plan: Value) -> Value {
    let parts = || {
        let name = |value: &Value| {
            Some((
                ShardId::from_text(value["segment"].as_str()?)?,
                Digest::from_text(value["sha256"].as_str()?.as_bytes())?,
            ))
        };
        let sources = plan["sources"].as_array()?.iter().map(name).collect::<Option<Vec<_>>>()?;
        let texts = [plan["version"].as_str()?, plan["ledger"].as_str()?, plan["branch"].as_str()?];
        Some(plan_id(texts[0], texts[1], texts[2], sources, name(&plan["replacement"])?))
    };
    if let Some(id) = parts() {
        plan["plan_id"] = id.to_string().into();
    }
    plan
}

// DB-5.3-04, DB-10-06
#[test]
fn the_same_choice_gives_the_same_plan_byte_for_byte() {
    let document = document();
    let (folder, wanted) = (folder(&document["shards"]), &document["plan"]);
    let chosen: Vec<Facts<'_>> = document["selected_sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| ShardId::from_text(id.as_str().unwrap()).unwrap())
        .map(|id| Facts::of(id, &folder[&id]))
        .collect();
    let stamp = Stamp {
        trigger: Trigger::from_name(text(wanted, "trigger")).unwrap(),
        created_at: text(wanted, "created_at"),
        base_commit: text(wanted, "base_commit"),
    };
    let sources: Vec<&Facts<'_>> = chosen.iter().collect();
    let Ok(plan) = Plan::build(&target(&document["config"]), &stamp, &sources, &folder);
    let bytes = plan.unwrap().to_bytes();
    let canonical = json::canonical(wanted.to_string().as_bytes()).unwrap();
    assert_eq!(std::str::from_utf8(&bytes).unwrap(), format!("{canonical}\n"));
}

// DB-5.3-05
#[test]
fn plan_ids() {
    let document = document();
    let plan = &document["plan"];
    for case in document["plan_id_cases"].as_array().unwrap() {
        let name = text(case, "name");
        if let Some(body) = case.get("body") {
            let sources: Vec<_> = body["sources"].as_array().unwrap().iter().map(identity).collect();
            let texts = [text(body, "version"), text(body, "ledger"), text(body, "branch")];
            let ours = plan_id(texts[0], texts[1], texts[2], sources, identity(&body["replacement"]));
            assert_eq!(ours.to_string(), text(case, "plan_id"), "{name}");
            continue;
        }
        let mut changed = plan.clone();
        let other = || Digest::of(b"other").to_string();
        match name.split(" is ").next().unwrap().split(" are ").next().unwrap() {
            "base_commit" => changed["base_commit"] = "b".repeat(40).into(),
            "created_at" => changed["created_at"] = "2026-04-02T00:00:00.000Z".into(),
            "trigger" => changed["trigger"] = "requested".into(),
            "source bytes" => changed["sources"][0]["bytes"] = 1.into(),
            "source record lists" => changed["sources"][0]["records"] = json!([]),
            "replacement records" => changed["replacement"]["records"] = json!([]),
            "source digest" => changed["sources"][0]["sha256"] = other().into(),
            "replacement digest" => changed["replacement"]["sha256"] = other().into(),
            unknown => panic!("a case that is not known: {unknown}"),
        }
        let differs = sealed(changed)["plan_id"] != plan["plan_id"];
        assert_eq!(Some(differs), case["changes_plan_id"].as_bool(), "{name}");
    }
}

/// The reference's words for our faults.
const FAULTS: [(&str, PlanFault); 18] = [
    ("plan_id does not match plan contents", PlanFault::PlanId),
    ("unexpected plan structure", PlanFault::Shape),
    ("unexpected source structure", PlanFault::Shape),
    ("unsupported plan version", PlanFault::Version),
    ("plan targets a different ledger", PlanFault::Ledger),
    ("plan targets a different branch", PlanFault::Branch),
    ("invalid trigger", PlanFault::Trigger),
    ("invalid created_at", PlanFault::CreatedAt),
    ("invalid base_commit", PlanFault::BaseCommit),
    ("invalid source count", PlanFault::SourceCount),
    ("sources must be unique and sorted", PlanFault::SourceOrder),
    ("invalid source segment identity", PlanFault::SourceSegment),
    ("invalid source digest", PlanFault::SourceDigest),
    ("invalid source size", PlanFault::SourceBytes),
    ("invalid source record identities", PlanFault::SourceRecords),
    ("replacement cannot also be a source", PlanFault::ReplacementIsSource),
    ("replacement does not preserve every source record", PlanFault::Loses),
    ("invalid replacement size", PlanFault::ReplacementBytes),
];

/// What a case does to the plan, in JavaScript in the vector file, here once more.
fn mutate(name: &str, plan: &mut Value) {
    let source = |index: usize| format!("/sources/{index}");
    let at = |plan: &mut Value, pointer: &str, value: Value| *plan.pointer_mut(pointer).unwrap() = value;
    match name {
        "unchanged" => {}
        "wrong plan_id" => plan["plan_id"] = format!("sha256:{}", "5".repeat(64)).into(),
        "extra key" => plan["extra"] = 1.into(),
        "missing trigger" => drop(plan.as_object_mut().unwrap().remove("trigger")),
        "version v2" => plan["version"] = "gh-aw/ledger-compaction-plan/v2".into(),
        "other ledger" => plan["ledger"] = "other".into(),
        "other branch" => plan["branch"] = "main".into(),
        "trigger manual" => plan["trigger"] = "manual".into(),
        "created_at date only" => plan["created_at"] = "2026-04-01".into(),
        "created_at seconds" => plan["created_at"] = "2026-04-01T00:00:00Z".into(),
        "created_at offset" => plan["created_at"] = "2026-04-01T00:00:00+00:00".into(),
        "created_at Feb 30" => plan["created_at"] = "2026-02-30T00:00:00Z".into(),
        "base_commit short" => plan["base_commit"] = "abc".into(),
        "base_commit sha256" => plan["base_commit"] = "b".repeat(64).into(),
        "no sources" => plan["sources"] = json!([]),
        "too many sources" => {
            let mut another = plan["sources"][0].clone();
            another["segment"] = "00000000-0000-4000-8000-00000000000f".into();
            plan["sources"].as_array_mut().unwrap().push(another);
        }
        "sources unsorted" => plan["sources"].as_array_mut().unwrap().reverse(),
        "duplicate source" => {
            let first = plan["sources"][0].clone();
            plan["sources"] = json!([first, first]);
        }
        "source path traversal" => at(plan, "/sources/0/segment", "../../etc/passwd".into()),
        "source digest upper case" => {
            let upper = text(&plan["sources"][0], "sha256").to_uppercase();
            at(plan, "/sources/0/sha256", upper.into());
        }
        "source bytes 0" => at(plan, "/sources/0/bytes", 0.into()),
        "source bytes over max" => at(plan, "/sources/0/bytes", 4097.into()),
        "source bytes float" => at(plan, "/sources/0/bytes", json!(1.5)),
        "source records empty" => at(plan, "/sources/0/records", json!([])),
        "source records unsorted" => plan["sources"][0]["records"].as_array_mut().unwrap().reverse(),
        "source extra key" => plan.pointer_mut(&source(0)).unwrap()["x"] = 1.into(),
        "replacement equals a source" => plan["replacement"]["segment"] = plan["sources"][0]["segment"].clone(),
        "replacement misses a record" => drop(plan["replacement"]["records"].as_array_mut().unwrap().pop()),
        "replacement has an extra record" => {
            let extra = format!("sha256:{}", "f".repeat(64));
            plan["replacement"]["records"].as_array_mut().unwrap().push(extra.into());
        }
        "replacement bytes over max" => at(plan, "/replacement/bytes", 4097.into()),
        "one source only" => plan["sources"].as_array_mut().unwrap().truncate(1),
        "array" => *plan = json!([]),
        "null" => *plan = Value::Null,
        unknown => panic!("a case that is not known: {unknown}"),
    }
}

// DB-5.3-03, DB-5.3-08
#[test]
fn what_is_a_plan() {
    let document = document();
    let target = target(&document["config"]);
    let mut deviations = Deviations::of("compaction");
    for case in document["validate_cases"].as_array().unwrap() {
        let name = text(case, "name");
        let mut plan = document["plan"].clone();
        mutate(name, &mut plan);
        let plan = if name == "wrong plan_id" { plan } else { sealed(plan) };
        let ours = match RawPlan::new(plan.to_string().as_bytes()).unwrap().check(&target) {
            Ok(_) => "accepted",
            Err(fault) => fault.code(),
        };
        let theirs = text(case, "result");
        let theirs = FAULTS.iter().find(|(words, _)| *words == theirs).map_or(theirs, |(_, fault)| fault.code());
        deviations.hold(name, ours, theirs);
    }
    apply(&document, &mut deviations);
    selection(&document, &mut deviations);
    settings(&document, &mut deviations);
    due_times(&document, &mut deviations);
    deviations.finish();
}

fn apply(document: &Value, deviations: &mut Deviations) {
    let target = target(&document["config"]);
    for case in document["apply_cases"].as_array().unwrap() {
        let name = text(case, "name");
        let plan = case.get("plan").unwrap_or(&document["plan"]);
        let given = &case["shards"];
        let folder = folder(if given.is_object() { given } else { &document["shards"] });
        let state = case.get("state").map(|state| State::parse(state.as_str().unwrap().as_bytes()).unwrap());
        let checked = RawPlan::new(plan.to_string().as_bytes()).unwrap().check(&target).unwrap();
        let Ok(decision) = checked.prove(&target, &folder, state.as_ref());
        let ours = match &decision {
            Decision::Ready(proven) => {
                let now = text(plan, "created_at");
                let next =
                    State::after(state.as_ref(), target.ledger, proven.plan_id(), proven.trigger(), now).unwrap();
                let mut additions = Vec::new();
                if !proven.replacement_present() {
                    let utf8 = std::str::from_utf8(proven.replacement().bytes()).unwrap();
                    additions.push(json!({"path": proven.replacement().id().path(), "utf8": utf8}));
                }
                let state = String::from_utf8(next.to_bytes()).unwrap();
                additions.push(json!({"path": "ledger/compaction/state.json", "utf8": state}));
                let deletions: Vec<String> = proven.sources().iter().map(|source| source.segment().path()).collect();
                json!({"status": "ready", "additions": additions, "deletions": deletions}).to_string()
            }
            Decision::AlreadyApplied => json!({"status": "already_applied"}).to_string(),
            Decision::Stale(Stale::AllGone | Stale::SomeGone(_)) => json!({"status": "stale"}).to_string(),
            Decision::Conflict(Conflict::Source(_) | Conflict::Replacement(_)) => {
                json!({"status": "conflict"}).to_string()
            }
            Decision::Rejected(forgery) => {
                assert_eq!(*forgery, Forgery::Replacement, "{name}");
                json!({"status": "rejected"}).to_string()
            }
        };
        let mut theirs = case["expected"].clone();
        for told_otherwise in ["reason", "stats", "records_and_heads_unchanged"] {
            theirs.as_object_mut().unwrap().remove(told_otherwise);
        }
        deviations.hold(name, &ours, &theirs.to_string());
    }
}

/// A record of exactly this size.
fn record(number: u64, size: usize) -> Record {
    let build = |pad: usize| {
        let draft = Draft {
            id: RecordId::from_text(format!("ldg-{number:08x}-1111-4111-8111-111111111111").as_bytes()).unwrap(),
            kind: "note",
            timestamp: "2026-03-01T12:00:01.000Z",
            parents: &[],
            payload: &json::parse(format!(r#"{{"pad":"{}"}}"#, "x".repeat(pad)).as_bytes()).unwrap(),
        };
        Record::build(&draft, &Limits::default()).unwrap()
    };
    let empty = build(0).line().len() + 1;
    build(size - empty)
}

fn selection(document: &Value, deviations: &mut Deviations) {
    let shards = folder(&document["shards"]);
    let all: Vec<Facts<'_>> = shards.iter().map(|(id, bytes)| Facts::of(*id, bytes)).collect();
    let ours = ids(&select(&all, &bounds(&document["config"])).unwrap());
    let theirs: Vec<&str> = document["selected_sources"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    deviations.hold("selected_sources", &ours, &theirs.join(" "));
    for case in document["select_cases"].as_array().unwrap() {
        let shards: Vec<Facts<'_>> = case["segments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|segment| {
                let numbers: Vec<u64> =
                    segment["record_numbers"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
                let size = usize::try_from(segment["bytes"].as_u64().unwrap()).unwrap() / numbers.len();
                let bytes: Vec<u8> =
                    numbers.iter().flat_map(|number| [record(*number, size).line(), b"\n"].concat()).collect();
                Facts::of(ShardId::from_text(text(segment, "segment")).unwrap(), bytes)
            })
            .collect();
        let ours = match select(&shards, &bounds(&case["config"])) {
            Ok(chosen) => ids(&chosen),
            Err(NothingToDo::TooFew { eligible, needed }) => {
                format!("{eligible} eligible segment(s); compaction needs at least {needed}")
            }
            Err(NothingToDo::NothingFits) => {
                "no combination of eligible segments fits within max-segment-kb".to_owned()
            }
            Err(other) => panic!("{other}"),
        };
        let expected = &case["expected"];
        let theirs = expected["sources"].as_array().map_or_else(
            || text(expected, "reason").to_owned(),
            |sources| sources.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        );
        deviations.hold(text(case, "name"), &ours, &theirs);
    }
}

/// A configuration of the reference in our spelling.
fn translated(config: &Value) -> String {
    let Some(members) = config.as_object() else { return config.as_str().unwrap_or_default().to_owned() };
    let mut ledger = serde_json::Map::new();
    let mut memory = json!({"id": "m"});
    for (key, value) in members {
        match key.as_str() {
            "branch_name" => memory["branch"] = value.clone(),
            "compaction" => {
                let settings = value.as_object().unwrap().iter();
                let settings: serde_json::Map<_, _> =
                    settings.map(|(key, value)| (key.replace('_', "-"), value.clone())).collect();
                ledger.insert(key.clone(), settings.into());
            }
            key => drop(ledger.insert(key.replace('_', "-"), value.clone())),
        }
    }
    ledger.insert("memory".to_owned(), "m".into());
    json!({"version": 1, "workflow": "w", "memories": [memory], "ledgers": [ledger]}).to_string()
}

fn settings(document: &Value, deviations: &mut Deviations) {
    for case in document["config_cases"].as_array().unwrap() {
        let ours = if Config::parse(translated(&case["config"]).as_bytes()).is_ok() { "accepted" } else { "refused" };
        let theirs = if text(case, "result") == "accepted" { "accepted" } else { "refused" };
        deviations.hold(&format!("settings: {}", text(case, "name")), ours, theirs);
    }
}

fn due_times(document: &Value, deviations: &mut Deviations) {
    for case in document["due_cases"].as_array().unwrap() {
        let schedule = match text(case, "schedule") {
            "daily" => Schedule::Daily,
            "weekly" => Schedule::Weekly,
            _ => Schedule::Manual,
        };
        let now = timestamp::to_unix_millis(text(case, "now")).unwrap();
        let ours = text(case, "trigger") == "requested" || due(schedule, case["last_applied_at"].as_str(), now).due;
        let theirs = case["due"].as_bool().unwrap();
        deviations.hold(text(case, "name"), &format!("due {ours}"), &format!("due {theirs}"));
    }
}
