//! What the machine itself refuses: no git or a strange one, no place, no room. Each has its code, leaves no memory
//! behind, and is over as soon as the machine is as it should be.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use daybook_testkit::git::BareRepository;

use crate::support::{BRANCH, Place, code, files_below};

fn path_variable() -> String {
    std::env::var("PATH").unwrap()
}

/// A place and a remote with one file on the branch.
fn good() -> (Place, BareRepository) {
    let place = Place::new();
    let bare = place.bare("sha1");
    bare.commit_files(BRANCH, &[("t", b"1")]);
    (place, bare)
}

/// A folder whose `git` is this shell script.
fn git_of(place: &Place, script: &str) -> PathBuf {
    let folder = place.path("bin");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("git"), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Refused under this exit and code, with no memory left; the same place works when nothing is in the way.
#[track_caller]
fn refused(place: &mut Place, bare: &BareRepository, environment: &[(&str, &str)], exit: i32, expected: &str) {
    let outcome = place.restore(&bare.url(), environment);
    assert_eq!((outcome.code, code(&outcome)), (exit, expected), "{} {}", outcome.report, outcome.stderr);
    let root = place.memory_root.clone().unwrap_or_else(|| place.path("memory"));
    assert!(!root.join("triage").exists() && !root.join("notes").exists(), "{expected}: a memory was left");
    let said = format!("{}{}", outcome.report, outcome.stderr);
    assert!(!said.contains(&*place.folder.path().to_string_lossy()), "{expected}: a path is shown: {said}");
    assert!(!said.contains("words of git"), "{expected}: {said}");
    (place.memory_root, place.baseline) = (Some(place.path("memory")), place.path("baseline.json"));
    let outcome = place.restore(&bare.url(), &[]);
    assert_eq!(outcome.code, 0, "{expected}: {}", outcome.report);
    assert_eq!(files_below(&place.path("memory/triage")), ["644 t"]);
    fs::remove_dir_all(place.path("memory")).unwrap();
}

#[test]
fn a_git_that_is_missing_fails_or_has_no_disk_stops_the_job() {
    let (mut place, bare) = good();
    let fails = "echo 'fatal: words of git that nobody knows' >&2; exit 1";
    let nowhere = place.path("no/such/folder").display().to_string();
    for (script, variable, value, expected) in [
        (None, "PATH", nowhere.as_str(), "git-missing"),
        (None, "TMPDIR", nowhere.as_str(), "git-local"),
        (Some(fails), "", "", "git-failed"),
        (Some("head -c 70000 /dev/zero"), "", "", "remote-oversized"),
    ] {
        match script {
            None => refused(&mut place, &bare, &[(variable, value)], 74, expected),
            Some(script) => {
                let path = format!("{}:{}", git_of(&place, script).display(), path_variable());
                refused(&mut place, &bare, &[("PATH", &path)], 74, expected);
            }
        }
    }
}

/// The disk loses an object after git has checked all of them.
#[test]
fn an_object_that_is_lost_on_the_way_stops_the_job() {
    let (mut place, bare) = good();
    let lost = bare.git(&["rev-parse", &format!("{BRANCH}:t")]);
    let path = path_variable();
    let script = format!(
        "PATH='{path}'; export PATH; git \"$@\" || exit; [ \"$1\" = fetch ] || exit 0\n\
         cd \"$GIT_DIR\"; mv objects/pack/*.pack all.pack; rm objects/pack/*; git unpack-objects -q < all.pack\n\
         rm objects/{}/{}",
        &lost[..2],
        &lost[2..]
    );
    let path = format!("{}:{path}", git_of(&place, &script).display());
    refused(&mut place, &bare, &[("PATH", &path)], 74, "object-unreadable");
}

#[test]
fn a_place_that_cannot_be_written_leaves_no_memory() {
    let (mut place, bare) = good();
    let below_a_file = place.path("config.json/below");
    place.memory_root = Some(below_a_file.clone());
    refused(&mut place, &bare, &[], 74, "memory-unwritable");
    place.baseline = below_a_file;
    refused(&mut place, &bare, &[], 74, "baseline-unwritable");
    refused(&mut place, &bare, &[("GITHUB_OUTPUT", "/dev/full")], 74, "output-unwritable");

    place.memory_root = None;
    refused(&mut place, &bare, &[], 2, "memory-root-missing");
    place.memory_root = None;
    let outcome = place.restore(&bare.url(), &[("RUNNER_TEMP", place.path("temp").to_str().unwrap())]);
    assert_eq!(outcome.code, 0, "{}", outcome.report);
    assert_eq!(files_below(&place.path("temp/daybook/memory/triage")), ["644 t"]);
}

/// The first file is written, the second has a path that is too long for the system where this memory lies.
#[test]
fn a_memory_that_fails_half_way_is_taken_away_again() {
    let place = Place::new();
    let bare = place.bare("sha1");
    let deep = vec!["x".repeat(250); 4].join("/");
    bare.commit_files(BRANCH, &[("a", b"1"), (&deep, b"2")]);
    let root = place.path("memory").join(vec!["r".repeat(200); 16].join("/"));
    let far = Place { memory_root: Some(root.clone()), ..place };
    let outcome = far.restore(&bare.url(), &[]);
    assert_eq!((outcome.code, code(&outcome)), (74, "memory-unwritable"), "{}", outcome.report);
    assert!(root.exists() && fs::read_dir(root).unwrap().next().is_none(), "nothing of the memory was left");
    assert!(!far.path("baseline.json").exists() && !far.path("output").exists());
    let near = Place { memory_root: Some(far.path("near")), ..far };
    assert_eq!(near.restore(&bare.url(), &[]).code, 0);
    assert_eq!(files_below(&near.path("near/triage")).len(), 2);
}
