//! `daybook maintain` against a real repository: a look, a rescue, and both jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use daybook_core::baseline::{Baseline, MemoryBaseline};
use daybook_core::shard::checked_lines;
use daybook_core::{Digest, MemoryPath, ShardId};
use daybook_store::staged::Writer;
use daybook_testkit::git::BareRepository;
use daybook_testkit::job::{Job, Outcome};
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;
use daybook_testkit::said;
use serde_json::Value;

const BRANCH: &str = "ledgers/triage";

fn maintain(bare: &BareRepository, options: &[&str]) -> (i32, Value) {
    maintain_at(bare.path(), options)
}

fn maintain_at(memory: &Path, options: &[&str]) -> (i32, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(["maintain", "--format", "json", "--memory"]).arg(memory).args(options);
    let output = said::output(command.env_remove("GITHUB_TOKEN").env_remove("DAYBOOK_TOKEN"));
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

/// A record whose payload is nested deeper than a segment may hold, and which readers take all the same.
fn deep_record() -> Vec<u8> {
    let payload = format!("{}1{}", "[".repeat(31), "]".repeat(31));
    let (head, tail) = (
        format!(r#"{{"id":"ldg-7f5a2681-9f2d-48be-80a3-0e78d2c7cf52","parents":[],"payload":{payload}"#),
        r#","timestamp":"2026-03-01T12:00:01.000Z","type":"note","version":1}"#,
    );
    let sha = Digest::of(format!("{head}{tail}").as_bytes());
    format!("{head},\"sha\":\"{sha}\"{tail}\n").into_bytes()
}

#[test]
fn good_records_that_no_segment_may_hold_stay_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("memory.git"), "sha1");
    let mut random = Random::new(4);
    let torn = [ledgers::record(&mut random, 1, &[], 300).line(), b"\n{\"id\""].concat();
    let deep = [&deep_record()[..], b"no record\n"].concat();
    let shards = [torn, deep].map(|bytes| (ShardId::new(random.uuid()).unwrap(), bytes));
    let files = shards.each_ref().map(|(id, bytes)| (id.path(), bytes.as_slice()));
    bare.commit_files(BRANCH, &files.each_ref().map(|(path, bytes)| (path.as_str(), *bytes)));
    let all = records(&bare);
    assert_eq!(all.len(), 2);
    let (code, done) = maintain(&bare, &["--rescue"]);
    let said = &done["diagnostics"][0];
    assert_eq!((code, &said["code"], &done["counts"]["rescued"]), (0, &"not-rescued".into(), &1.into()), "{done}");
    assert!(said["message"].as_str().unwrap().contains("nested deeper"), "{said}");
    assert_eq!(records(&bare), all);
    assert!(bare.file(BRANCH, &files[1].0).ends_with("no record"), "the shard is as it was");
}

#[test]
fn a_ledger_that_is_not_named_or_not_there_is_not_maintained() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("memory.git"), "sha1");
    let record = ledgers::record(&mut Random::new(1), 1, &[], 300);
    let shard = ShardId::from_digest(&record.sha()).path();
    let content = [record.line(), b"\n"].concat();
    for branch in [BRANCH, "ledgers/notes"] {
        bare.commit_files(branch, &[(shard.as_str(), &content)]);
    }
    let config = folder.path().join("config.json");
    let two = CONFIG.replace("[{", r#"[{"name":"notes"},{"name":"off","compaction":false},{"#);
    std::fs::write(&config, two).unwrap();
    let config = ["--config", config.to_str().unwrap()];
    let memory = folder.path().join("triage");
    std::fs::create_dir_all(memory.join("ledger/shards")).unwrap();
    std::fs::write(memory.join(&shard), &content).unwrap();
    let in_folder = memory.to_str().unwrap();
    let heads = [BRANCH, "ledgers/notes"].map(|branch| bare.head(branch));
    let in_repository = bare.path().to_str().unwrap();
    for (memory, options, code, says) in [
        (
            in_repository,
            &["--apply"][..],
            "ledger-missing",
            "give --ledger NAME; there are: ledgers/notes, ledgers/triage",
        ),
        (in_repository, &config, "ledger-missing", "give --ledger NAME; compacted are: notes, triage"),
        (in_folder, &config, "ledger-missing", "compacted are: notes, triage"),
        (in_folder, &[&config[..], &["--ledger", "other"]].concat(), "ledger-unknown", "no such ledger"),
        (in_folder, &[&config[..], &["--ledger", "off"]].concat(), "compaction-off", "the ledger is not compacted"),
        (
            in_repository,
            &[&config[..], &["--ledger", "other", "--rescue"]].concat(),
            "ledger-unknown",
            "no such ledger",
        ),
        (in_folder, &["--rescue", "--apply"], "rescue-needs-history", "--rescue wants a repository"),
    ] {
        let (exit, said) = maintain_at(Path::new(memory), options);
        let told = &said["diagnostics"][0];
        assert_eq!((exit, &told["code"]), (2, &code.into()), "{said}");
        assert!(told["message"].as_str().unwrap().contains(says), "{said}");
    }
    assert_eq!([BRANCH, "ledgers/notes"].map(|branch| bare.head(branch)), heads);
    assert_eq!(std::fs::read(memory.join(&shard)).unwrap(), content);

    // Without a place for temporary files neither job is started.
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(["maintain", "--format", "json", "--ledger", "triage", "--memory", in_repository]);
    let output = said::output(command.env("TMPDIR", folder.path().join("nowhere")));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &said["diagnostics"][0]["code"]), (Some(74), &"job-not-run".into()), "{said}");
    assert_eq!(maintain_at(Path::new(in_repository), &["--ledger", "triage"]).1["outcome"], "nothing_to_do");
}

const CONFIG: &str = r#"{"version":1,"workflow":"t","ledgers":[{"name":"triage","compaction":{"min-segments":2}}]}"#;

/// A job as a process of its own, with the configuration of one compacted ledger.
fn job(folder: &Path, bare: &BareRepository, name: &str, options: &[&str], files: &[(&str, &[u8])]) -> Job {
    let place = tempfile::tempdir_in(folder).unwrap().keep();
    for (name, content) in files {
        std::fs::write(place.join(name), content).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(["job", name, "--format", "json", "--remote", &bare.url()]).args(options).current_dir(&place);
    Job::start(&mut command, &place, [("DAYBOOK_CONFIG".to_owned(), CONFIG.to_owned())])
}

/// A run that was restored from `base` and leaves one record.
fn persist(folder: &Path, bare: &BareRepository, base: &str, shard: ShardId, line: &[u8]) -> Job {
    let memory = MemoryBaseline {
        id: "triage".to_owned(),
        branch: BRANCH.to_owned(),
        base: base.to_owned(),
        files: BTreeMap::new(),
        records: BTreeSet::new(),
    };
    let baseline = Baseline::new(vec![memory]).to_bytes();
    let mut writer = Writer::new(Vec::new(), "triage");
    writer.add(&MemoryPath::parse(&shard.path()).unwrap(), &[line, b"\n"].concat()).unwrap();
    let (tar, _) = writer.finish(true).unwrap();
    let expected = [format!("baseline.json={}", Digest::of(&baseline)), format!("triage.tar={}", Digest::of(&tar))];
    let options = ["--staged", ".", "--baseline", "baseline.json", "--run-id", "r", "--verdict", "clean"];
    let base = format!("triage={base}");
    let options = [&options[..], &["--base", &base, "--expect", &expected[0], "--expect", &expected[1]]].concat();
    job(folder, bare, "persist", &options, &[("baseline.json", &baseline), ("triage.tar", &tar)])
}

// DB-9-15, DB-5.3-21
#[test]
fn persists_neither_wait_nor_fail_while_plans_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let bare = BareRepository::create(&folder.path().join("memory.git"), "sha1");
    let mut random = Random::new(8);
    let mut all: BTreeSet<Digest> = BTreeSet::new();
    let mut record = |random: &mut Random| {
        let record = ledgers::record(random, all.len(), &[], 300);
        all.insert(record.sha());
        (ShardId::new(random.uuid()).unwrap(), record.line().to_vec())
    };
    let files: Vec<(String, Vec<u8>)> = (0..6)
        .map(|_| record(&mut random))
        .map(|(shard, line)| (shard.path(), [line.as_slice(), b"\n"].concat()))
        .collect();
    let borrowed: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    bare.commit_files(BRANCH, &borrowed);

    let mut applied = 0;
    for _ in 0..4 {
        let base = bare.head(BRANCH).unwrap();
        let plan = ["--ledger", "triage", "--trigger", "requested", "--out", "plan.json"];
        let planning = job(folder.path(), &bare, "maintenance-plan", &plan, &[]);
        let plan = planning.place.join("plan.json");
        planning.finish().assert_named("planned", 0, &[]);
        // All at once, each from the same base.
        let apply = ["--ledger", "triage", "--plan", plan.to_str().unwrap()];
        let apply = job(folder.path(), &bare, "maintenance-apply", &apply, &[]);
        let persists: Vec<Job> = (0..4)
            .map(|_| record(&mut random))
            .map(|(shard, line)| persist(folder.path(), &bare, &base, shard, &line))
            .collect();
        for persisted in persists.into_iter().map(Job::finish) {
            persisted.assert(0, &[]);
            assert_eq!(persisted.count("accepted"), 1, "{}", persisted.report);
        }
        let outcome: Outcome = apply.finish();
        outcome.assert_named("applied", 0, &[]);
        applied += outcome.count("sources");
    }
    assert_eq!(records(&bare), all);
    assert!(applied >= 6 + 3 * 4, "{applied} shards were joined");
}

/// Every record stays readable whenever the machine stops: the replacement is on disk before a source goes, and the folder
/// is synchronised after the last.
// DB-5.4-01, DB-5.4-05, DB-6-05
#[test]
fn a_folder_is_compacted_without_a_moment_in_which_a_record_is_missing() {
    let root = tempfile::tempdir().unwrap();
    let memory = root.path().join("triage");
    let shards = memory.join("ledger/shards");
    std::fs::create_dir_all(&shards).unwrap();
    let mut random = Random::new(21);
    let mut all = BTreeSet::new();
    for number in 0..5 {
        let record = ledgers::record(&mut random, number, &[], 300);
        all.insert(record.sha());
        let id = ShardId::new(random.uuid()).unwrap();
        std::fs::write(shards.join(id.file_name()), [record.line(), b"\n"].concat()).unwrap();
    }
    let there = || -> (usize, BTreeSet<Digest>) {
        let files: Vec<Vec<u8>> =
            std::fs::read_dir(&shards).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
        let lines = files.iter().flat_map(|bytes| checked_lines(bytes)).filter_map(Result::ok);
        (files.len(), lines.map(|line| line.sha()).collect())
    };
    let maintain = |command: &mut Command| -> Value {
        let output = said::output(command.env_remove("DAYBOOK_LEDGER"));
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    };
    let daybook = env!("CARGO_BIN_EXE_daybook");
    let look = maintain(Command::new(daybook).args(["maintain", "--format", "json", "--memory"]).arg(&memory));
    assert_eq!((&look["outcome"], there()), (&"planned".into(), (5, all.clone())), "{look}");

    let trace = root.path().join("trace");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-qq", "-e", "trace=fsync,unlink,unlinkat,renameat2", "-o"]).arg(&trace);
    let done = maintain(traced.args([daybook, "maintain", "--format", "json", "--apply", "--memory"]).arg(&memory));
    assert_eq!((&done["outcome"], there()), (&"applied".into(), (1, all)), "{done}");
    let text = std::fs::read_to_string(&trace).unwrap();
    let folder = format!("<{}>", shards.canonicalize().unwrap().display());
    let steps: Vec<&str> = text
        .lines()
        .filter_map(|line| match line {
            line if line.contains("renameat2(") && line.contains(".pending") => Some("name"),
            line if line.contains("unlink") && line.contains(".jsonl") => Some("delete"),
            line if line.contains("fsync(") && line.contains(&folder) => Some("sync"),
            _ => None,
        })
        .collect();
    assert_eq!(steps, ["name", "sync", "delete", "delete", "delete", "delete", "delete", "sync"], "{text}");
    let again =
        maintain(Command::new(daybook).args(["maintain", "--format", "json", "--apply", "--memory"]).arg(&memory));
    assert_eq!(again["outcome"], "nothing_to_do", "{again}");
}

/// A folder in which something goes wrong between the replacement and the deletions: every record is still there, and the
/// next run finishes.
// DB-5.4-01, DB-5.4-03
#[test]
fn a_folder_that_resists_or_changes_meanwhile_loses_nothing() {
    // Deletions are refused; the answer to the renaming is late, and meanwhile somebody else writes to a source.
    for (inject, code, exit) in
        [("unlink,unlinkat:error=EACCES", "folder-unwritable", 74), ("renameat2:delay_exit=1500000", "not-covered", 3)]
    {
        let root = tempfile::tempdir().unwrap();
        let memory = root.path().join("triage");
        let shards = memory.join("ledger/shards");
        std::fs::create_dir_all(&shards).unwrap();
        let mut random = Random::new(22);
        let lines: Vec<Vec<u8>> =
            (0..6).map(|number| [ledgers::record(&mut random, number, &[], 300).line(), b"\n"].concat()).collect();
        let files: Vec<_> = (0..5).map(|_| shards.join(ShardId::new(random.uuid()).unwrap().file_name())).collect();
        files.iter().zip(&lines).for_each(|(file, line)| std::fs::write(file, line).unwrap());
        let there = || -> (usize, usize) {
            let files = std::fs::read_dir(&shards).unwrap().map(|entry| entry.unwrap().path());
            let files: Vec<Vec<u8>> = files
                .filter(|path| path.extension().unwrap() == "jsonl")
                .map(|path| std::fs::read(path).unwrap())
                .collect();
            let found = files.iter().flat_map(|bytes| checked_lines(bytes)).filter_map(Result::ok);
            (files.len(), found.map(|line| line.sha()).collect::<BTreeSet<Digest>>().len())
        };
        let calls = inject.split_once(':').unwrap().0;
        let mut command = Command::new("strace");
        command.args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            &format!("trace={calls}"),
            "-e",
            &format!("inject={inject}"),
        ]);
        command
            .args([env!("CARGO_BIN_EXE_daybook"), "maintain", "--format", "json", "--apply", "--memory"])
            .arg(&memory);
        let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let changes = code == "not-covered";
        if changes {
            let begun = std::time::Instant::now();
            while there().0 < 6 {
                assert!(begun.elapsed().as_secs() < 60, "no replacement came");
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            std::fs::write(&files[0], [lines[0].as_slice(), &lines[5]].concat()).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        said::keep_output(&output);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &said["diagnostics"][0]["code"]), (Some(exit), &code.into()), "{said}");
        // Five sources as they were, the replacement beside them, and what the other one wrote.
        let records = 5 + usize::from(changes);
        assert_eq!(there(), (6, records), "{said}");
        let (exit, done) = maintain_at(&memory, &["--apply"]);
        assert_eq!((exit, &done["outcome"], there().1), (0, &"applied".into(), records), "{done}");
    }
}
