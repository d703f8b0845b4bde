//! The job as a process of its own against real bare repositories and, for selection scripts, real Node.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use daybook_compaction::{Bounds, Decision, RawPlan, Target};
use daybook_core::config::Config;
use daybook_core::{Digest, ShardId};
use daybook_testkit::git::BareRepository;
use daybook_testkit::job::{Job, Outcome};
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;
use serde_json::{Value, json};

const BRANCH: &str = "ledgers/triage";

struct World {
    folder: tempfile::TempDir,
    bare: BareRepository,
    files: BTreeMap<String, Vec<u8>>,
    settings: Value,
}

struct Planned {
    job: Outcome,
    plan: Option<Vec<u8>>,
}

impl World {
    fn new(shards: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bare = BareRepository::create(&folder.path().join("remote.git"), "sha1");
        let mut random = Random::new(5);
        let mut files = BTreeMap::new();
        for number in 0..shards {
            let record = ledgers::record(&mut random, number, &[], 300);
            files.insert(ShardId::new(random.uuid()).unwrap().path(), [record.line(), b"\n"].concat());
        }
        let world = Self { folder, bare, files, settings: json!({"min-segments": 2}) };
        world.commit();
        world
    }

    fn with_script(mut self, script: &str) -> Self {
        self.settings["script"] = script.into();
        self
    }

    fn commit(&self) {
        if !self.files.is_empty() {
            let files: Vec<_> = self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
            self.bare.commit_files(BRANCH, &files);
        }
    }

    fn config(&self) -> String {
        let ledger = json!({"name": "triage", "compaction": self.settings});
        json!({"version": 1, "workflow": "t", "ledgers": [ledger]}).to_string()
    }

    fn place(&self) -> PathBuf {
        tempfile::tempdir_in(self.folder.path()).unwrap().keep()
    }

    fn plan(&self, trigger: &str) -> Planned {
        self.plan_at(&self.place(), trigger)
    }

    fn plan_at(&self, place: &Path, trigger: &str) -> Planned {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daybook-maintenance-plan"));
        command.args(["--ledger", "triage", "--format", "json", "--remote", &self.bare.url()]);
        command.arg("--out").arg(place.join("plan.json"));
        let environment =
            [("DAYBOOK_CONFIG".to_owned(), self.config()), ("DAYBOOK_TRIGGER".to_owned(), trigger.to_owned())];
        let job = Job::start(&mut command, place, environment).finish();
        Planned { job, plan: fs::read(place.join("plan.json")).ok() }
    }

    /// The plan is one that loses nothing; its sources.
    #[track_caller]
    fn proven(&self, outcome: &Planned) -> Vec<ShardId> {
        let decision = self.decision(outcome);
        let Decision::Ready(proven) = decision else { panic!("{decision:?}") };
        proven.sources().iter().map(daybook_compaction::Identity::segment).collect()
    }

    #[track_caller]
    fn decision(&self, outcome: &Planned) -> Decision {
        let config = Config::parse(self.config().as_bytes()).unwrap();
        let ledger = config.ledger("triage").unwrap();
        let bounds = Bounds::of(&ledger.limits, ledger.compaction.as_ref().unwrap());
        let target = Target { ledger: "triage", branch: BRANCH, bounds };
        let shards: BTreeMap<ShardId, Vec<u8>> =
            self.files.iter().filter_map(|(path, bytes)| Some((ShardId::from_path(path)?, bytes.clone()))).collect();
        let checked = RawPlan::new(outcome.plan.as_ref().unwrap()).unwrap().check(&target).unwrap();
        assert_eq!(Some(checked.base_commit()), self.bare.head(BRANCH).as_deref());
        let Ok(decision) = checked.prove(&target, &shards, None);
        decision
    }

    fn ids(&self) -> Vec<ShardId> {
        self.files.keys().filter_map(|path| ShardId::from_path(path)).collect()
    }
}

impl Planned {
    #[track_caller]
    fn assert(&self, outcome: &str, codes: &[&str]) {
        self.job.assert_named(outcome, 0, codes);
        assert_eq!(self.plan.is_some(), outcome == "planned", "a plan is written where there is one, and only there");
    }
}

// DB-5.3-04
#[test]
fn a_plan_is_written_where_one_is_due_and_proves_itself() {
    let world = World::new(6);
    let head = world.bare.head(BRANCH);
    for trigger in ["scheduled", "requested"] {
        let outcome = world.plan(trigger);
        outcome.assert("planned", &[]);
        assert_eq!(world.proven(&outcome), world.ids());
        let plan: Value = serde_json::from_slice(outcome.plan.as_ref().unwrap()).unwrap();
        assert_eq!((&plan["trigger"], &plan["plan_id"]), (&trigger.into(), &outcome.job.report["plan_id"]));
        assert!(outcome.job.summary.contains("| shards | 6 | 1 |"), "{}", outcome.job.summary);
    }
    assert_eq!(world.bare.head(BRANCH), head, "planning changes nothing");
}

#[test]
fn what_is_not_due_or_not_worth_it_leaves_no_plan_not_even_an_old_one() {
    let mut world = World::new(6);
    let place = world.place();
    fs::write(place.join("plan.json"), "an old plan").unwrap();
    let state = |ledger: &str, last: &str| {
        let id = Digest::of(b"x");
        format!(
            "{{\"last_applied_at\":\"{last}\",\"last_plan_id\":\"{id}\",\"last_trigger\":\"scheduled\",\"ledger\":\"{ledger}\",\"recent_plan_ids\":[],\"version\":\"gh-aw/ledger-compaction-state/v1\"}}\n"
        )
    };
    world.settings["schedule"] = "manual".into();
    world.plan_at(&place, "scheduled").assert("not_due", &[]);
    world.plan("requested").assert("planned", &[]);
    world.settings["schedule"] = "weekly".into();
    let table = [
        (state("triage", "9000-01-01T00:00:00.000Z"), "planned", "state-in-the-future"),
        (state("other", "9000-01-01T00:00:00.000Z"), "planned", "state-foreign"),
        ("{}".to_owned(), "planned", "state-invalid"),
    ];
    for (content, outcome, code) in table {
        world.files.insert("ledger/compaction/state.json".to_owned(), content.into_bytes());
        world.commit();
        world.plan("scheduled").assert(outcome, &[code]);
    }
    world.settings["min-segments"] = 32.into();
    world.plan("requested").assert("nothing_to_do", &["state-invalid", "too-few-segments"]);
    World::new(0).plan("requested").assert("nothing_to_do", &[]);

    // Two shards, of which one is many times as large: to write it again for one record is not worth it.
    let mut unlike = World::new(1);
    let mut random = Random::new(6);
    let large: Vec<u8> =
        (0..12).flat_map(|number| [ledgers::record(&mut random, number, &[], 700).line(), b"\n"].concat()).collect();
    unlike.files.insert(ShardId::new(random.uuid()).unwrap().path(), large);
    unlike.commit();
    unlike.plan("requested").assert("nothing_to_do", &["nothing-fits"]);
}

#[test]
fn a_plan_that_cannot_be_written_is_no_plan() {
    let world = World::new(6);
    let place = world.place();
    let out = place.join("plan.json");
    fs::create_dir(&out).unwrap();
    let outcome = world.plan_at(&place, "requested");
    outcome.job.assert(74, &["plan-unwritable"]);
    assert_eq!(outcome.job.report["diagnostics"][0]["message"], "the plan cannot be written");
    assert_eq!((outcome.plan, fs::read_dir(&out).unwrap().count()), (None, 0));
    // A folder that is not there is found out only after everything was read.
    fs::remove_dir(&out).unwrap();
    std::os::unix::fs::symlink("gone/plan.json", &out).unwrap();
    world.plan_at(&place, "requested").assert("planned", &[]);
    assert!(!out.is_symlink(), "what an earlier step left is replaced, not followed");
}

#[test]
fn damaged_shards_are_named_and_declarations_ignored() {
    let mut world = World::new(6);
    let ids = world.ids();
    world.files.get_mut(&ids[0].path()).unwrap().extend_from_slice(b"{\"id\"");
    world.files.insert(format!("ledger/coverage/{}.jsonl", "b".repeat(64)), b"{}\n".to_vec());
    world.commit();
    let outcome = world.plan("scheduled");
    outcome.assert("planned", &["damaged-shard", "coverage-ignored"]);
    assert_eq!(outcome.job.report["diagnostics"][0]["shard"], ids[0].to_string());
    assert_eq!(world.proven(&outcome), ids[1..]);
}

// DB-4.2-06, DB-9-08
#[test]
fn a_selection_script_proposes_and_is_held_to_what_may_be_planned() {
    let last_two = "module.exports = ({ segments, options }) => ({ sources: segments.slice(-options['min-segments']).map((s) => s.id).reverse() });";
    let world = World::new(6).with_script(last_two);
    let outcome = world.plan("scheduled");
    outcome.assert("planned", &[]);
    assert_eq!(world.proven(&outcome), world.ids()[4..]);
    for proposal in [
        "[]",
        "[segments[0].id]",
        "[segments[0].id, segments[0].id]",
        "[segments[0].id, '../../etc/passwd']",
        "[segments[0].id, '00000000-0000-4000-8000-000000000001']",
    ] {
        let script = format!("module.exports = ({{ segments }}) => ({{ sources: {proposal} }});");
        let outcome = World::new(6).with_script(&script).plan("scheduled");
        outcome.assert("nothing_to_do", &["script-proposal", "script-proposal"]);
        assert!(!outcome.job.report.to_string().contains("passwd"));
    }

    // A shard that an earlier plan made, and one that it covers: the choice would be replaced by itself.
    let mut again = World::new(3);
    let covered = again.ids()[0];
    let Decision::Ready(proven) = again.decision(&again.plan("scheduled")) else { panic!("a plan") };
    again.files.retain(|path, _| *path == covered.path());
    again.files.insert(proven.replacement().id().path(), proven.replacement().bytes().to_vec());
    again.commit();
    let both = again.with_script("module.exports = ({ segments }) => ({ sources: segments.map((s) => s.id) });");
    both.plan("scheduled").assert("nothing_to_do", &["unplannable"]);
}

// DB-9-08
#[test]
fn a_hostile_selection_script_plans_nothing_and_is_over_soon() {
    let head = |world: &World| world.bare.head(BRANCH);
    for (attack, codes) in [
        ("for (;;) {}", &["script-time", "script-cpu"][..]),
        (
            "const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));",
            &["script-memory", "script-died", "script-exited", "script-threw"],
        ),
        ("process.exit(0);", &["script-no-answer"]),
        ("process.exit(9);", &["script-exited"]),
        ("for (;;) process.stdout.write('::error::x\\n'.repeat(1e4));", &["script-output"]),
        (
            "return require('node:net').connect(80, '127.0.0.1') && new Promise(() => {});",
            &["script-threw", "script-exited", "script-time", "script-no-answer"],
        ),
        ("require('node:fs').writeFileSync('/tmp/daybook-was-here', 'x');", &["script-threw"]),
        ("require('node:child_process').execSync('id');", &["script-threw"]),
        ("return { sources: { length: 2 } };", &["script-bad-answer"]),
        ("return JSON.parse('{\"__proto__\":{\"sources\":[]}}');", &["script-bad-answer"]),
        ("throw new Error('::error::' + '\\u202e'.repeat(500));", &["script-threw"]),
    ] {
        let world = World::new(4).with_script(&format!("module.exports = () => {{ {attack} }};"));
        let before = head(&world);
        let begun = Instant::now();
        let outcome = world.plan("scheduled");
        println!("{attack}: {:?} after {:?}", outcome.job.codes(), begun.elapsed());
        assert_eq!(
            (outcome.job.code, &outcome.job.report["outcome"]),
            (0, &"nothing_to_do".into()),
            "{attack}: {}",
            outcome.job.stderr
        );
        assert!(codes.contains(&outcome.job.codes()[0]), "{attack}: {:?}", outcome.job.codes());
        assert!(outcome.plan.is_none() && head(&world) == before, "{attack}");
        let shown = format!("{}{}{}", outcome.job.report, outcome.job.summary, outcome.job.stderr);
        assert!(!shown.contains("::error") && !shown.contains('\u{202e}'), "{attack}: {shown}");
        // The same ledger without the script is planned as ever.
        let plain = World { settings: json!({"min-segments": 2}), ..world };
        plain.plan("scheduled").assert("planned", &[]);
    }
    assert!(!PathBuf::from("/tmp/daybook-was-here").exists());
}
