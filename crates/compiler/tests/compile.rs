//! What sources compile to, and how wrong ones are refused.

use daybook_compiler::{NoFiles, Pins, Problem, compile, compile_config};
use serde_json::Value;

fn refused(frontmatter: &str) -> Vec<Problem> {
    compile_config(&format!("---\n{frontmatter}\n---\nPrompt.\n"), "w.md").expect_err(frontmatter)
}

fn config(frontmatter: &str) -> Value {
    let compiled = compile_config(&format!("---\n{frontmatter}\n---\nPrompt.\n"), "w.md")
        .unwrap_or_else(|problems| panic!("{frontmatter}: {problems:?}"));
    serde_json::from_slice(&compiled.config_bytes).expect("the configuration is JSON")
}

#[test]
fn the_smallest_ledger_gets_every_default() {
    let config = config("tools: {ledger: {triage: {}}}");
    assert_eq!(config["workflow"], "w");
    assert_eq!(config["memories"][0]["branch"], "ledgers/triage");
    assert_eq!(config["ledgers"][0]["max-record-kb"], 32);
    assert_eq!(config["ledgers"][0]["compaction"]["schedule"], "daily");
}

// DB-5.2-22, DB-7-01
#[test]
fn every_key_reaches_the_configuration() {
    let config = config(
        "name: Issue triage\non: {issues: {types: [opened]}}\npermissions: {issues: read}\nengine: claude\n\
         tools:\n  repo-memory:\n    - id: notes\n      branch-name: memory/shared\n      \
         file-glob: '*.md'\n      allowed-extensions: ['.md']\n      max-file-size: 11\n      max-file-count: 12\n      \
         max-patch-size: 13\n      create-orphan: false\n      description: Notes\n      validation: {script: 'x', timeout-minutes: 2}\n    \
         - id: other\n  ledger:\n    triage:\n      memory: notes\n      profile: records\n      schema: {type: object}\n      \
         read-only: true\n      max-shards: 14\n      max-segment-kb: 15\n      max-record-kb: 10\n      max-patch-kb: 17\n      \
         compaction: {schedule: weekly, min-segments: 3, max-segments: 4, script: s}\n    plain:\n      compaction: false\n\
         safe-outputs:\n  ledger-mutation: {max: 5}\n\
         threat-detection:\n  findings: {bad-line: threat}\n  suspicious: refuse\n",
    );
    let expected: Value = serde_json::from_str(
        r#"{"version":1,"workflow":"w","memories":[
          {"id":"notes","branch":"memory/shared","file-glob":["*.md"],"allowed-extensions":[".md"],"max-file-size":11,
           "max-file-count":12,"max-patch-size":13,"create-orphan":false,"description":"Notes","validation":{"script":"x","timeout-seconds":120}},
          {"id":"other","branch":"memory/w-other","file-glob":[],"allowed-extensions":[".json",".jsonl",".txt",".md",".csv"],
           "max-file-size":102400,"max-file-count":100,"max-patch-size":262144,"create-orphan":true},
          {"id":"plain","branch":"ledgers/plain","file-glob":[],"allowed-extensions":[".json",".jsonl",".txt",".md",".csv"],
           "max-file-size":102400,"max-file-count":100,"max-patch-size":262144,"create-orphan":true}],
         "ledgers":[
          {"name":"triage","memory":"notes","profile":"records","schema":{"type":"object"},"read-only":true,"max-shards":14,
           "max-segment-kb":15,"max-record-kb":10,"max-patch-kb":17,
           "compaction":{"schedule":"weekly","min-segments":3,"max-segments":4,"script":"s"}},
          {"name":"plain","memory":"plain","profile":"records","read-only":false,"max-shards":1024,"max-segment-kb":100,
           "max-record-kb":32,"max-patch-kb":256,"compaction":false}],
         "safe-outputs":{"ledger-mutation":{"max":5},"ledger-request-compaction":{"max":1}},
         "detection":{"findings":{"bad-line":"threat"},"suspicious":"refuse"}}"#,
    )
    .expect("the expectation is JSON");
    assert_eq!(config, expected);
}

#[test]
fn memory_branches_come_from_the_workflow() {
    assert_eq!(config("tools: {repo-memory: true}")["memories"][0]["branch"], "memory/w");
    assert_eq!(config("tools: {repo-memory: {id: a}}")["memories"][0]["branch"], "memory/w-a");
    assert_eq!(config("tools: {repo-memory: false}")["memories"], serde_json::json!([]));
}

// DB-7-03
#[test]
fn problems_name_code_place_and_what_is_allowed() {
    // Frontmatter starts on line 2 of the source.
    for (frontmatter, code, line, column, words) in [
        ("tolos: {}", "unknown-key", 2, 1, "did you mean \"tools\"?"),
        ("tools:\n  legder: {}", "unknown-key", 3, 3, "did you mean \"ledger\"?"),
        ("tools:\n  ledger:\n    a:\n      max-shard: 1", "unknown-key", 5, 7, "did you mean \"max-shards\"?"),
        ("tools:\n  ledger:\n    a:\n      max_shards: 1", "unknown-key", 5, 7, "did you mean \"max-shards\"?"),
        ("tools:\n  ledger:\n    a: {max-shards: 5000}", "not-allowed", 4, 21, "1 to 1024"),
        ("tools:\n  ledger:\n    a: {max-shards: '5'}", "wrong-kind", 4, 21, "a whole number"),
        ("tools:\n  ledger:\n    a: {max-shards: 010}", "wrong-kind", 4, 21, "a whole number"),
        ("tools:\n  ledger:\n    a: {max-shards: -1}", "wrong-kind", 4, 21, "a whole number"),
        ("tools:\n  ledger:\n    a: {read-only: yes}", "wrong-kind", 4, 20, "true or false"),
        ("tools:\n  ledger:\n    a: {compaction: true}", "wrong-kind", 4, 21, "false or a map"),
        ("tools:\n  ledger:\n    a: {compaction: {schedule: hourly}}", "not-allowed", 4, 32, "daily, weekly or manual"),
        ("tools:\n  ledger:\n    a: {compaction: {min-segments: 1}}", "not-allowed", 4, 36, "2 to 256"),
        ("tools:\n  ledger:\n    a b: {}", "not-allowed", 4, 5, "letters, digits"),
        ("tools:\n  ledger:\n    a: {}\n    A: {}", "not-allowed", 5, 5, "case"),
        ("tools:\n  ledger:\n    a: {memory: none}", "not-allowed", 4, 17, "id of a memory"),
        ("tools:\n  ledger:\n    a: {profile: tasks}", "not-allowed", 4, 18, "records"),
        ("tools:\n  ledger: true", "wrong-kind", 3, 11, "must be a map"),
        ("tools:\n  repo-memory: yes", "wrong-kind", 3, 16, "true, a map or a list"),
        ("tools:\n  repo-memory:\n    - branch-name: a", "missing-key", 4, 7, "needs an id"),
        ("tools:\n  repo-memory:\n    branch-name: a..b", "not-allowed", 4, 18, ".."),
        ("tools:\n  repo-memory:\n    file-glob: memory/w/*.md", "not-allowed", 4, 16, "without the branch name"),
        ("safe-outputs:\n  ledger-mutations:", "unknown-key", 3, 3, "did you mean \"ledger-mutation\"?"),
        ("safe-outputs:\n  add-comment:", "unsupported-key", 3, 3, "safe-outputs.jobs.add-comment"),
        ("imports: [a.md]", "unsupported-key", 2, 1, "into this file"),
        ("tools:\n  github: {}", "unsupported-key", 3, 3, "mcp-servers"),
        ("tools:\n  repo-memory: {target-repo: o/r}", "unsupported-key", 3, 17, "second token"),
        ("engine: clode", "unsupported-engine", 2, 9, "did you mean \"claude\"?"),
        ("permissions: {contents: write}", "agent-may-not-write", 2, 25, "safe-outputs.jobs"),
        ("permissions: {content: read}", "unknown-key", 2, 15, "did you mean \"contents\"?"),
        ("permissions: {models: write}", "not-allowed", 2, 23, "read or none"),
        ("permissions: read-all", "not-allowed", 2, 14, "name each scope"),
        ("on: pull_request_target", "dangerous-event", 2, 5, "state why"),
        ("on: isues", "unknown-key", 2, 5, "did you mean \"issues\"?"),
        ("steps: [{run: 'echo ${{ github.actor }}'}]", "expression-in-run", 2, 15, "into env"),
        ("steps: [{run: a, env: {T: '${{ github.token }}'}}]", "not-allowed", 2, 27, "token"),
        ("steps: [{uses: ./local}]", "not-allowed", 2, 16, "owner/repository@version"),
        ("roles: [admin]", "not-allowed", 2, 9, "owner, member"),
        ("tools:\n  ledger:\n    a: {max-segment-kb: 100kb}", "wrong-kind", 4, 25, "100KiB"),
        ("tools:\n  ledger:\n    a: {schema: schemas/../../x.json}", "file-unusable", 4, 17, "beside the source"),
        ("threat-detection:\n  findings: {bad-lines: clean}", "not-allowed", 3, 14, "bad-line"),
        ("threat-detection:\n  findings: {bad-line: fine}", "not-allowed", 3, 24, "clean, suspicious or threat"),
        ("threat-detection:\n  suspicious: maybe", "not-allowed", 3, 15, "pass or refuse"),
        ("threat-detection:\n  verdict: clean", "unknown-key", 3, 3, "verdict"),
        (
            "trusted-runs-on: macos-15\ntools: {repo-memory: {validation: {script: x}}}",
            "script-without-sandbox",
            3,
            44,
            "Linux",
        ),
        (
            "trusted-runs-on: [self-hosted, Windows]\ntools: {ledger: {a: {compaction: {script: x}}}}",
            "script-without-sandbox",
            3,
            43,
            "Linux",
        ),
        ("if: a) || (b", "not-allowed", 2, 5, "partner"),
        (
            "safe-outputs:\n  jobs:\n    x:\n      inputs: {t: {type: text}}\n      steps: [{run: x}]",
            "not-allowed",
            5,
            19,
            "choice",
        ),
        (
            "safe-outputs:\n  jobs:\n    x:\n      inputs: {t: {required: 1}}\n      steps: [{run: x}]",
            "wrong-kind",
            5,
            30,
            "true or false",
        ),
        ("safe-outputs:\n  ledger-mutation: {max: 1001}", "not-allowed", 3, 26, "0 to 1000"),
        ("name: [a]", "wrong-kind", 2, 7, "must be a text"),
        ("- a", "wrong-kind", 2, 1, "must be a map"),
        ("a: 1\na: 2", "invalid-yaml", 3, 1, "second time: a"),
    ] {
        let problems = refused(frontmatter);
        let first = &problems[0];
        assert_eq!((first.code, first.line, first.column), (code, line, column), "{frontmatter}\n{first}");
        assert!(first.to_string().contains(words), "{frontmatter}\n{first}");
    }
}

#[test]
fn every_problem_is_told_at_once_in_the_order_of_the_source() {
    let lines: Vec<u64> =
        refused("tools:\n  legder: {}\n  ledger:\n    a: {max-shards: x}\nzzz: 1").iter().map(|p| p.line).collect();
    assert_eq!(lines, [3, 5, 6]);
}

#[test]
fn a_file_name_that_is_no_workflow_name_is_refused() {
    for name in ["a b.md", ".md", "a.b.md", "größe.md"] {
        let problems = compile_config("---\n---\n", name).expect_err(name);
        assert_eq!(problems[0].code, "bad-file-name", "{name}");
    }
}

// DB-7-04
#[test]
fn a_bound_that_the_memory_makes_unreachable_is_told_with_its_place() {
    let source = |patch: u64| {
        format!(
            "---\non: push\nengine: claude\ntools:\n  repo-memory: {{id: m, max-patch-size: 100KiB}}\n  ledger:\n    \
             t: {{memory: m, max-patch-kb: {patch}}}\n---\n"
        )
    };
    let pins = Pins::parse(include_bytes!("../../../testdata/ok/.github/daybook.pins.json")).expect("pins");
    let checked = |patch| compile(&source(patch), "w.md", &NoFiles, &pins).expect("warnings stop nothing");
    assert!(checked(100).warnings().is_empty());
    let told = checked(101);
    let [warning] = told.warnings() else { panic!("{:?}", told.warnings()) };
    assert_eq!((warning.code, warning.line), ("limit-unreachable", 7));
    assert!(warning.to_string().contains("max-patch-size"), "{warning}");
}
