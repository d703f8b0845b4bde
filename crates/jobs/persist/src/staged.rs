//! One staged memory, read from its tar and sorted by what may become of it. Nothing here depends on the branch.

use std::collections::BTreeSet;
use std::io::Read;

use daybook_core::baseline::MemoryBaseline;
use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::path::LedgerPart;
use daybook_core::rules::WriteRules;
use daybook_core::shard::ShardScan;
use daybook_core::{Digest, MemoryPath, Record, ShardId};
use daybook_store::staged::{self, Bounds};

use crate::refusals::Refusals;

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
    /// Ordinary files that are new or changed.
    pub(crate) other_files: u64,
    /// Whether the tar says of every file what became of it.
    pub(crate) complete: bool,
}

/// Reads a tar; `rules` are those of the memory's ledger, `None` where it has none.
pub(crate) fn read(tar: impl Read, memory: &MemoryBaseline, rules: Option<&WriteRules>) -> StagedMemory {
    let mut found = StagedMemory::default();
    let read = staged::read(tar, &memory.id, &Bounds::default(), |path, content| {
        found.file(&path, &content, memory, rules);
    });
    found.refusals.add_many("staged-entry-refused", read.refused_total);
    found.complete = read.is_complete();
    found
}

impl StagedMemory {
    fn file(&mut self, path: &MemoryPath, content: &[u8], memory: &MemoryBaseline, rules: Option<&WriteRules>) {
        let sha256 = Digest::of(content);
        let trusted = memory.files.get(path);
        let unchanged = trusted.is_some_and(|file| file.sha256 == sha256);
        match path.ledger_part() {
            _ if unchanged => (),
            None => self.other_files += 1,
            // DESIGN §3: any other content under a name that the baseline knows.
            Some(_) if trusted.is_some() => self.refusals.add("shard-tampered"),
            // §5.4, §9: what an agent may never add to a ledger's folder.
            Some(LedgerPart::Coverage) => self.refusals.add("coverage-refused"),
            Some(LedgerPart::State) => self.refusals.add("state-refused"),
            Some(LedgerPart::Other) => self.refusals.add("ledger-file-refused"),
            Some(LedgerPart::Shard(id)) => match rules {
                None => self.refusals.add("no-ledger"),
                Some(_) if content.len() as u64 > READ_SHARD_BYTES.get() => self.refusals.add("oversized"),
                Some(rules) => self.shard(id, sha256, content, &memory.records, rules),
            },
        }
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
            match rules.check(&record) {
                Ok(()) => records.push(record),
                Err(fault) => self.refusals.add_record(fault.code(), record.id()),
            }
        }
        self.shards.push(StagedShard { id, sha256, records });
    }
}
