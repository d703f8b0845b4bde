//! Hostile runs: a good state, an attack, a refusal that changes nothing, and the next good run works.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use daybook_core::Digest;
use daybook_testkit::api::{ApiServer, Reply};
use daybook_testkit::said;

use crate::support::{CANARY, Ended, World, event, records, request};

/// A world whose good run sends one request; and that it does.
fn good() -> (World, ApiServer) {
    let server = ApiServer::start(&[Reply::status(204)]);
    let lines = [event(&records(1)[0], "triage"), request("triage"), format!(r#"{{"type":"noop","x":"{CANARY}"}}"#)];
    let world = World::with_api(&lines, server.url());
    world.run().assert(0, &[]);
    assert_eq!(server.requests().len(), 1);
    (world, server)
}

/// Refused: nothing sent, nothing written, nothing of the run shown.
fn refused(world: &World, server: &ApiServer, ended: &Ended, code: &str) {
    ended.assert(3, &[code]);
    assert_eq!(server.requests().len(), 1, "{code}: nothing was sent");
    assert!(!world.out.exists(), "{code}: nothing was written");
    assert!(!ended.said.contains(CANARY), "{code}");
    assert!(world.summary().contains(code), "{code}: the summary says so");
}

// DB-B-02
#[test]
fn without_a_verdict_that_passes_nothing_happens() {
    for (verdict, code) in [
        (None, "verdict-missing"),
        (Some(""), "verdict-missing"),
        (Some("threat"), "verdict-threat"),
        (Some("CLEAN"), "verdict-unknown"),
    ] {
        let (mut world, server) = good();
        world.verdict = verdict.map(str::to_owned);
        refused(&world, &server, &world.run(), code);
        world.verdict = Some("suspicious".to_owned());
        world.run().assert(0, &["verdict-suspicious"]);
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn other_bytes_than_detection_examined_are_refused() {
    let other = Digest::of(b"other bytes");
    let pair = |digest: Digest| format!("safe-outputs.jsonl={digest}");
    for (expect, code) in [
        (pair(other), "expect-mismatch"),
        (format!("triage.tar={other}"), "expect-missing"),
        (String::new(), "expect-missing"),
    ] {
        let (mut world, server) = good();
        world.expect = Some(expect);
        refused(&world, &server, &world.run(), code);
        world.expect = None;
        world.run().assert(0, &[]);
    }
    // The file is exchanged after detection: one line more.
    let (mut world, server) = good();
    world.expect = Some(pair(Digest::of(&world.outputs)));
    let examined = world.outputs.clone();
    world.outputs.extend_from_slice(format!("{}\n", request("log")).as_bytes());
    refused(&world, &server, &world.run(), "expect-mismatch");
    world.outputs = examined;
    world.run().assert(0, &[]);
}

#[test]
fn whatever_stands_in_place_of_the_file_is_not_followed_or_waited_for() {
    for (attack, code) in [
        ("missing", "safe-outputs-missing"),
        ("folder", "safe-outputs-not-regular"),
        ("link", "safe-outputs-not-regular"),
        ("pipe", "safe-outputs-not-regular"),
        ("long", "safe-outputs-too-long"),
    ] {
        let (world, server) = good();
        let file = world.path("safe-outputs.jsonl");
        fs::rename(&file, world.path("elsewhere")).unwrap();
        match attack {
            "folder" => fs::create_dir(&file).unwrap(),
            // It even leads to the bytes that were examined.
            "link" => symlink(world.path("elsewhere"), &file).unwrap(),
            "pipe" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            "long" => fs::File::create(&file).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap(),
            _ => {}
        }
        refused(&world, &server, &world.run_as_it_is(), code);
        let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
        world.run().assert(0, &[]);
    }
}

#[test]
fn a_configuration_that_is_none_is_a_mistake_of_the_workflow() {
    let (mut world, server) = good();
    let config = std::mem::replace(&mut world.config, serde_json::json!({}));
    world.run().assert(2, &["config-invalid"]);
    assert!(!world.out.exists() && server.requests().len() == 1);
    world.config = config;
    world.expect = Some("safe-outputs.jsonl=sha256:0".to_owned());
    world.run().assert(2, &["expect-invalid"]);
    world.expect = None;
    world.run().assert(0, &[]);
    let output = said::output(Command::new(env!("CARGO_BIN_EXE_daybook-safe-outputs")).env_clear().arg("--nonsense"));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_result_that_cannot_be_written_is_an_error_and_asks_for_nothing() {
    let (mut world, server) = good();
    fs::write(world.path("blocked"), "").unwrap();
    let blocked = world.path("blocked/out");
    let out = std::mem::replace(&mut world.out, blocked);
    world.run().assert(74, &["out-unwritable"]);
    assert_eq!(server.requests().len(), 1);
    world.out = out;
    world.run().assert(0, &[]);
}

#[test]
fn outputs_that_cannot_be_read_are_an_error_and_a_summary_that_cannot_be_written_is_none() {
    let (mut world, server) = good();
    let below_a_file = world.path("config.json/safe-outputs.jsonl");
    let file = std::mem::replace(&mut world.file, below_a_file);
    world.run_as_it_is().assert(74, &["safe-outputs-unreadable"]);
    assert_eq!(server.requests().len(), 1);
    assert!(!world.out.exists(), "nothing was written");
    world.file = file;
    let folder = world.path("elsewhere").display().to_string();
    fs::create_dir(&folder).unwrap();
    world.variables.push(("GITHUB_STEP_SUMMARY", folder));
    world.run().assert(0, &["summary-unwritable"]);
    assert_eq!(server.requests().len(), 2, "the request is sent all the same");
    assert!(!world.result().is_null());
}
