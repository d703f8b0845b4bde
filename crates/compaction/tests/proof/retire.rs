//! Retirement where shards cannot be exchanged in one step (§5.4): what is declared, and what is there.

use daybook_compaction::{Decision, Declaration, Uncovered, rescue};
use daybook_testkit::random::Random;

use crate::support::{BOUNDS, Folder, decide, folder, plan, records};

// DB-5.4-01, DB-5.4-03, DB-6-05, DB-10-08
#[test]
fn only_what_is_there_as_it_was_proven_lets_a_source_go() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut folder = folder(&mut random, 7);
        let plan = plan(&folder, BOUNDS).unwrap();
        let Decision::Ready(proven) = decide(&plan.to_bytes(), &folder, None, BOUNDS) else { panic!("seed {seed}") };
        let coverage = proven.coverage();
        let retire = |folder: &Folder| {
            let Ok(retirement) = coverage.retire(folder);
            retirement.map(|retirement| retirement.sources().to_vec())
        };
        let (id, bytes) = (proven.replacement().id(), proven.replacement().bytes().to_vec());

        // Incomplete: not written yet, or written in part.
        assert_eq!(retire(&folder), Err(Uncovered::Replacement));
        folder.insert(id, bytes[..random.below(bytes.len())].to_vec());
        assert_eq!(retire(&folder), Err(Uncovered::Replacement));
        // Forged: complete and sound, and not the one that was made.
        folder.insert(id, [bytes.clone(), bytes.clone()].concat());
        assert_eq!(retire(&folder), Err(Uncovered::Replacement));
        folder.insert(id, bytes);

        // Stale: a source has grown since.
        let source = proven.sources()[0].segment();
        let mut other = crate::support::folder(&mut Random::new(seed + 1000), 1);
        let grown = [folder[&source].clone(), other.pop_first().unwrap().1].concat();
        let as_planned = folder.insert(source, grown).unwrap();
        assert_eq!(retire(&folder), Err(Uncovered::Source(source)));
        folder.insert(source, as_planned);

        // Sources that are gone already, as after a crash, are no obstacle; and nothing is lost.
        let all = records(&folder);
        folder.remove(&source);
        let retired = retire(&folder).unwrap();
        assert_eq!(retired.len(), proven.sources().len() - 1);
        for source in &retired {
            folder.remove(source);
        }
        assert_eq!(records(&folder), all);
        assert_eq!(retire(&folder), Ok(Vec::new()));
    }
}

// DB-5.4-04, DB-9-01, DB-10-07
#[test]
fn a_declaration_that_was_read_only_says_something() {
    let mut random = Random::new(5);
    let folder = folder(&mut random, 6);
    let Decision::Ready(proven) = decide(&plan(&folder, BOUNDS).unwrap().to_bytes(), &folder, None, BOUNDS) else {
        panic!()
    };
    let declaration = proven.coverage().declaration().unwrap();
    let bytes = declaration.to_bytes();
    assert_eq!(Declaration::parse(&bytes), Ok(declaration.clone()));
    assert!(declaration.path().starts_with("ledger/coverage/") && declaration.path().len() == 16 + 64 + 6);
    assert_eq!(declaration.replacement(), proven.replacement().id());
    let text = std::str::from_utf8(&bytes).unwrap();
    let first = declaration.sources()[0].to_string();
    for wrong in [
        text.replacen(&first, &declaration.replacement().to_string(), 1),
        text.replacen(&first, "../../etc/passwd", 1),
        text.replacen('{', "{\"more\":1,", 1),
        text.replacen("[\"", &format!("[\"{first}\",\""), 1),
        "{\"replacement\":\"00000000-0000-4000-8000-000000000001\",\"sources\":[]}".to_owned(),
        "x".repeat(70_000),
    ] {
        assert!(Declaration::parse(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn a_damaged_shard_without_a_record_goes_and_a_sound_one_is_not_rescued() {
    let mut random = Random::new(9);
    let mut folder = folder(&mut random, 2);
    let (id, bytes) = folder.pop_first().unwrap();
    assert!(rescue(id, &bytes).is_err());
    let garbage = rescue(id, b"nothing\n{\"id\"").unwrap();
    assert_eq!((garbage.replacement(), garbage.bytes_left()), (None, 13));
    folder.insert(id, b"nothing\n{\"id\"".to_vec());
    let Ok(retirement) = garbage.coverage().retire(&folder);
    assert_eq!(retirement.unwrap().sources(), [id]);
    // The same right over a shard that has records by now.
    folder.insert(id, bytes);
    let Ok(retirement) = garbage.coverage().retire(&folder);
    assert_eq!(retirement, Err(Uncovered::Source(id)));
}
