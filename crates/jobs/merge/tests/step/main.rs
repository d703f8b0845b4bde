//! The step as a process: what it merges, packs and refuses, and that it never fails the job.

mod machine;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use daybook_core::baseline::{Baseline, FileBaseline, MemoryBaseline};
use daybook_core::event::MutationEvent;
use daybook_core::record::Draft;
use daybook_core::{Digest, Limits, MemoryPath, Record, RecordId, json};
use daybook_store::staged::{Bounds, read};
use daybook_testkit::hostile;
use daybook_testkit::random::Random;
use daybook_testkit::said;
use serde_json::Value;

const SHARD: &str = "ledger/shards/00000000-0000-4000-8000-000000000001.jsonl";

/// A run of the agent: its folder, its files and the way to call the step.
struct Run {
    folder: tempfile::TempDir,
    safe_outputs: PathBuf,
}

impl Run {
    /// A run whose agent appended `records` to the ledger `triage`.
    fn with(records: &[Record]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = Self { safe_outputs: folder.path().join("outputs.jsonl"), folder };
        fs::write(run.path("config.json"), r#"{"version":1,"workflow":"w","ledgers":[{"name":"triage"}]}"#).unwrap();
        fs::write(run.path("baseline.json"), Baseline::default().to_bytes()).unwrap();
        fs::create_dir_all(run.path("memory/triage/ledger/shards")).unwrap();
        fs::write(run.path("memory/triage").join(SHARD), lines(records)).unwrap();
        fs::write(run.path("log.jsonl"), records.iter().map(event).collect::<String>()).unwrap();
        fs::write(run.path("outputs.jsonl"), "").unwrap();
        run
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the step as its own process with an empty environment; it always ends with 0.
    fn merge(&self) -> Value {
        self.end_of(&self.command())
    }

    fn end_of(&self, command: &Command) -> Value {
        let output = hostile::bounded(command, 600, Duration::from_secs(60));
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        let shown = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(!shown.contains(self.folder.path().to_str().unwrap()), "a path is shown: {shown}");
        serde_json::from_str(&text).unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daybook-merge"));
        command
            .env_clear()
            .arg("--config")
            .arg(self.path("config.json"))
            .arg("--memory-root")
            .arg(self.path("memory"))
            .arg("--baseline")
            .arg(self.path("baseline.json"))
            .arg("--transaction-log")
            .arg(self.path("log.jsonl"))
            .arg("--safe-outputs")
            .arg(&self.safe_outputs)
            .arg("--out")
            .arg(self.path("out"))
            .args(["--format", "json"]);
        command
    }

    fn outputs(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.path("outputs.jsonl")).unwrap()).into_owned()
    }

    fn packed(&self) -> (bool, Vec<(String, Vec<u8>)>) {
        let mut files = Vec::new();
        let tar = fs::File::open(self.path("out/triage.tar")).unwrap();
        let staged = read(tar, "triage", &Bounds::default(), |path, content| files.push((path.to_string(), content)));
        (staged.is_complete(), files)
    }
}

fn record(number: u64) -> Record {
    let id = format!("ldg-00000000-0000-4000-8000-{number:012}");
    let draft = Draft {
        id: RecordId::from_text(id.as_bytes()).unwrap(),
        kind: "note",
        timestamp: "2026-03-01T12:00:01.000Z",
        parents: &[],
        payload: &json::parse(format!("{{\"number\":{number}}}").as_bytes()).unwrap(),
    };
    Record::build(&draft, &Limits::default()).unwrap()
}

fn lines(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| [record.line(), b"\n"].concat()).collect()
}

fn event(record: &Record) -> String {
    format!("{}\n", MutationEvent::for_record(Some("triage"), record, "2026-03-01T12:00:02.000Z").to_line())
}

/// A well-formed line about a record that does not exist.
fn forged(number: u64) -> String {
    event(&record(1)).replace(&record(1).sha().to_string(), &Digest::of(&number.to_be_bytes()).to_string())
}

fn codes(document: &Value) -> Vec<&str> {
    document["diagnostics"].as_array().unwrap().iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect()
}

// DB-5.2-14, DB-5.2-15, DB-5.2-16, DB-5.5-03
#[test]
fn the_log_arrives_in_the_safe_outputs_and_the_memory_in_a_tar_and_a_second_run_changes_nothing() {
    let records = [record(1), record(2)];
    let run = Run::with(&records);
    fs::write(run.path("memory/triage/notes.md"), "hello").unwrap();
    fs::write(run.path("outputs.jsonl"), "{\"type\":\"noop\"}\n{\"type\":\"add_comment\",\"body\":\"x\"}").unwrap();
    fs::set_permissions(run.path("outputs.jsonl"), fs::Permissions::from_mode(0o640)).unwrap();

    let document = run.merge();
    assert_eq!(document["outcome"], "ok");
    assert_eq!(codes(&document), [""; 0]);
    assert_eq!(document["counts"]["entries-merged"], 2);
    assert_eq!(document["counts"]["entries-staged"], 2);
    let expected = format!(
        "{{\"type\":\"noop\"}}\n{{\"type\":\"add_comment\",\"body\":\"x\"}}\n{}{}",
        event(&records[0]),
        event(&records[1])
    );
    assert_eq!(run.outputs(), expected);
    assert_eq!(fs::metadata(run.path("outputs.jsonl")).unwrap().mode() & 0o777, 0o640);
    let (complete, files) = run.packed();
    assert!(complete);
    assert_eq!(files, [(SHARD.to_owned(), lines(&records)), ("notes.md".to_owned(), b"hello".to_vec())]);

    let tar = fs::read(run.path("out/triage.tar")).unwrap();
    let inode = fs::metadata(run.path("outputs.jsonl")).unwrap().ino();
    run.merge();
    assert_eq!(run.outputs(), expected);
    assert_eq!(fs::metadata(run.path("outputs.jsonl")).unwrap().ino(), inode, "the file was not even touched");
    assert_eq!(fs::read(run.path("out/triage.tar")).unwrap(), tar);
}

// DB-5.2-15, DB-9-11
#[test]
fn a_line_forged_in_the_safe_outputs_suppresses_nothing() {
    let records = [record(1)];
    let run = Run::with(&records);
    let forged_line = event(&records[0]).replace("\"note\"", "\"lie\"");
    fs::write(run.path("outputs.jsonl"), &forged_line).unwrap();
    let document = run.merge();
    assert_eq!(document["counts"]["safe-output-lines-replaced"], 1);
    assert_eq!(run.outputs(), event(&records[0]));
}

/// CASES 41: forged lines keep no true one out.
// DB-5.2-19, DB-5.2-20, DB-9-11, DB-10-10
#[test]
fn a_thousand_forged_lines_first_displace_no_true_one() {
    let records = [record(1), record(2), record(3)];
    let run = Run::with(&records);
    let mut log: String = (0..1500).map(forged).collect();
    // A forged line about a true record, before the true line.
    log.push_str(&event(&records[0]).replace("\"note\"", "\"lie\""));
    log.extend(records.iter().map(event));
    fs::write(run.path("log.jsonl"), log).unwrap();

    let document = run.merge();
    assert_eq!(codes(&document), ["log-lines-dropped"]);
    assert_eq!(document["counts"]["entries-merged"], 1000);
    assert_eq!(document["counts"]["entries-staged"], 3);
    assert_eq!(document["counts"]["log-duplicates"], 1);
    assert_eq!(document["counts"]["log-over-bound"], 503);
    let outputs = run.outputs();
    for record in &records {
        assert_eq!(outputs.matches(&event(record)).count(), 1, "the true line is there once");
    }
    assert!(!outputs.contains("\"lie\""));
}

#[test]
fn records_that_were_restored_confirm_no_claim() {
    let old = [record(1)];
    let run = Run::with(&old);
    let shard = lines(&old);
    let files =
        [(MemoryPath::parse(SHARD).unwrap(), FileBaseline { sha256: Digest::of(&shard), bytes: shard.len() as u64 })];
    let memory = MemoryBaseline {
        id: "triage".to_owned(),
        branch: "ledgers/triage".to_owned(),
        base: "a".repeat(40),
        files: files.into(),
        records: [old[0].sha()].into(),
    };
    fs::write(run.path("baseline.json"), Baseline::new(vec![memory]).to_bytes()).unwrap();
    let document = run.merge();
    assert_eq!((&document["counts"]["entries-merged"], &document["counts"]["entries-staged"]), (&1.into(), &0.into()));
}

// DB-5.2-17, DB-5.2-20, DB-5.2-21
#[test]
fn whatever_stands_in_place_of_the_log_the_rest_goes_on() {
    for (attack, code) in [
        ("missing", "log-missing"),
        ("folder", "log-not-regular"),
        ("link", "log-not-regular"),
        ("pipe", "log-not-regular"),
        ("noise", "log-lines-dropped"),
        ("blank", "log-too-long"),
        ("long", "log-too-long"),
    ] {
        let records = [record(1)];
        let run = Run::with(&records);
        let log = run.path("log.jsonl");
        fs::write(run.path("outputs.jsonl"), "{\"type\":\"noop\"}\n").unwrap();
        fs::rename(&log, run.path("elsewhere")).unwrap();
        match attack {
            "folder" => fs::create_dir(&log).unwrap(),
            "link" => symlink(run.path("elsewhere"), &log).unwrap(),
            "pipe" => rustix::fs::mkfifoat(rustix::fs::CWD, &log, rustix::fs::Mode::RUSR).unwrap(),
            "noise" => fs::write(&log, b"\xff\xfe\n{\"type\":\n[]\n").unwrap(),
            "blank" => fs::write(&log, vec![b'\n'; 64 << 20]).unwrap(),
            "long" => {
                let padding = format!("{{\"x\":\"{}\"}}\n", "y".repeat(1000)).repeat(5000);
                fs::write(&log, format!("{}{padding}{}", event(&records[0]), event(&record(2)))).unwrap();
            }
            _ => {}
        }
        let document = run.merge();
        assert_eq!(codes(&document), [code], "{attack}");
        if attack == "noise" {
            let message = document["diagnostics"][0]["message"].as_str().unwrap();
            assert!(message.starts_with("3 lines") && message.contains("1 not UTF-8, 2 no event"), "{message}");
        }
        let merged = if attack == "long" { event(&records[0]) } else { String::new() };
        assert_eq!(run.outputs(), format!("{{\"type\":\"noop\"}}\n{merged}"), "{attack}");
        assert_eq!(run.packed().1[0].1, lines(&records), "{attack}: the memory is packed all the same");

        // The next good run is as if nothing had been.
        let _ = fs::remove_file(&log).or_else(|_| fs::remove_dir(&log));
        fs::rename(run.path("elsewhere"), &log).unwrap();
        assert_eq!(codes(&run.merge()), [""; 0], "{attack}");
        assert_eq!(run.outputs(), format!("{{\"type\":\"noop\"}}\n{}", event(&records[0])), "{attack}");
    }
}

#[test]
fn whatever_stands_in_place_of_the_safe_outputs_the_job_goes_on() {
    for (attack, code, written) in [
        ("missing", "safe-outputs-missing", true),
        ("folder", "safe-outputs-not-regular", false),
        ("link", "safe-outputs-not-regular", false),
        ("pipe", "safe-outputs-not-regular", false),
        ("long", "safe-outputs-too-long", false),
        ("blank", "", true),
        ("bytes", "safe-outputs-not-utf8", true),
    ] {
        let records = [record(1)];
        let run = Run::with(&records);
        let outputs = run.path("outputs.jsonl");
        fs::remove_file(&outputs).unwrap();
        fs::write(run.path("victim"), "untouched").unwrap();
        match attack {
            "folder" => fs::create_dir(&outputs).unwrap(),
            "link" => symlink(run.path("victim"), &outputs).unwrap(),
            "pipe" => rustix::fs::mkfifoat(rustix::fs::CWD, &outputs, rustix::fs::Mode::RUSR).unwrap(),
            "long" => {
                fs::File::create(&outputs).unwrap().set_len(daybook_runner::files::MAX_SAFE_OUTPUT_BYTES + 1).unwrap()
            }
            "blank" => fs::write(&outputs, vec![b'\n'; 32 << 20]).unwrap(),
            "bytes" => fs::write(&outputs, b"\xff\xfe").unwrap(),
            _ => {}
        }
        let before = fs::symlink_metadata(&outputs).map(|metadata| metadata.ino()).ok();
        let document = run.merge();
        let expected: Vec<&str> = Some(code).filter(|code| !code.is_empty()).into_iter().collect();
        assert_eq!(codes(&document), expected, "{attack}");
        assert_eq!(fs::read_to_string(run.path("victim")).unwrap(), "untouched");
        if written {
            let text = fs::read(&outputs).unwrap();
            assert!(text.ends_with(event(&records[0]).as_bytes()), "{attack}");
        } else {
            assert_eq!(fs::symlink_metadata(&outputs).map(|metadata| metadata.ino()).ok(), before, "{attack}");
        }
        assert!(run.packed().0, "{attack}: the memory is packed all the same");
    }
}

/// CASES 23: configuration of git in a staged folder is never read.
// DB-8-02, DB-9-07
#[test]
fn a_hostile_folder_is_packed_without_what_is_hostile() {
    let run = Run::with(&[record(1)]);
    fs::write(run.path("victim"), "secret").unwrap();
    symlink(run.path("victim"), run.path("memory/triage/link")).unwrap();
    fs::create_dir(run.path("memory/triage/.git")).unwrap();
    fs::write(run.path("memory/triage/.git/config"), "[core]\n\tfsmonitor = touch pwned\n").unwrap();
    fs::create_dir(run.path("out")).unwrap();
    symlink(run.path("victim"), run.path("out/triage.tar")).unwrap();

    let document = run.merge();
    assert_eq!(codes(&document), ["entries-refused"]);
    assert_eq!(document["counts"]["triage-refused"], 2);
    assert_eq!(fs::read_to_string(run.path("victim")).unwrap(), "secret");
    let (complete, files) = run.packed();
    assert!(complete, "what was refused is named, so nothing is mistaken for deleted");
    assert_eq!(files.len(), 1);
}

#[test]
fn a_missing_memory_or_configuration_is_a_warning() {
    let run = Run::with(&[record(1)]);
    fs::remove_dir_all(run.path("memory")).unwrap();
    let document = run.merge();
    assert_eq!(codes(&document), ["pack-incomplete"]);
    assert_eq!(run.packed(), (false, Vec::new()));

    let run = Run::with(&[record(1)]);
    fs::write(run.path("config.json"), "{}").unwrap();
    assert_eq!(codes(&run.merge()), ["config-invalid"]);
    fs::remove_file(run.path("config.json")).unwrap();
    assert_eq!(codes(&run.merge()), ["config-unreadable"]);
    assert_eq!(run.outputs(), "");

    let run = Run::with(&[record(1)]);
    fs::write(run.path("baseline.json"), "?").unwrap();
    assert_eq!(codes(&run.merge()), ["baseline-unusable"]);
    assert_eq!(run.outputs(), event(&record(1)));
}

#[test]
fn wrong_arguments_are_a_mistake_of_the_workflow() {
    let output = said::output(Command::new(env!("CARGO_BIN_EXE_daybook-merge")).env_clear().arg("--nonsense"));
    assert_eq!(output.status.code(), Some(2));
}

/// §5.2: the step never fails, whatever the agent left.
// DB-5.2-21
#[test]
fn random_damage_is_a_warning_in_bounded_time_and_memory() {
    let records = [record(1), record(2), record(3)];
    let run = Run::with(&records);
    fs::write(run.path("outputs.jsonl"), "{\"type\":\"noop\"}\n").unwrap();
    let files = [
        "log.jsonl",
        "outputs.jsonl",
        "baseline.json",
        "memory/triage/ledger/shards/00000000-0000-4000-8000-000000000001.jsonl",
    ];
    let good: Vec<Vec<u8>> = files.iter().map(|file| fs::read(run.path(file)).unwrap()).collect();
    let mut random = Random::new(12);
    for _ in 0..150 {
        for (file, bytes) in files.iter().zip(&good) {
            let damaged = if random.below(2) == 0 { hostile::mutated(&mut random, bytes) } else { bytes.clone() };
            fs::write(run.path(file), damaged).unwrap();
        }
        let document = run.merge();
        assert_eq!(document["outcome"], "ok");
        for line in run.outputs().lines().filter(|line| line.starts_with("{\"ledger\":")) {
            assert!(MutationEvent::parse(line.as_bytes()).is_ok(), "{line}");
        }
    }
    for (file, bytes) in files.iter().zip(&good) {
        fs::write(run.path(file), bytes).unwrap();
    }
    assert_eq!(run.merge()["counts"]["entries-staged"], 3);
}
