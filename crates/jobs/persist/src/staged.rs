//! One staged memory, read from its tar and sorted by what may become of it. Nothing here depends on the branch.

use std::collections::BTreeSet;
use std::io::Read;

use daybook_core::baseline::MemoryBaseline;
use daybook_core::limits::{Bytes, READ_SHARD_BYTES};
use daybook_core::path::LedgerPart;
use daybook_core::policy::SetAside;
use daybook_core::rules::WriteRules;
use daybook_core::shard::ShardScan;
use daybook_core::{Digest, MemoryPath, Record, ShardId};
use daybook_store::staged::{self, Bounds};

use crate::files::{FileReport, StagedFile};
use crate::refusals::Refusals;

/// Most bytes of ordinary files that are held in memory; ten times what one run may add.
const MAX_KEPT_BYTES: usize = 100 * 1024 * 1024;

/// A shard that is not the baseline's.
#[derive(Debug)]
pub(crate) struct StagedShard {
    pub(crate) id: ShardId,
    pub(crate) sha256: Digest,
    /// Its records that pass the rules of writers and are not in the baseline.
    pub(crate) records: Vec<Record>,
}

/// What a tar held.
#[derive(Debug, Default)]
pub(crate) struct StagedMemory {
    pub(crate) shards: Vec<StagedShard>,
    pub(crate) refusals: Refusals,
    /// Ordinary files that are new or changed, ascending.
    pub(crate) files: Vec<StagedFile>,
    /// Ordinary files that are larger than any that is kept; their content was not.
    pub(crate) oversized: Vec<MemoryPath>,
    /// Ordinary files that were restored and are gone.
    pub(crate) deleted: Vec<MemoryPath>,
    /// Whether the tar says of every file what became of it.
    pub(crate) complete: bool,
}

/// Reads a tar; `rules` are those of the memory's ledger, `None` where it has none. Of ordinary files above `largest`
/// only the name is kept.
pub(crate) fn read(
    tar: impl Read,
    memory: &MemoryBaseline,
    rules: Option<&WriteRules>,
    largest: Bytes,
) -> StagedMemory {
    let mut found = StagedMemory::default();
    let mut present = BTreeSet::new();
    let read = staged::read(tar, &memory.id, &Bounds::default(), |path, content| {
        present.insert(path.clone());
        found.file(path, content, memory, rules, largest);
    });
    let gone = |path: &&MemoryPath| !present.contains(*path) && read.is_deleted(path);
    found.deleted = memory.files.keys().filter(gone).cloned().collect();
    found.files.sort_by(|one, other| one.path.cmp(&other.path));
    found.refusals.add_many("staged-entry-refused", read.refused_total);
    found.complete = read.is_complete();
    found
}

impl StagedMemory {
    fn file(
        &mut self,
        path: MemoryPath,
        content: Vec<u8>,
        memory: &MemoryBaseline,
        rules: Option<&WriteRules>,
        largest: Bytes,
    ) {
        let sha256 = Digest::of(&content);
        let trusted = memory.files.get(&path);
        let unchanged = trusted.is_some_and(|file| file.sha256 == sha256);
        match path.ledger_part() {
            _ if unchanged => (),
            None if content.len() as u64 > largest.get() || self.files_bytes() > MAX_KEPT_BYTES => {
                self.oversized.push(path)
            }
            None => self.files.push(StagedFile { path, content }),
            // DESIGN §3: any other content under a name that the baseline knows.
            // DB-9-03
            Some(_) if trusted.is_some() => self.refusals.add("shard-tampered"),
            // §5.4, §9: what an agent may never add to a ledger's folder.
            // DB-5.5-02, DB-8-03, DB-9-02
            Some(LedgerPart::Coverage) => self.refusals.add("coverage-refused"),
            Some(LedgerPart::State) => self.refusals.add("state-refused"),
            Some(LedgerPart::Other) => self.refusals.add("ledger-file-refused"),
            Some(LedgerPart::Shard(id)) => match rules {
                None => self.refusals.add("no-ledger"),
                Some(_) if content.len() as u64 > READ_SHARD_BYTES.get() => self.refusals.add("oversized"),
                Some(rules) => self.shard(id, sha256, &content, &memory.records, rules),
            },
        }
    }

    /// What can be told of the files without looking at a branch.
    pub(crate) fn oversized_report(&self) -> FileReport {
        let mut report = FileReport::default();
        self.oversized.iter().for_each(|path| report.set_aside(SetAside::FileSize, path));
        report
    }

    fn files_bytes(&self) -> usize {
        self.files.iter().map(|file| file.content.len()).sum()
    }

    fn shard(&mut self, id: ShardId, sha256: Digest, content: &[u8], known: &BTreeSet<Digest>, rules: &WriteRules) {
        let scan = ShardScan::new(id, content);
        for (code, count) in scan.diagnostics().counts() {
            self.refusals.add_many(code.name(), count);
        }
        let mut records = Vec::new();
        for entry in scan.entries().iter().filter(|entry| !known.contains(&entry.sha())) {
            // The scan has checked the line; parsing it again only gives it an owner.
            let Some(Ok(record)) = entry.location().line_of(content).map(Record::parse) else { continue };
            // DB-3-11
            match rules.check(&record) {
                Ok(()) => records.push(record),
                Err(fault) => self.refusals.add_record(fault.code(), record.id()),
            }
        }
        self.shards.push(StagedShard { id, sha256, records });
    }
}
