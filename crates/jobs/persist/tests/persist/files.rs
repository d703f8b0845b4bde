//! Ordinary files of a memory: what lands, what is merged, and what is set aside by name.

use crate::support::{BRANCH, World, record};

fn world(files: &[(&str, &[u8])], members: &str) -> World {
    let world = World::new("sha1").of_files(members);
    world.bare.commit_files(BRANCH, files);
    world
}

const PLAIN: &str = r#""create-orphan":true"#;

fn listing(world: &World) -> Vec<String> {
    world.bare.listing(BRANCH)
}

// DB-3-05, DB-5.5-01
#[test]
fn files_and_records_land_in_one_commit_and_a_second_time_nothing_happens() {
    let world = World::new("sha1");
    world.bare.commit_files(BRANCH, &[("note.md", b"old\n"), ("gone.md", b"x\n"), ("same.md", b"same\n")]);
    let mut run = world.run();
    run.stage(1, &[record(1, &[])]).stage_bytes("note.md", b"new\n").stage_bytes("deep/other.json", b"{}");
    run.files.remove("gone.md");
    let outcome = world.persist(&run);
    outcome.assert(0, &[]);
    assert_eq!((outcome.count("accepted"), outcome.count("files-persisted"), outcome.count("commits")), (1, 3, 1));
    let files = listing(&world);
    assert!(files.contains(&"100644 deep/other.json".to_owned()) && files.contains(&"100644 same.md".to_owned()));
    assert!(!files.iter().any(|file| file.ends_with("gone.md")), "{files:?}");
    assert_eq!(world.bare.file(BRANCH, "note.md"), "new");
    assert_eq!(world.ledger().len(), 1);
    assert!(outcome.summary.contains("| added | 1 | deep"), "{}", outcome.summary);
    let message = world.bare.git(&["log", "-1", "--format=%s", BRANCH]);
    assert_eq!(message, "Persist 1 records of ledger triage and 3 files of memory triage");
    let head = world.bare.head(BRANCH);
    let again = world.persist(&run);
    again.assert(0, &[]);
    assert_eq!((again.count("files-persisted"), again.count("commits")), (0, 0));
    assert_eq!(world.bare.head(BRANCH), head);
}

/// CASES 28: both sides changed one file.
// DB-B-07
#[test]
fn two_runs_that_changed_one_file_lose_nothing() {
    let base: &[u8] = b"a\nb\nc\nd\ne\n";
    let world = world(&[("notes.md", base), ("log.jsonl", b"1\n"), ("same.md", b"x\n")], PLAIN);
    let (mut one, mut other) = (world.run(), world.run());
    one.stage_bytes("notes.md", b"A\nb\nc\nd\ne\n")
        .stage_bytes("log.jsonl", b"1\n2\n")
        .stage_bytes("same.md", b"one\n");
    other
        .stage_bytes("notes.md", b"a\nb\nc\nd\nE\n")
        .stage_bytes("log.jsonl", b"1\n3\n")
        .stage_bytes("same.md", b"other\n");
    other.id = "other 7";
    world.persist(&one).assert(0, &[]);
    let outcome = world.persist(&other);
    outcome.assert(0, &["file-kept-twice"]);
    assert_eq!(world.bare.file(BRANCH, "notes.md"), "A\nb\nc\nd\nE");
    assert_eq!(world.bare.file(BRANCH, "log.jsonl"), "1\n2\n3");
    assert_eq!(world.bare.file(BRANCH, "same.md"), "one");
    assert_eq!(world.bare.file(BRANCH, "same.conflict-other-7.md"), "other");
    let files = listing(&world);
    world.persist(&other).assert(0, &[]);
    assert_eq!(listing(&world), files, "a repeated job keeps nothing a third time");
}

// DB-B-08
#[test]
fn a_deletion_is_believed_only_from_a_complete_tar_and_never_against_an_edit() {
    let world = world(&[("a.md", b"a\n"), ("b.md", b"b\n")], PLAIN);
    let mut run = world.run();
    run.files.clear();
    run.complete = false;
    world.persist(&run).assert(0, &["staged-incomplete"]);
    assert_eq!(listing(&world).len(), 2);
    run.complete = true;
    let mut editor = world.run();
    editor.stage_bytes("a.md", b"edited\n");
    world.persist(&editor).assert(0, &[]);
    let outcome = world.persist(&run);
    outcome.assert(0, &[]);
    assert_eq!(listing(&world), ["100644 a.md"]);
    assert_eq!(world.bare.file(BRANCH, "a.md"), "edited");
    // The other way round the edit comes back.
    let mut editor = world.run();
    let mut remover = world.run();
    remover.files.clear();
    world.persist(&remover).assert(0, &[]);
    editor.stage_bytes("a.md", b"edited again\n");
    world.persist(&editor).assert(0, &[]);
    assert_eq!(world.bare.file(BRANCH, "a.md"), "edited again");
}

/// CASES 16: one file too large costs that file and nothing else. CASES 4: the refusal names limit and key.
#[test]
fn what_the_policy_refuses_is_set_aside_by_name_and_the_rest_lands() {
    let world = world(
        &[("old.md", b"x\n")],
        r#""max-file-size":100,"max-file-count":7,"max-patch-size":110,"allowed-extensions":[".md",".json"]"#,
    );
    let mut run = world.run();
    run.stage_bytes("a-large.md", &[b'x'; 101])
        .stage_bytes("b.sh", b"exit\n")
        .stage_bytes("c.md", b"fits\n")
        .stage_bytes("C.MD", b"the same name\n")
        .stage_bytes("con.md", b"a device\n")
        .stage_bytes("2026-07-01T10:00:00Z.json", b"{}\n")
        .stage_bytes("y-patch.md", &[b'y'; 99])
        .stage_bytes("z.md", b"small\n")
        .stage_bytes("z2.md", b"small\n");
    let outcome = world.persist(&run);
    assert_eq!(outcome.code, 8, "{}", outcome.report);
    for code in ["name-not-portable", "name-taken", "allowed-extensions", "max-file-size", "max-patch-size"] {
        assert!(outcome.codes().contains(&code), "{code}: {:?}", outcome.codes());
    }
    // CASES 37: a name that an artifact upload refuses survives the run.
    let files = listing(&world);
    assert!(files.contains(&"100644 2026-07-01T10:00:00Z.json".to_owned()), "{files:?}");
    assert!(files.contains(&"100644 z.md".to_owned()) && !files.iter().any(|file| file.contains("large")), "{files:?}");
    let told = outcome.report["diagnostics"].as_array().unwrap();
    let told = told.iter().find(|one| one["code"] == "max-file-size").unwrap();
    assert_eq!(told["files"][0], "a-large.md");
    assert!(told["message"].as_str().unwrap().contains("raise that"), "{told}");
    // The next run can land what this one could not.
    let mut next = world.run();
    next.stage_bytes("y-patch.md", &[b'y'; 99]);
    assert_eq!(world.persist(&next).code, 0);
    let mut crowd = world.run();
    crowd.stage_bytes("q1.md", b"1\n").stage_bytes("q2.md", b"2\n");
    assert!(world.persist(&crowd).codes().contains(&"max-file-count"));
    assert_eq!(listing(&world).len(), 7);
}

/// CASES 10: patterns that take nothing are an error that names them.
#[test]
fn patterns_that_match_nothing_fail_the_job() {
    let world = world(&[("a.json", b"1\n")], r#""file-glob":["facts/*.json"]"#);
    let head = world.bare.head(BRANCH);
    let mut run = world.run();
    run.stage_bytes("a.json", b"2\n").stage_bytes("b.json", b"2\n");
    let outcome = world.persist(&run);
    outcome.assert(8, &["file-glob", "no-file-matched"]);
    let message = outcome.report["diagnostics"][1]["message"].as_str().unwrap();
    assert!(message.contains("0 of 2 changed files"), "{message}");
    assert_eq!(world.bare.head(BRANCH), head);
    run.stage_bytes("facts/c.json", b"3\n");
    world.persist(&run).assert(8, &["file-glob"]);
    assert_eq!(world.bare.file(BRANCH, "facts/c.json"), "3");
}

/// CASES 3: a memory far over one run's bound takes a small change all the same.
#[test]
fn a_large_memory_takes_a_small_change() {
    let text = "a line of some length\n".repeat(3000);
    let world = world(&[("big.md", text.as_bytes()), ("big2.md", text.as_bytes())], r#""max-patch-size":1000"#);
    let mut run = world.run();
    run.stage_bytes("big.md", format!("{text}one more\n").as_bytes());
    world.persist(&run).assert(0, &[]);
    assert!(world.bare.file(BRANCH, "big.md").ends_with("one more"));
}

/// CASES 8, 23: what a run restores is data: no execute bit, and nothing that git or a forge reads.
// DB-B-09
#[test]
fn nothing_that_acts_gets_onto_the_branch() {
    let world = World::new("sha1").of_files(r#""allowed-extensions":[]"#);
    let (blob, oid) = (world.bare.blob(b"#!/bin/sh\n"), world.bare.blob(b"x\n"));
    let tree = world.bare.tree(&[("100755", "blob", &blob, "run.sh"), ("100644", "blob", &oid, "x.md")]);
    world.bare.commit_tree(BRANCH, &tree);
    let mut run = world.run();
    run.stage_bytes("run.sh", b"#!/bin/sh\nexit\n");
    world.persist(&run).assert(0, &[]);
    assert_eq!(listing(&world)[0], "100644 run.sh");
    // The tar's own reader refuses what no memory file may be named.
    let mut tar = tar::Builder::new(Vec::new());
    for name in ["files/.git/config", "files/a/.github/workflows/x.yml", "files/.GITATTRIBUTES", "files/ok.md"] {
        let mut header = tar::Header::new_ustar();
        header.set_size(1);
        header.set_mode(0o755);
        tar.append_data(&mut header, name, &b"x"[..]).unwrap();
    }
    let mut run = world.run();
    run.raw_tar = Some(tar.into_inner().unwrap());
    world.persist(&run).assert(8, &["staged-incomplete", "staged-entry-refused"]);
    let files = listing(&world);
    assert_eq!(files, ["100644 ok.md", "100644 run.sh", "100644 x.md"]);
}
