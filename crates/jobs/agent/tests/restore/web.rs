//! Restore over HTTP, as it runs against a forge: every refusal its own outcome, and no trace of the token.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use daybook_testkit::web::{GitServer, TOKEN};

use crate::support::{BRANCH, Place, code, files_below};

const ANY: u32 = 1000;

/// A remote with a branch that has more to say than one packet.
fn served(place: &Place) -> GitServer {
    let bare = place.bare("sha1");
    // Text that does not compress: the objects take many kilobytes on the wire.
    let mut random = daybook_testkit::random::Random::new(5);
    let noise: String = (0..4_000).map(|_| format!("{:x}", random.next())).collect();
    bare.commit_files(BRANCH, &[("noise.txt", noise.as_bytes())]);
    GitServer::start(place.folder.path())
}

// DB-B-12, DB-B-16
#[test]
fn each_refusal_of_a_forge_stops_the_job_under_its_own_name() {
    let place = Place::new();
    let server = served(&place);
    let url = server.url("remote.git");
    let token = [("DAYBOOK_TOKEN", TOKEN)];
    let wrong = [("DAYBOOK_TOKEN", "wrong-token-4711")];
    let refused = |expected: (i32, &str), url: &str, environment: &[(&str, &str)]| {
        let outcome = place.restore(url, environment);
        assert_eq!((outcome.code, code(&outcome)), expected, "{} {}", outcome.report, outcome.stderr);
        place.nothing_is_left();
        let said = format!("{}{}", outcome.report, outcome.stderr);
        assert!(!said.contains("4711") && !said.contains("127.0.0.1"), "{said}");
    };
    refused((6, "remote-unauthorized"), &url, &[]);
    refused((6, "remote-unauthorized"), &url, &wrong);
    server.behaviour.forbidden.store(ANY, Ordering::SeqCst);
    refused((6, "remote-forbidden"), &url, &token);
    server.behaviour.forbidden.store(0, Ordering::SeqCst);
    refused((6, "remote-not-found"), &server.url("nothing.git"), &token);
    server.behaviour.unavailable.store(ANY, Ordering::SeqCst);
    refused((74, "remote-server"), &url, &token);
    server.behaviour.unavailable.store(0, Ordering::SeqCst);
    // The line drops while the objects are on it.
    server.behaviour.cut.store(ANY, Ordering::SeqCst);
    refused((74, "remote-dropped"), &url, &token);
    assert!(server.behaviour.cut.load(Ordering::SeqCst) < ANY, "an answer was cut");
    server.behaviour.cut.store(0, Ordering::SeqCst);

    // As soon as the forge answers, the same place works; the other branch is proven absent, and only so empty.
    let outcome = place.restore(&url, &token);
    assert_eq!(outcome.code, 0, "{} {}", outcome.report, outcome.stderr);
    assert_eq!(files_below(&place.path("memory/triage")), ["644 noise.txt"]);
    assert!(files_below(&place.path("memory/notes")).is_empty());
}

/// CASES 22: no credential and no `.git` anywhere below what the agent can read.
// DB-3-02, DB-9-14
#[test]
fn nothing_of_the_token_is_left_where_the_agent_can_read() {
    let place = Place::new();
    let server = served(&place);
    let outcome = place.restore(&server.url("remote.git"), &[("DAYBOOK_TOKEN", TOKEN), ("TMPDIR", &temporary(&place))]);
    assert_eq!(outcome.code, 0, "{}", outcome.report);
    assert_eq!(files_below(&place.path("temporary")), Vec::<String>::new(), "nothing stays in the temporary folder");
    // Plain, and the beginning of what the header carries.
    for secret in ["x-access-token", "eC1hY2Nlc3MtdG9rZW46dG9r", TOKEN] {
        let said = format!("{}{}", outcome.report, outcome.stderr);
        assert!(!said.contains(secret));
        assert_eq!(files_with(place.folder.path(), secret.as_bytes()), Vec::<String>::new());
    }
}

fn temporary(place: &Place) -> String {
    fs::create_dir(place.path("temporary")).unwrap();
    place.path("temporary").to_str().unwrap().to_owned()
}

/// The files below a folder that hold some bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = files_below(folder);
    found.retain(|listed| {
        let (_, path) = listed.split_once(' ').unwrap();
        fs::read(folder.join(path)).unwrap().windows(bytes.len()).any(|window| window == bytes)
    });
    found
}

#[test]
fn a_branch_of_five_thousand_files_arrives_whole() {
    let place = Place::new();
    let bare = place.bare("sha1");
    let blob = bare.blob(b"x");
    // Fifty folders of a hundred files, with names that an artifact upload would refuse.
    let rows: Vec<String> = (0..100).map(|number| format!("2026-07-01T10:00:{number:03}Z \"é\".json")).collect();
    let rows: Vec<_> = rows.iter().map(|name| ("100644", "blob", blob.as_str(), name.as_str())).collect();
    let folder = bare.tree(&rows);
    let names: Vec<String> = (0..50).map(|number| format!("d{number:02}")).collect();
    let rows: Vec<_> = names.iter().map(|name| ("40000", "tree", folder.as_str(), name.as_str())).collect();
    bare.commit_tree(BRANCH, &bare.tree(&rows));
    let outcome = place.restore(&bare.url(), &[]);
    assert_eq!((outcome.code, outcome.report["counts"]["files"].as_u64()), (0, Some(5000)), "{}", outcome.report);
    assert_eq!(files_below(&place.path("memory/triage")).len(), 5000);
    assert_eq!(place.baseline().memory("triage").unwrap().files.len(), 5000);
}
