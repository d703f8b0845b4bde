//! A writer that could not look keeps in mind that it has to look again. Alone in its program: it takes away the
//! process's file descriptors.
#![cfg(target_os = "linux")]

mod common;

use common::{append, note, open, read, shard_id, small_limits};
use daybook_store::AppendError;
use daybook_testkit::ledgers;
use daybook_testkit::random::Random;
use daybook_testkit::said;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn a_change_that_could_not_be_read_is_read_next_time() {
    let memory = tempfile::tempdir().unwrap();
    let mut random = Random::new(1);
    let mut writer = open(memory.path(), small_limits());
    let own = append(&mut writer, &mut random, 100);
    let foreign: Vec<_> = (0..2).map(|number| ledgers::record(&mut random, number, &[], 100)).collect();
    let shards: Vec<_> =
        foreign.iter().map(|record| (shard_id(&mut random), [record.line(), b"\n"].concat())).collect();
    ledgers::write(memory.path(), &shards[..1]).unwrap();
    writer.refresh().unwrap();
    // One shard goes, another comes, and the one that came cannot be opened.
    std::fs::remove_file(memory.path().join(shards[0].0.path())).unwrap();
    ledgers::write(memory.path(), &shards[1..]).unwrap();
    let next = [note(&mut random, 50), note(&mut random, 50)];
    let shard = shard_id(&mut random);

    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit }).unwrap();
    let refused = [writer.append(&next[0], shard), writer.append(&next[0], shard)];
    setrlimit(Resource::Nofile, limit).unwrap();
    for answer in refused {
        assert_eq!(said::code(&answer.unwrap_err(), AppendError::code), "store-io");
    }
    assert_eq!(read(memory.path()).len(), 2);

    let mut heads = vec![own, foreign[1].sha()];
    heads.sort_unstable();
    let appended = writer.append(&next[1], shard).unwrap();
    assert_eq!(appended.records[0].parents(), heads);
    assert_eq!(writer.index().records().len(), 3);
}
