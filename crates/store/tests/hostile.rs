//! A folder in which somebody hostile can do anything: nothing outside is read or written, nothing hangs, and good
//! records stay.

mod common;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use common::{append, note, open, read, shard_id, small_limits};
use daybook_core::diagnostic::Detail;
use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::state::MAX_STATE_BYTES;
use daybook_store::{AppendError, MemoryFolder, StoreError, Writer};
use daybook_testkit::random::Random;
use daybook_testkit::said;

fn details(memory: &Path) -> Vec<Option<Detail>> {
    read(memory).diagnostics().kept().iter().map(|found| found.detail).collect()
}

// DB-2-09, DB-8-02, DB-9-07
#[test]
fn a_link_at_any_level_is_not_followed() {
    for level in ["ledger", "ledger/shards"] {
        let memory = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(outside.path().join("shards")).unwrap();
        if level == "ledger/shards" {
            std::fs::create_dir(memory.path().join("ledger")).unwrap();
        }
        symlink(outside.path(), memory.path().join(level)).unwrap();
        let folder = MemoryFolder::open(memory.path()).unwrap();
        assert_eq!(folder.shards().unwrap_err(), StoreError::NotAFolder, "{level}");
        assert_eq!(Writer::open(&folder, small_limits(), []).unwrap_err(), StoreError::NotAFolder, "{level}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1, "{level}: nothing was made outside");
        std::fs::remove_file(memory.path().join(level)).unwrap();
        append(&mut open(memory.path(), small_limits()), &mut Random::new(1), 50);
    }
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), root.path().join("triage")).unwrap();
    assert_eq!(MemoryFolder::open_in(root.path(), "triage").unwrap_err(), StoreError::NotAFolder);
}

// DB-2-07, DB-2-09, DB-8-02, DB-9-07
#[test]
fn shards_that_are_no_regular_files_are_named_and_hide_nothing() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(2);
    let mut writer = open(memory.path(), small_limits());
    let good = append(&mut writer, &mut random, 50);
    let place = |random: &mut Random| memory.path().join(shard_id(random).path());
    let secret = tempfile::NamedTempFile::new().unwrap();
    symlink(secret.path(), place(&mut random)).unwrap();
    symlink("/nonexistent", place(&mut random)).unwrap();
    std::fs::create_dir(place(&mut random)).unwrap();
    let made = Command::new("mkfifo").arg(place(&mut random)).status().expect("mkfifo is part of every Unix");
    assert!(made.success());
    std::os::unix::net::UnixListener::bind(memory.path().join("s")).unwrap();
    std::fs::rename(memory.path().join("s"), place(&mut random)).unwrap();
    assert_eq!(details(memory.path()), [Some(Detail::NotRegular); 5]);
    let shards = MemoryFolder::open(memory.path()).unwrap().shards().unwrap().unwrap();
    let read_all = shards.list().unwrap().shards.into_iter().map(|id| shards.read(id));
    let refused: Vec<&str> =
        read_all.filter_map(Result::err).map(|error| said::code(&error, StoreError::code)).collect();
    assert_eq!(refused, ["not-regular"; 5]);
    let next = append(&mut writer, &mut random, 50);
    let ledger = read(memory.path());
    assert!(ledger.contains(&good) && ledger.heads() == [next]);
    assert_eq!(writer.index().ledger().diagnostics().total(), 5);
}

// DB-8-07
#[test]
fn an_oversized_shard_is_not_read() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(3);
    let good = append(&mut open(memory.path(), small_limits()), &mut random, 50);
    let huge = std::fs::File::create(memory.path().join(shard_id(&mut random).path())).unwrap();
    huge.set_len(READ_SHARD_BYTES.get() + 1).unwrap();
    let state = memory.path().join("ledger/compaction/state.json");
    std::fs::create_dir(state.parent().unwrap()).unwrap();
    std::fs::write(&state, vec![b' '; MAX_STATE_BYTES + 1]).unwrap();
    let folder = MemoryFolder::open(memory.path()).unwrap();
    let refused = folder.compaction_state().unwrap_err();
    assert_eq!(said::code(&refused, StoreError::code), "oversized");
    std::fs::write(&state, vec![b' '; MAX_STATE_BYTES]).unwrap();
    assert_eq!(folder.compaction_state().unwrap().unwrap().len(), MAX_STATE_BYTES);
    let shards = folder.shards().unwrap().unwrap();
    let codes: Vec<Option<&str>> =
        shards.list().unwrap().shards.into_iter().map(|id| shards.read(id).err().map(|error| error.code())).collect();
    assert_eq!((codes.len(), codes.iter().flatten().collect::<Vec<_>>()), (2, vec![&"oversized"]));
    assert_eq!(details(memory.path()), [Some(Detail::Oversized)]);
    assert_eq!(read(memory.path()).heads(), [good]);
    append(&mut open(memory.path(), small_limits()), &mut random, 50);
}

// DB-9-06, DB-9-07
#[test]
fn bad_names_take_no_place_of_a_shard() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(4);
    let good = append(&mut open(memory.path(), small_limits()), &mut random, 50);
    let folder = memory.path().join("ledger/shards");
    for number in 0..1_100 {
        std::fs::write(folder.join(format!("0000-{number:04}.jsonl")), b"junk\n").unwrap();
    }
    std::fs::write(folder.join("README.md"), b"hello").unwrap();
    let ledger = read(memory.path());
    assert_eq!(ledger.heads(), [good]);
    assert!(ledger.diagnostics().kept().iter().all(|found| found.detail == Some(Detail::BadName)));
    append(&mut open(memory.path(), small_limits()), &mut random, 50);
}

/// CASES 44: a shard of newlines gives as many findings as it has lines, and the list of them stays short.
// DB-2-07, DB-B-17
#[test]
fn a_shard_of_newlines_is_counted_and_bounded() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(5);
    let good = append(&mut open(memory.path(), small_limits()), &mut random, 50);
    for _ in 0..20 {
        std::fs::write(memory.path().join(shard_id(&mut random).path()), vec![b'\n'; 102_400]).unwrap();
    }
    let ledger = read(memory.path());
    assert_eq!(ledger.diagnostics().total(), 20 * 102_400);
    assert_eq!(ledger.diagnostics().kept().len(), 256);
    assert_eq!(ledger.heads(), [good]);
}

/// CASES 38: a folder that cannot be written is an error, and what was there stays.
#[test]
fn a_folder_that_is_gone_or_full_of_refusal_is_an_error() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(6);
    let mut writer = open(memory.path(), small_limits());
    append(&mut writer, &mut random, 50);
    std::fs::remove_dir_all(memory.path().join("ledger")).unwrap();
    assert!(writer.append(&note(&mut random, 50), shard_id(&mut random)).is_err());
    append(&mut open(memory.path(), small_limits()), &mut random, 50);
    assert_eq!(read(memory.path()).len(), 1);
}

/// A folder that is listed in part must not pass for one whose shards are gone.
#[test]
fn more_names_than_are_looked_at_are_refused() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(7);
    let mut writer = open(memory.path(), small_limits());
    let good = append(&mut writer, &mut random, 50);
    let folder = memory.path().join("ledger/shards");
    let junk: Vec<_> = (0..65_600).map(|number| folder.join(format!("{number}.junk"))).collect();
    for file in &junk {
        std::fs::write(file, b"").unwrap();
    }
    assert_eq!(writer.refresh(), Err(StoreError::Crowded));
    let refused = writer.append(&note(&mut random, 50), shard_id(&mut random)).unwrap_err();
    assert_eq!(said::code(&refused, AppendError::code), "store-crowded");
    assert!(details(memory.path()).contains(&Some(Detail::ShardBound)), "readers say so");
    for file in &junk {
        std::fs::remove_file(file).unwrap();
    }
    let next = writer.append(&note(&mut random, 50), shard_id(&mut random)).unwrap();
    assert_eq!(next.records[0].parents(), [good]);
}
