//! What the disk refuses: the step goes on, what was there stays as it was, and the next run makes up for it.

use std::fs;
use std::process::Command;

use crate::{Run, codes, event, lines, record};

fn left_over(run: &Run) -> Vec<String> {
    let folders = [run.folder.path().to_owned(), run.path("out")];
    let names = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".daybook-")).collect()
}

// DB-5.2-21
#[test]
fn a_full_disk_leaves_the_old_files_whole() {
    let run = Run::with(&[record(1)]);
    run.merge();
    let (outputs, tar) = (run.outputs(), fs::read(run.path("out/triage.tar")).unwrap());
    // One append more, and not a byte of room.
    fs::write(run.path("memory/triage").join(crate::SHARD), lines(&[record(1), record(2)])).unwrap();
    fs::write(run.path("log.jsonl"), format!("{}{}", event(&record(1)), event(&record(2)))).unwrap();
    let good = run.command();
    let mut full = Command::new("/bin/sh");
    full.env_clear().args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    let document = run.end_of(full.arg(good.get_program()).args(good.get_args()));
    assert_eq!(codes(&document), ["pack-failed", "safe-outputs-unwritable"]);
    assert_eq!((run.outputs(), fs::read(run.path("out/triage.tar")).unwrap()), (outputs, tar));
    assert_eq!(left_over(&run), Vec::<String>::new(), "half a file was left");

    assert!(codes(&run.merge()).is_empty());
    assert_eq!(run.outputs(), format!("{}{}", event(&record(1)), event(&record(2))));
    assert_eq!(run.packed().1[0].1, lines(&[record(1), record(2)]));
}

// DB-5.2-21
#[test]
fn a_place_that_is_no_file_costs_what_belongs_there_and_no_more() {
    let mut run = Run::with(&[record(1)]);
    fs::create_dir_all(run.path("out/triage.tar")).unwrap();
    assert_eq!(codes(&run.merge()), ["pack-failed"]);
    assert_eq!(left_over(&run), Vec::<String>::new(), "half a file was left");
    assert_eq!(run.outputs(), event(&record(1)), "the log is merged all the same");
    fs::remove_dir(run.path("out/triage.tar")).unwrap();

    let below_a_file = run.path("config.json/outputs.jsonl");
    let good = std::mem::replace(&mut run.safe_outputs, below_a_file);
    assert_eq!(codes(&run.merge()), ["safe-outputs-unreadable"]);
    assert!(run.packed().0, "the memory is packed all the same");
    run.safe_outputs = good;
    assert!(codes(&run.merge()).is_empty());
}
