//! What authors see of each fault: the sources of `testdata/err` and the words beside them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use daybook_testkit::codes;
use daybook_testkit::said;
use daybook_testkit::vectors::repository;
use serde_json::{Value, json};

fn daybook(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command.args(args).current_dir(folder);
    for name in ["GITHUB_ACTIONS", "DAYBOOK_PINS", "DAYBOOK_FORMAT", "DAYBOOK_COLOR"] {
        command.env_remove(name);
    }
    said::output(&mut command)
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn testdata(name: &str) -> PathBuf {
    repository().join("testdata").join(name)
}

/// A fresh repository with the pins of the golden sources.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir(home.path().join(".github")).expect("a folder");
    let pins = home.path().join(".github/daybook.pins.json");
    fs::copy(testdata("ok/.github/daybook.pins.json"), pins).expect("pins");
    home
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file");
        }
    }
}

/// Every fixture: a source, or a folder of sources with what lies beside them.
fn fixtures() -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(testdata("err")).expect("testdata").map(|entry| entry.expect("entry").path()).collect();
    found.retain(|path| path.is_dir() || path.extension().is_some_and(|ending| ending == "md"));
    found.sort();
    found
}

#[test]
fn every_fault_is_told_as_its_file_says() {
    let mut codes = BTreeSet::new();
    for fixture in fixtures() {
        let home = home();
        let name = fixture.file_name().expect("a name").to_string_lossy().into_owned();
        let what = if fixture.is_dir() {
            copy(&fixture, home.path());
            "."
        } else {
            fs::copy(&fixture, home.path().join(&name)).expect("a source");
            name.as_str()
        };
        let words = told(&daybook(home.path(), &["compile", what, "--format", "human"]));
        let place = fs::canonicalize(home.path()).expect("a folder");
        let words = words.replace(&place.display().to_string(), "REPOSITORY");
        let out = fixture.with_extension("out");
        if std::env::var_os("DAYBOOK_BLESS").is_some() {
            fs::write(&out, &words).expect("an expectation is written");
        }
        assert_eq!(words, fs::read_to_string(&out).unwrap_or_default(), "{name}");
        let brackets = words.lines().filter_map(|line| Some(line.split_once('[')?.1.split_once("]: ")?.0.to_owned()));
        codes.extend(brackets);
    }
    // The others have tests of their own: those that need a large source, and those about the files of a folder.
    let elsewhere = [
        "file-differs",
        "file-missing",
        "no-sources",
        "prompt-too-large",
        "self-check",
        "source-too-large",
        "stale-file",
        "version-differs",
    ];
    let page = fs::read_to_string(repository().join(codes::PAGE)).expect("the page");
    let section = page.split("\n## ").find(|section| section.starts_with("Workflow sources")).expect("a section");
    let all: BTreeSet<String> = codes::in_page(section).into_iter().map(str::to_owned).collect();
    codes.extend(elsewhere.map(str::to_owned));
    assert_eq!(codes, all);
}

/// What the page for authors shows is what a fixture gives.
#[test]
fn the_documentation_shows_a_fixture() {
    let out = fs::read_to_string(testdata("err/typing-error.out")).expect("an expectation");
    let (_, shown) = out.split_once("\nerror").expect("a problem");
    let page = fs::read_to_string(repository().join("docs/editors.md")).expect("the page");
    assert!(page.contains(&format!("error{}", shown.trim_end())), "{shown}");
}

#[test]
fn a_fault_has_its_place_in_every_form() {
    let home = home();
    fs::copy(testdata("err/typing-error.md"), home.path().join("a.md")).expect("a source");
    let form = |format: &str| told(&daybook(home.path(), &["compile", "a.md", "--format", format]));
    let document: Value = serde_json::from_str(&form("json")).expect("JSON");
    let expected = json!({"code": "unknown-key", "severity": "error", "file": "a.md", "line": 6, "column": 9, "length": 9,
        "message": "tools.ledger.a has no key \"max-shard\"", "hint": "did you mean \"max-shards\"?"});
    assert_eq!(document["diagnostics"], json!([expected]));
    let github = form("github");
    assert!(github.contains("\n::error file=a.md,line=6,col=9,title=unknown-key::tools.ledger.a has"), "{github}");
    let sarif: Value = serde_json::from_str(&form("sarif")).expect("JSON");
    let schema = fs::read(testdata("schemas/sarif-2.1.0.json")).expect("a schema");
    let mut schema: Value = serde_json::from_slice(&schema).expect("JSON");
    for holder in ["run", "toolComponent"] {
        // These patterns have a bracket too many, which no strict reader of patterns takes.
        schema["definitions"][holder]["properties"]["language"].as_object_mut().expect("members").remove("pattern");
    }
    let wrong: Vec<String> = jsonschema::validator_for(&schema)
        .expect("a schema")
        .iter_errors(&sarif)
        .map(|fault| fault.to_string())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region, &json!({"startLine": 6, "startColumn": 9}));
    let coloured = told(&daybook(home.path(), &["compile", "a.md", "--format", "human", "--color", "always"]));
    assert!(coloured.contains("\u{1b}[") && !form("human").contains('\u{1b}'));
}

/// No source is so large, deep or odd that the answer takes long, and a good one compiles right after.
#[test]
fn sources_without_bounds_are_answered_in_bounded_time() {
    let frontmatter = |yaml: &str| format!("---\non: issues\nengine: claude\n{yaml}\n---\n");
    let bomb: String =
        (0..64).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n.max(1) - 1); 64].join(","))).collect();
    for (yaml, code) in [
        ("#".repeat(2 * 1024 * 1024), "source-too-large"),
        (format!("env: {{A: {}", "[".repeat(1_000_000)), "invalid-yaml"),
        (format!("env: [{}]", "1,".repeat(500_000)), "invalid-yaml"),
        (format!("name: {}", "\"\\u0041".repeat(100_000)), "invalid-yaml"),
        (bomb, "invalid-yaml"),
        ((0..9000).map(|n| format!("k{n}: 1\n")).collect(), "unknown-key"),
        (
            format!("tools: {{ledger: {{{}}}}}", (0..4000).map(|n| format!("l{n}: {{x: 1}},")).collect::<String>()),
            "unknown-key",
        ),
        (
            format!("tools: {{ledger: {{{}}}}}", (0..4000).map(|n| format!("l{n}: {{}},")).collect::<String>()),
            "not-allowed",
        ),
    ] {
        let home = home();
        fs::write(home.path().join("a.md"), frontmatter(&yaml)).expect("a source");
        let since = Instant::now();
        let output = daybook(home.path(), &["compile", "a.md", "--format", "human"]);
        let (took, words) = (since.elapsed(), told(&output));
        let start: String = words.chars().take(400).collect();
        assert!(words.contains(&format!("error[{code}]")) && output.status.code() == Some(2), "{code}: {start}");
        assert!(took < Duration::from_secs(60), "{code} took {took:?}");
        fs::write(home.path().join("a.md"), frontmatter("name: Good")).expect("a source");
        assert_eq!(daybook(home.path(), &["compile", "a.md"]).status.code(), Some(0), "{code}");
    }
}

#[test]
fn a_prompt_that_fits_into_no_step_is_refused() {
    let home = home();
    fs::write(home.path().join("a.md"), format!("---\non: issues\nengine: claude\n---\n{}", "x".repeat(100_000)))
        .expect("a source");
    let words = told(&daybook(home.path(), &["compile", "a.md", "--format", "human"]));
    assert!(words.contains("error[prompt-too-large]"), "{words}");
}

/// Neither line ends of Windows nor a mark of the byte order move a place.
#[test]
fn places_are_the_same_whatever_the_line_ends() {
    let source = fs::read_to_string(testdata("err/typing-error.md")).expect("a source");
    let place = |text: &str| {
        let home = home();
        fs::write(home.path().join("a.md"), text).expect("a source");
        let document: Value =
            serde_json::from_str(&told(&daybook(home.path(), &["compile", "a.md", "--format", "json"]))).expect("JSON");
        let first = &document["diagnostics"][0];
        (first["code"].clone(), first["line"].clone(), first["column"].clone())
    };
    let plain = place(&source);
    assert_eq!(plain, (json!("unknown-key"), json!(6), json!(9)));
    assert_eq!(place(&source.replace('\n', "\r\n")), plain);
    assert_eq!(place(&format!("\u{feff}{source}")), plain);
}
