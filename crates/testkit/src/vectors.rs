//! Access to `testdata/` and to the table of deviations in `SPEC.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use daybook_core::ShardId;
use serde_json::Value;

/// The folder `testdata/` of this repository.
#[must_use]
pub fn root() -> PathBuf {
    repository().join("testdata")
}

/// The root of this repository.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The whole document `testdata/vectors/<name>.json`.
///
/// # Panics
/// Where the file cannot be read: a vector that is missing must never look like one that passed.
#[must_use]
pub fn document(name: &str) -> Value {
    let path = root().join(format!("vectors/{name}.json"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The shards of the ledger that the reference runtime wrote, and what is known of it.
///
/// # Panics
/// Where its files cannot be read.
#[must_use]
pub fn reference_ledger() -> (Vec<(ShardId, Vec<u8>)>, Value) {
    let folder = root().join("reference-ledger");
    let read = |path: &Path| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let shards = std::fs::read_dir(folder.join("ledger/shards"))
        .expect("the reference ledger is readable")
        .map(|entry| {
            let entry = entry.expect("the reference ledger is readable");
            let shard = entry.file_name().to_str().and_then(ShardId::from_file_name).expect("a shard name");
            (shard, read(&entry.path()))
        })
        .collect();
    (shards, serde_json::from_slice(&read(&folder.join("meta.json"))).expect("meta.json is JSON"))
}

/// A list of a vector file.
///
/// # Panics
/// Where the file has no such list, or it is empty.
#[must_use]
pub fn list(name: &str, list: &str) -> Vec<Value> {
    let cases = document(name)[list].as_array().cloned().unwrap_or_default();
    assert!(!cases.is_empty(), "{name}.json has no {list}");
    cases
}

/// The list `cases` of a vector file.
///
/// # Panics
/// As [`list`].
#[must_use]
pub fn cases(name: &str) -> Vec<Value> {
    list(name, "cases")
}

/// The rows of the table of deviations in `SPEC.md` that name cases of one vector file: case → our answer.
///
/// A row reads `| file | case | the reference | Daybook | why |`; cells stand in back-ticks.
///
/// # Panics
/// Where `SPEC.md` cannot be read.
#[must_use]
pub fn deviations(file: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(repository().join("SPEC.md")).expect("SPEC.md is readable");
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").map(|cell| cell.trim_matches('`')).collect();
            (cells.first() == Some(&file) && cells.len() >= 5).then(|| (cells[1].to_owned(), cells[3].to_owned()))
        })
        .collect()
}

/// The deviations of one vector file, and which of them were met.
#[derive(Debug)]
pub struct Deviations {
    rows: BTreeMap<String, String>,
    used: BTreeSet<String>,
    unlisted: Vec<String>,
    file: &'static str,
}

impl Deviations {
    /// Those that `SPEC.md` lists for a file.
    #[must_use]
    pub fn of(file: &'static str) -> Self {
        Self { rows: deviations(file), used: BTreeSet::new(), unlisted: Vec::new(), file }
    }

    /// Holds `ours` against `theirs`, or against the row of the case.
    ///
    /// # Panics
    /// Where the row says another answer than `ours`, or is no difference.
    pub fn hold(&mut self, case: &str, ours: &str, theirs: &str) {
        match self.rows.get(case) {
            Some(row) => {
                assert_eq!(row, ours, "{}: {case}: SPEC.md names another answer", self.file);
                assert_ne!(ours, theirs, "{}: {case}: listed as a deviation, and is none", self.file);
                self.used.insert(case.to_owned());
            }
            None if ours == theirs => {}
            None => self.unlisted.push(format!("| {} | {case} | `{theirs}` | `{ours}` |", self.file)),
        }
    }

    /// Ends the comparison.
    ///
    /// # Panics
    /// Where a difference has no row, or a row no difference.
    pub fn finish(self) {
        assert!(self.unlisted.is_empty(), "answers that differ from the reference:\n{}", self.unlisted.join("\n"));
        let unused: Vec<_> = self.rows.keys().filter(|case| !self.used.contains(*case)).collect();
        assert!(unused.is_empty(), "{}: rows without a case: {unused:?}", self.file);
    }
}

/// Decodes standard base64.
///
/// # Panics
/// Where the text is not base64.
#[must_use]
pub fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("not base64"),
    };
    let mut out = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits =
            group.iter().fold(0_u32, |bits, &byte| bits << 6 | u32::from(value(byte))) << (6 * (4 - group.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    out
}
