//! One staged memory, held against what was restored.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read;

use daybook_core::baseline::MemoryBaseline;
use daybook_core::detection::FindingCode as Code;
use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::path::LedgerPart;
use daybook_core::rules::WriteRules;
use daybook_core::shard::checked_lines;
use daybook_core::{Digest, MemoryPath, Record};
use daybook_store::staged::{self, Bounds};

use crate::content::examine;
use crate::finding::{Findings, Place};

/// What a tar holds that was not restored.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The records that are not in the baseline.
    pub(crate) new_records: BTreeMap<Digest, Record>,
}

/// Reads a tar to its end. `rules` are those of the memory's ledger.
pub(crate) fn examine_tar(
    tar: impl Read,
    baseline: &MemoryBaseline,
    rules: Option<&WriteRules>,
    findings: &mut Findings,
) -> Memory {
    let mut memory = Memory::default();
    let at = |file| Place { memory: Some(baseline.id.clone()), file, ..Place::default() };
    let mut seen = BTreeSet::new();
    let mut number = 0;
    let staged = staged::read(tar, &baseline.id, &Bounds::default(), |path, content| {
        number += 1;
        let file = File { place: at(Some(number)), path: &path, content: &content };
        file.examine(baseline, rules, &mut memory, findings);
        seen.insert(path);
    });
    for refused in &staged.refused {
        findings.add(Code::EntryRefused, at(Some(refused.number + 1)));
    }
    if !staged.is_complete() {
        findings.add(Code::StagedIncomplete, at(None));
    }
    let gone = baseline.files.keys().filter(|path| path.is_ledger() && !seen.contains(*path)).count();
    (0..gone).for_each(|_| findings.add(Code::ShardMissing, at(None)));
    check_records(&memory, baseline, &at(None), findings);
    memory
}

struct File<'a> {
    place: Place,
    path: &'a MemoryPath,
    content: &'a [u8],
}

impl File<'_> {
    fn examine(
        &self,
        baseline: &MemoryBaseline,
        rules: Option<&WriteRules>,
        memory: &mut Memory,
        findings: &mut Findings,
    ) {
        let trusted = baseline.files.get(self.path);
        if trusted.is_some_and(|file| file.sha256 == Digest::of(self.content)) {
            return;
        }
        let Some(part) = self.path.ledger_part() else {
            for code in examine(&String::from_utf8_lossy(self.content)) {
                findings.add(code, self.place.clone());
            }
            return;
        };
        if trusted.is_some() {
            findings.add(Code::ShardTampered, self.place.clone());
        }
        let readable = self.content.len() as u64 <= READ_SHARD_BYTES.get();
        match (part, rules) {
            (LedgerPart::Shard(_), Some(rules)) if readable => self.shard(baseline, rules, memory, findings),
            (LedgerPart::Shard(_) | LedgerPart::Other, _) => findings.add(Code::LedgerFile, self.place.clone()),
            (LedgerPart::Coverage, _) => findings.add(Code::CoverageFile, self.place.clone()),
            (LedgerPart::State, _) => findings.add(Code::StateFile, self.place.clone()),
        }
    }

    fn shard(&self, baseline: &MemoryBaseline, rules: &WriteRules, memory: &mut Memory, findings: &mut Findings) {
        for line in checked_lines(self.content) {
            let Ok(checked) = line else {
                findings.add(Code::BadLine, self.place.clone());
                continue;
            };
            if baseline.records.contains(&checked.sha()) || memory.new_records.contains_key(&checked.sha()) {
                continue;
            }
            let record = Record::from_checked(&checked);
            let place = Place { record: Some(record.id()), ..self.place.clone() };
            if rules.check(&record).is_err() {
                findings.add(Code::WriteRule, place.clone());
            }
            // The canonical text spells quotes and controls as escapes: what a reader sees is the decoded text.
            let payload = record.payload().map(|payload| texts(&payload)).unwrap_or_default();
            for code in examine(&format!("{}\n{payload}", record.kind())) {
                findings.add(code, place.clone());
            }
            memory.new_records.insert(record.sha(), record);
        }
        if self.content.last().is_some_and(|last| *last != b'\n') {
            findings.add(Code::BadLine, self.place.clone());
        }
    }
}

/// All strings and keys of a payload, one a line.
fn texts(payload: &serde_json::Value) -> String {
    match payload {
        serde_json::Value::String(text) => format!("{text}\n"),
        serde_json::Value::Array(items) => items.iter().map(texts).collect(),
        serde_json::Value::Object(members) => {
            members.iter().map(|(key, value)| format!("{key}\n{}", texts(value))).collect()
        }
        _ => String::new(),
    }
}

fn check_records(memory: &Memory, baseline: &MemoryBaseline, place: &Place, findings: &mut Findings) {
    let mut ids = HashSet::new();
    for record in memory.new_records.values() {
        let place = || Place { record: Some(record.id()), ..place.clone() };
        if !ids.insert(record.id().uuid()) {
            findings.add(Code::DuplicateId, place());
        }
        let known = |parent: &Digest| baseline.records.contains(parent) || memory.new_records.contains_key(parent);
        if !record.parents().iter().all(known) {
            findings.add(Code::UnknownParent, place());
        }
    }
}
