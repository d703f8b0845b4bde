//! Ledgers to look at, and the commands run on them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use daybook_core::{Digest, Record, ShardId, json};
use daybook_testkit::git::BareRepository;
use daybook_testkit::random::Random;
use daybook_testkit::said;
use daybook_testkit::{ledgers, vectors};
use serde_json::Value;

pub(crate) const DAYBOOK: &str = env!("CARGO_BIN_EXE_daybook");

pub(crate) fn daybook(args: &[&str]) -> Output {
    let path = std::env::var_os("PATH").unwrap_or_default();
    said::output(Command::new(DAYBOOK).args(args).env_clear().env("PATH", path))
}

pub(crate) fn text(args: &[&str]) -> String {
    let output = daybook(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The document of a command, held against its published schema.
pub(crate) fn document(args: &[&str]) -> (i32, Value) {
    let output = daybook(&[args, &["--format", "json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let document = serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{args:?}: {fault}: {text}"));
    let schema = vectors::repository().join(format!("docs/schema/output/{}.json", args[0]));
    let schema: Value = serde_json::from_slice(&fs::read(&schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(&document).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{args:?}: {faults:#?}");
    (output.status.code().unwrap(), document)
}

pub(crate) fn codes(document: &Value) -> Vec<&str> {
    document["diagnostics"].as_array().unwrap().iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect()
}

/// The ids of the rows in a member of a document.
pub(crate) fn ids(document: &Value, member: &str) -> Vec<String> {
    let rows = document[member].as_array().unwrap();
    rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn reference() -> String {
    vectors::root().join("reference-ledger").to_str().unwrap().to_owned()
}

/// The files of the reference ledger.
pub(crate) fn reference_files() -> Vec<(String, Vec<u8>)> {
    let (shards, _) = vectors::reference_ledger();
    shards.into_iter().map(|(shard, bytes)| (shard.path(), bytes)).collect()
}

pub(crate) fn commit(repository: &BareRepository, branch: &str, files: &[(String, Vec<u8>)]) -> String {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    repository.commit_files(branch, &files)
}

/// Records with these payloads, each the parent of the next.
pub(crate) fn chain(payloads: &[&str]) -> Vec<Record> {
    let mut random = Random::new(7);
    let mut parents: Vec<Digest> = Vec::new();
    let mut records = Vec::new();
    for (number, payload) in payloads.iter().enumerate() {
        let record = ledgers::build(&mut random, number, &parents, &json::parse(payload.as_bytes()).unwrap());
        parents = vec![record.sha()];
        records.push(record);
    }
    records
}

/// Writes records into one shard of a memory folder.
pub(crate) fn write(memory: &Path, records: &[Record]) {
    let shard = ShardId::from_text("00000000-0000-4000-8000-000000000001").unwrap();
    ledgers::write(memory, &[(shard, lines(records))]).unwrap();
}

pub(crate) fn lines(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| [record.line(), b"\n"].concat()).collect()
}
