//! The author's validation script, in a real Node: without its consent nothing lands (§4.1).

use crate::support::{BRANCH, World};

fn world(script: &str) -> World {
    let validation = serde_json::json!({"script": script, "timeout-seconds": 5});
    let world = World::new("sha1").of_files(&format!(r#""validation":{validation}"#));
    world.bare.commit_files(BRANCH, &[("facts.json", b"[1]"), ("old.md", b"x\n")]);
    world
}

const HOLDS: &str = "const { readFileSync } = require('node:fs');
module.exports = ({ files, run }) => {
  if (!files.some((file) => file.path === 'old.md')) throw new Error('old.md is gone');
  console.log('asked about ' + run.memory);
  return Array.isArray(JSON.parse(readFileSync('facts.json', 'utf8')));
};";

// DB-4.1-01, DB-4.1-04
#[test]
fn a_script_sees_the_candidate_and_its_no_keeps_everything_out() {
    let world = world(HOLDS);
    let mut run = world.run();
    run.stage_bytes("facts.json", b"[1,2]").stage_bytes("new.md", b"1\n");
    let outcome = world.persist(&run);
    outcome.assert(0, &[]);
    assert!(outcome.stderr.contains("script: asked about triage"), "{}", outcome.stderr);
    let head = world.bare.head(BRANCH);

    let mut run = world.run();
    run.stage_bytes("facts.json", b"{}");
    let outcome = world.persist(&run);
    outcome.assert(7, &["script-refused"]);
    assert_eq!(world.bare.head(BRANCH), head);
    assert!(outcome.summary.contains("policy"), "{}", outcome.summary);

    let mut run = world.run();
    run.files.remove("old.md");
    let outcome = world.persist(&run);
    assert_eq!(outcome.code, 7, "{}", outcome.report);
    assert!(outcome.report["diagnostics"][0]["message"].as_str().unwrap().contains("old.md is gone"));
    assert_eq!(world.bare.head(BRANCH), head);

    let mut run = world.run();
    run.stage_bytes("facts.json", b"[]");
    world.persist(&run).assert(0, &[]);
    assert_eq!(world.bare.file(BRANCH, "facts.json"), "[]");
}

// DB-4.1-02, DB-4.1-04
#[test]
fn a_script_that_does_not_finish_or_does_not_answer_has_not_consented() {
    for script in [
        "module.exports = () => { for (;;) {} };",
        "module.exports = () => process.exit(0);",
        "process.exit(0);",
        "module.exports = () => new Promise(() => {});",
        "module.exports = () => require('node:fs').writeFileSync('facts.json', '[]');",
        "not javascript at all(",
    ] {
        let world = world(script);
        let head = world.bare.head(BRANCH);
        let mut run = world.run();
        run.stage_bytes("facts.json", b"[2]");
        let outcome = world.persist(&run);
        assert_eq!(outcome.code, 7, "{script}: {}", outcome.report);
        assert_eq!(world.bare.head(BRANCH), head, "{script}");
        assert_eq!(outcome.count("files-persisted"), 0, "{script}");
    }
}

// DB-4.1-04
#[test]
fn without_node_nothing_is_pushed() {
    let world = world(HOLDS);
    let head = world.bare.head(BRANCH);
    let git = std::env::split_paths(&std::env::var_os("PATH").unwrap()).find(|folder| folder.join("git").exists());
    let place = world.folder.path().join("only-git");
    std::fs::create_dir(&place).unwrap();
    for tool in ["git", "sh"] {
        std::os::unix::fs::symlink(git.as_ref().unwrap().join(tool), place.join(tool)).unwrap();
    }
    let mut run = world.run();
    run.stage_bytes("facts.json", b"[2]");
    run.environment = vec![("PATH".to_owned(), place.display().to_string())];
    world.persist(&run).assert(7, &["node-missing"]);
    assert_eq!(world.bare.head(BRANCH), head);
}
