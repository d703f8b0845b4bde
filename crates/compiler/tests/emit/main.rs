//! Compiled workflows: goldens, refusals, and the self-check against every single widening.
#![expect(clippy::disallowed_methods, reason = "a test reads its files")]

mod widen;

use std::fs;
use std::path::{Path, PathBuf};

use daybook_compiler::audit::audit;
use daybook_compiler::{Checked, Files, MAINTENANCE_FILE, NoFiles, Pins, compile, maintenance};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

struct Beside(PathBuf);

impl Files for Beside {
    fn read(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.0.join(name)).map_err(|error| error.to_string())
    }
}

fn pins(folder: &Path) -> Pins {
    Pins::parse(&fs::read(folder.join(".github/daybook.pins.json")).expect("a pins file")).expect("valid pins")
}

/// What a folder compiles to: file names and texts.
fn compiled(folder: &Path) -> Vec<(String, String)> {
    let mut sources: Vec<_> =
        fs::read_dir(folder).expect("testdata").map(|entry| entry.expect("entry").path()).collect();
    sources.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    sources.sort();
    let pins = pins(folder);
    let all: Vec<Checked> = sources
        .iter()
        .map(|path| {
            let name = path.file_name().expect("name").to_string_lossy().into_owned();
            let text = fs::read_to_string(path).expect("source");
            compile(&text, &name, &Beside(folder.to_owned()), &pins)
                .unwrap_or_else(|problems| panic!("{name}: {problems:?}"))
        })
        .collect();
    let lock = |checked: &Checked| checked.file_name().replace(".md", ".lock.yml");
    let mut files: Vec<_> = all.iter().map(|checked| (lock(checked), checked.text().to_owned())).collect();
    let maintenance = maintenance(&all, &pins).expect("maintenance");
    files.extend(maintenance.map(|text| (MAINTENANCE_FILE.to_owned(), text)));
    files
}

#[test]
fn every_golden_is_what_its_source_compiles_to() {
    for folder in ["ok", "ok-source"].map(testdata) {
        for (name, text) in compiled(&folder) {
            let path = folder.join(&name);
            if std::env::var_os("DAYBOOK_BLESS").is_some() {
                fs::write(&path, &text).expect("a golden is written");
            }
            let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(golden == text, "{name} differs; run daybook compile on its folder and look at the difference");
            assert!(!text.contains("example.com"), "no host of ours");
        }
    }
}

// DB-B-11
#[test]
fn compiling_again_and_in_another_order_gives_the_same_bytes() {
    let folder = testdata("ok");
    assert_eq!(compiled(&folder), compiled(&folder));
}

#[test]
fn without_pins_for_daybook_nothing_is_emitted() {
    let problems =
        compile("---\non: issues\nengine: claude\n---\n", "a.md", &NoFiles, &Pins::default()).expect_err("no tools");
    assert_eq!(problems[0].code, "tools-not-pinned");
}

/// The artifact service of a server of one's own takes the third version of its actions, which has no `overwrite`.
#[test]
fn a_server_of_ones_own_gets_actions_that_it_has() {
    let text = fs::read_to_string(testdata("ok/.github/daybook.pins.json")).expect("a pins file");
    let pins = |server: &str| {
        let text = text.replacen("\"version\": 1,", &format!("\"version\": 1, \"server\": \"{server}\","), 1);
        Pins::parse(text.as_bytes()).expect("valid pins")
    };
    let source = fs::read_to_string(testdata("ok/smallest.md")).expect("a source");
    let compiled = |server| compile(&source, "a.md", &NoFiles, &pins(server)).expect("it compiles").text().to_owned();
    let (ours, theirs) = (compiled("github"), compiled("ghes"));
    assert!(ours.contains("overwrite: true") && !ours.contains("artifact@c6a366c9"));
    assert!(theirs.contains("# v3.2.2") && theirs.contains("# v3.1.0") && !theirs.contains("overwrite"), "{theirs}");
    assert!(!theirs.contains("# v6") && !theirs.contains("# v7"), "{theirs}");
}

/// A job of a runner with macOS installs by the digest of its own archive.
#[test]
fn every_platform_of_a_release_is_bound_by_its_digest() {
    let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
    let archives = format!(r#"{{"linux-x64":"{}","macos-arm64":"{}"}}"#, digest("1"), digest("3"));
    let pins = format!(r#"{{"version":1,"daybook":{{"repository":"o/d","tag":"v1.0.0","archives":{archives}}}}}"#);
    let pins = Pins::parse(pins.as_bytes()).expect("valid pins");
    let source = fs::read_to_string(testdata("ok/smallest.md")).expect("a source");
    let text = compile(&source, "a.md", &NoFiles, &pins).expect("it compiles").text().to_owned();
    assert!(text.contains(&format!("DAYBOOK_SHA256_MACOS_ARM64: '{}'", "3".repeat(64))), "{text}");
    assert!(!text.contains("DAYBOOK_SHA256_MACOS_X64: "), "{text}");
}

// DB-5.3-01
#[test]
fn one_ledger_in_two_workflows_is_one_pair_or_an_error() {
    let pins = pins(&testdata("ok"));
    let source = |shards: u64| {
        format!("---\non: push\nengine: claude\ntools: {{ledger: {{t: {{max-shards: {shards}}}}}}}\n---\n")
    };
    let checked = |name: &str, shards| compile(&source(shards), name, &NoFiles, &pins).expect(name);
    let both = maintenance(&[checked("a.md", 5), checked("b.md", 5)], &pins).expect("alike").expect("one pair");
    assert_eq!(both.matches("ledger_compaction_plan_t:").count(), 1);
    let problems = maintenance(&[checked("a.md", 5), checked("b.md", 6)], &pins).expect_err("not alike");
    assert_eq!(problems[0].code, "ledger-conflict");
}

#[test]
fn no_text_of_an_author_is_an_expression() {
    let (_, text) =
        compiled(&testdata("ok")).into_iter().find(|(name, _)| name == "everything.lock.yml").expect("golden");
    for line in text.lines().filter(|line| line.contains("A prompt that holds") || line.contains("not an expression")) {
        assert!(!line.contains("${{"), "{line}");
    }
    assert!(text.contains("%DAYBOOK-DOLLAR%{{ secrets.AGENT_KEY }} and $PATH"));
}

// DB-3-01, DB-B-10
#[test]
fn what_is_compiled_is_sound() {
    for folder in ["ok", "ok-source"].map(testdata) {
        for (name, text) in compiled(&folder) {
            let audit = audit(&text).expect("a workflow");
            let errors: Vec<_> = audit.findings.iter().filter(|finding| finding.is_error()).collect();
            assert!(audit.is_compiled && errors.is_empty(), "{name}: {errors:?}");
            assert!(audit.grants.iter().all(|grant| grant.reason.is_some()), "{name}: {:?}", audit.grants);
        }
    }
}

// DB-4.2-02
#[test]
fn the_script_that_selects_is_in_the_part_of_the_plan_job_and_in_no_other() {
    let words = "Every segment but the largest one";
    assert!(fs::read_to_string(testdata("ok/scripts/select.mjs")).expect("the script").contains(words));
    let mut holders = Vec::new();
    for (file, text) in compiled(&testdata("ok")) {
        let workflow: serde_yaml::Value = serde_yaml::from_str(&text).expect("YAML");
        for (job, content) in workflow["jobs"].as_mapping().expect("jobs") {
            let configurations = content["steps"].as_sequence().into_iter().flatten();
            let mut configurations = configurations.filter_map(|step| step["env"]["DAYBOOK_CONFIG"].as_str());
            if configurations.any(|text| text.contains(words)) {
                holders.push((file.clone(), job.as_str().unwrap_or_default().to_owned()));
            }
        }
    }
    assert_eq!(holders, [(MAINTENANCE_FILE.to_owned(), "ledger_compaction_plan_notes-log".to_owned())]);
}

// DB-5.2-14, DB-5.2-15
#[test]
fn the_transaction_log_is_a_file_of_its_own() {
    for (file, text) in compiled(&testdata("ok")).iter().filter(|(file, _)| file != MAINTENANCE_FILE) {
        let workflow: serde_yaml::Value = serde_yaml::from_str(text).expect("YAML");
        let steps = workflow["jobs"]["agent"]["steps"].as_sequence().expect("steps");
        let outputs = steps.iter().filter_map(|step| step["env"]["DAYBOOK_SAFE_OUTPUTS"].as_str());
        let mut outputs = outputs.chain(workflow["jobs"]["agent"]["env"]["DAYBOOK_SAFE_OUTPUTS"].as_str());
        assert!(outputs.all(|path| path.ends_with("/safe-outputs.jsonl")), "{file}");
        let runs: String = steps.iter().filter_map(|step| step["run"].as_str()).collect();
        let logs = runs.split("--transaction-log").skip(1).collect::<Vec<_>>();
        assert_eq!(logs.len(), 2, "{file}: served and merged");
        for log in logs {
            let path = log.split("jsonl").next().unwrap_or_default();
            assert!(path.ends_with("/transaction-log."), "{file}: {path}");
        }
    }
}

/// The workflow that a request for compaction starts takes exactly what the request says.
// DB-5.3-02
#[test]
fn maintenance_offers_the_operation_that_safe_outputs_ask_for() {
    let files = compiled(&testdata("ok"));
    let (_, text) = files.iter().find(|(name, _)| name == MAINTENANCE_FILE).expect("golden");
    let workflow: serde_yaml::Value = serde_yaml::from_str(text).expect("YAML");
    let inputs = &workflow["on"]["workflow_dispatch"]["inputs"];
    let names: Vec<_> = inputs.as_mapping().expect("inputs").keys().filter_map(|key| key.as_str()).collect();
    assert_eq!(names, ["operation", "ledger"]);
    assert_eq!(inputs["operation"]["type"], "choice");
    assert_eq!(
        inputs["operation"]["options"],
        serde_yaml::from_str::<serde_yaml::Value>("[compact_ledger, plan_ledger]").unwrap()
    );
    let apply = workflow["jobs"]["ledger_compaction_apply_notes"]["if"].as_str().expect("a condition");
    assert!(apply.contains("inputs.operation == 'compact_ledger'"), "{apply}");
}

#[test]
fn a_request_about_an_unknown_ledger_fails() {
    let files = compiled(&testdata("ok"));
    let (_, text) = files.iter().find(|(name, _)| name == MAINTENANCE_FILE).expect("golden");
    let workflow: serde_yaml::Value = serde_yaml::from_str(text).expect("YAML");
    let step = &workflow["jobs"]["check_ledger"]["steps"][0];
    let check = |ledger: &str| {
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", step["run"].as_str().expect("a script")]).env("DAYBOOK_LEDGERS", "notes notes-log");
        bash.env("DAYBOOK_LEDGER", ledger).output().expect("bash runs").status.code()
    };
    for known in ["notes", "notes-log"] {
        assert_eq!(check(known), Some(0), "{known}");
    }
    for unknown in ["Notes", "note", "notes notes-log", "*", "", " notes", "$(exit 0)"] {
        assert_eq!(check(unknown), Some(2), "{unknown:?}");
    }
}

#[test]
fn the_check_does_not_hang_on_the_line_that_names_the_compiler() {
    let (_, text) =
        compiled(&testdata("ok")).into_iter().find(|(name, _)| name == "smallest.lock.yml").expect("golden");
    let (_, rest) = text.split_once('\n').expect("lines");
    let audit = audit(&rest.replace("      contents: write", "      packages: write")).expect("a workflow");
    assert!(audit.is_compiled && audit.findings.iter().any(|finding| finding.code == "right-too-many"));
}

#[test]
fn what_is_no_workflow_is_refused() {
    for text in ["", "a: 1", "jobs: 1", "jobs: {a: 1}\njobs: {}", "jobs: !x {}", ": :", "jobs:\n  a:\n    <<: {}\n"] {
        assert!(audit(text).is_err(), "{text:?}");
    }
}
