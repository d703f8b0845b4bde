//! What of a branch arrives, and what never does.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::symlink;

use daybook_core::{Digest, MemoryPath};

use crate::support::{BRANCH, Place, RECORD, SHARD, code, files_below};

// DB-5.1-01, DB-B-12
#[test]
fn absent_branches_start_empty_and_present_ones_whole() {
    for format in ["sha1", "sha256"] {
        let place = Place::new();
        let bare = place.bare(format);
        let shard = format!("{RECORD}\nnot a record\n");
        let head = bare.commit_files(BRANCH, &[("a/note.md", b"hello"), (SHARD, shard.as_bytes())]);
        let outcome = place.restore(&bare.url(), &[]);
        assert_eq!((outcome.code, outcome.report["outcome"].as_str()), (0, Some("ok")), "{}", outcome.stderr);
        assert_eq!(files_below(&place.path("memory/triage")), ["644 a/note.md".to_owned(), format!("644 {SHARD}")]);
        assert!(files_below(&place.path("memory/notes")).is_empty());

        let baseline = place.baseline();
        let triage = baseline.memory("triage").unwrap();
        assert_eq!((triage.base.as_str(), triage.branch.as_str()), (head.as_str(), BRANCH));
        assert_eq!(triage.files[&MemoryPath::parse("a/note.md").unwrap()].sha256, Digest::of(b"hello"));
        let sha = "sha256:77fa2bb1e26b49905c9d410de2d5edde34320a6470619115ba246372f99384f1";
        assert_eq!(triage.records.iter().map(Digest::to_string).collect::<Vec<_>>(), [sha]);
        assert_eq!(baseline.memory("notes").unwrap().base, "");

        let output = fs::read_to_string(place.path("output")).unwrap();
        let digest = Digest::of(&fs::read(place.path("baseline.json")).unwrap());
        for expected in [format!("base_triage<<DAYBOOK_END\n{head}\n"), "base_notes<<DAYBOOK_END\n\n".to_owned()] {
            assert!(output.contains(&expected), "{output}");
        }
        assert!(output.contains(&format!("baseline<<DAYBOOK_END\n{digest}\n")), "{output}");
        assert!(!place.path("memory/triage/.git").exists());
    }
}

/// CASES 40: no failure starts an empty memory.
// DB-5.1-01, DB-B-12
#[test]
fn a_remote_that_fails_in_any_way_stops_the_job_with_nothing_written() {
    let place = Place::new();
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/o/r", listener.local_addr().unwrap())
    };
    let dying = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/o/r", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = stream.map(|mut stream| stream.read(&mut [0_u8; 512]));
            }
        });
        url
    };
    let table = [
        (closed, 74, "remote-unreachable"),
        (dying, 74, "remote-dropped"),
        (format!("file://{}", place.folder.path().display()), 2, "remote-not-a-repository"),
        ("https://user:secret@git.example/r".to_owned(), 2, "remote-bad-url"),
    ];
    for (url, exit, expected) in table {
        let outcome = place.restore(&url, &[]);
        assert_eq!((outcome.code, code(&outcome)), (exit, expected), "{url}");
        place.nothing_is_left();
        let shown = format!("{}{}", outcome.report, outcome.stderr);
        assert!(!shown.contains("127.0.0.1") && !shown.contains(&*place.folder.path().to_string_lossy()), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }
    // A secret that is not set is named, and not taken for "no credentials needed".
    let bare = place.bare("sha1");
    let outcome = place.restore(&bare.url(), &[("DAYBOOK_TOKEN_ENV", "MY_TOKEN"), ("MY_TOKEN", "")]);
    assert_eq!((outcome.code, code(&outcome)), (2, "remote-bad-token"));
    place.nothing_is_left();
    // The same place works as soon as the remote does.
    assert_eq!(place.restore(&bare.url(), &[]).code, 0);
}

#[test]
fn the_second_branch_failing_leaves_nothing_of_the_first() {
    let place = Place::new();
    let bare = place.bare("sha1");
    bare.commit_files("memory/notes", &[("n", b"1")]);
    bare.commit_files(BRANCH, &[("t", b"1")]);
    // The objects of one branch are gone from the server.
    let lost = bare.git(&["rev-parse", &format!("{BRANCH}:t")]);
    let other = bare.commit_files(BRANCH, &[("t", b"2")]);
    let blob = bare.git(&["rev-parse", &format!("{other}:t")]);
    assert_ne!(lost, blob);
    fs::remove_file(bare.path().join("objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let outcome = place.restore(&bare.url(), &[]);
    assert_eq!(outcome.code, 74, "{}", outcome.report);
    place.nothing_is_left();
    bare.git_with(&["hash-object", "-w", "--stdin"], b"2");
    assert_eq!(place.restore(&bare.url(), &[]).code, 0);
}

// DB-8-01, DB-8-02, DB-9-07
#[test]
fn hostile_trees_give_regular_files_under_checked_names_only() {
    for format in ["sha1", "sha256"] {
        let place = Place::new();
        let bare = place.bare(format);
        let blob = bare.blob(b"#!/bin/sh\ntouch /tmp/owned\n");
        let config = bare.tree(&[("100644", "blob", &blob, "config")]);
        let up = bare.tree(&[("100644", "blob", &blob, "escaped")]);
        let commit = bare.commit_files("other", &[("z", b"z")]);
        let tree = bare.tree(&[
            ("40000", "tree", &up, ".."),
            ("100644", "blob", &blob, "../slash"),
            ("40000", "tree", &config, ".GIT"),
            ("40000", "tree", &config, ".git"),
            ("100644", "blob", &blob, "back\\slash"),
            ("100755", "blob", &blob, "exec.sh"),
            ("100644", "blob", &blob, "good.md"),
            ("120000", "blob", &blob, "link"),
            ("160000", "commit", &commit, "module"),
        ]);
        bare.commit_tree(BRANCH, &tree);
        let outcome = place.restore(&bare.url(), &[]);
        assert_eq!(outcome.code, 0, "{}", outcome.report);
        assert_eq!(files_below(&place.path("memory/triage")), ["644 exec.sh", "644 good.md"]);
        assert_eq!(files_below(&place.path("memory")).len(), 2);
        assert!(!place.path("escaped").exists() && !place.path("memory/escaped").exists());
        assert_eq!(outcome.report["counts"]["refused"], 7);
        let codes: Vec<_> =
            outcome.report["diagnostics"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["bad-name", "link", "path-character", "path-reserved", "path-traversal", "submodule"]);
        assert!(!outcome.report.to_string().contains("exec.sh"), "a path was shown");
        assert_eq!(place.baseline().memory("triage").unwrap().files.len(), 2);
    }
}

/// Names and sizes that no memory has, in a tree that git takes.
// DB-8-01
#[test]
fn what_no_memory_can_hold_is_left_out_by_its_code() {
    let place = Place::new();
    let bare = place.bare("sha1");
    let (small, large) = (bare.blob(b"x"), bare.blob(&vec![0; (100 << 20) + 1]));
    let long = "x".repeat(5000);
    let strange = [b"100644 \xff\0".as_slice(), &oid_bytes(&small)].concat();
    let strange = bare.git_with(&["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], &strange);
    let tree = bare.tree(&[
        ("100644", "blob", &small, "good.md"),
        ("100644", "blob", &large, "large.md"),
        ("40000", "tree", &strange, "strange"),
        ("100644", "blob", &small, &long),
    ]);
    bare.commit_tree(BRANCH, &tree);
    let outcome = place.restore(&bare.url(), &[]);
    assert_eq!((outcome.code, files_below(&place.path("memory/triage"))), (0, vec!["644 good.md".to_owned()]));
    let found = outcome.report["diagnostics"].as_array().unwrap();
    let codes: Vec<_> = found.iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["path-not-utf8", "path-too-long", "too-large"], "{}", outcome.report);
    assert_eq!(place.baseline().memory("triage").unwrap().files.len(), 1);
}

fn oid_bytes(oid: &str) -> Vec<u8> {
    (0..oid.len()).step_by(2).map(|at| u8::from_str_radix(&oid[at..at + 2], 16).unwrap()).collect()
}

/// Few objects, of which a tree is made that no machine should list, and one that no disk should hold.
// DB-8-01
#[test]
fn a_tree_over_a_bound_is_refused_before_anything_is_written() {
    let place = Place::new();
    let bare = place.bare("sha1");
    let small = bare.blob(b"x");
    let names: Vec<String> = (0..10).map(|number| format!("d{number}")).collect();
    let mut endless = bare.tree(&[("100644", "blob", &small, "f")]);
    for _ in 0..9 {
        let rows: Vec<_> = names.iter().map(|name| ("40000", "tree", endless.as_str(), name.as_str())).collect();
        endless = bare.tree(&rows);
    }
    let mebibyte = bare.blob(&vec![b'x'; 1 << 20]);
    let names: Vec<String> = (0..513).map(|number| format!("f{number:03}")).collect();
    let rows: Vec<_> = names.iter().map(|name| ("100644", "blob", mebibyte.as_str(), name.as_str())).collect();
    let large = bare.tree(&rows);
    for (tree, expected, said) in [
        (endless, "tree-over-bound", "more than 100000 entries"),
        (large, "memory-too-large", "537919488 bytes; at most 536870912"),
    ] {
        bare.commit_tree(BRANCH, &tree);
        let outcome = place.restore(&bare.url(), &[]);
        assert_eq!((outcome.code, code(&outcome)), (3, expected), "{}", outcome.report);
        assert!(outcome.report["diagnostics"][0]["message"].as_str().unwrap().contains(said), "{}", outcome.report);
        place.nothing_is_left();
    }
    bare.commit_tree(BRANCH, &bare.tree(&[("100644", "blob", &small, "f")]));
    assert_eq!(place.restore(&bare.url(), &[]).code, 0);
}

#[test]
fn a_folder_that_is_there_already_is_not_written_into() {
    let place = Place::new();
    let bare = place.bare("sha1");
    bare.commit_files(BRANCH, &[("t", b"1")]);
    fs::create_dir_all(place.path("memory")).unwrap();
    fs::create_dir(place.path("elsewhere")).unwrap();
    symlink(place.path("elsewhere"), place.path("memory/triage")).unwrap();
    let outcome = place.restore(&bare.url(), &[]);
    assert_eq!((outcome.code, code(&outcome)), (3, "memory-folder-exists"));
    assert!(fs::read_dir(place.path("elsewhere")).unwrap().next().is_none());
    assert!(!place.path("memory/notes").exists() && !place.path("baseline.json").exists());
    fs::remove_file(place.path("memory/triage")).unwrap();
    assert_eq!(place.restore(&bare.url(), &[]).code, 0);
}

#[test]
fn instead_of_rules_of_the_machine_are_followed() {
    let place = Place::new();
    let bare = place.bare("sha1");
    bare.commit_files(BRANCH, &[("t", b"1")]);
    let config = format!("[url \"{}\"]\n\tinsteadOf = https://git.example/o/r\n", bare.url());
    fs::write(place.path("gitconfig"), &config).unwrap();
    let global = place.path("gitconfig");
    let outcome = place.restore("https://git.example/o/r", &[("GIT_CONFIG_GLOBAL", global.to_str().unwrap())]);
    assert_eq!((outcome.code, outcome.report["counts"]["files"].as_u64()), (0, Some(1)), "{}", outcome.report);
}
