//! Packs each memory folder, and notes which claims the packed records confirm.

use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write};

use daybook_core::baseline::{Baseline, MemoryBaseline};
use daybook_core::config::{Config, MemoryConfig};
use daybook_core::limits::READ_SHARD_BYTES;
use daybook_core::shard::ShardScan;
use daybook_core::{Digest, Record, ShardId};
use daybook_runner::Report;
use daybook_store::staged::{Found, MAX_ENTRIES, MAX_FILE_BYTES, MAX_TOTAL_BYTES, Manifest, Walk, Writer, walk};

use crate::log::{Claim, Log};
use crate::{Args, files};

/// The claimed records that are really there and new.
#[derive(Default)]
pub(crate) struct StagedRecords(HashMap<(String, Digest), Record>);

impl StagedRecords {
    /// Whether a claim says of a staged record what the record says of itself.
    pub(crate) fn confirms(&self, claim: &Claim) -> bool {
        let key = (claim.ledger.clone(), claim.event.record_sha());
        self.0.get(&key).is_some_and(|record| claim.event.agrees_with(record))
    }
}

/// Packs every memory of the configuration into `<id>.tar`.
pub(crate) fn all(args: &Args, config: &Config, baseline: &Baseline, log: &Log, report: &mut Report) -> StagedRecords {
    let mut staged = StagedRecords::default();
    let is_folder = |path: &std::path::Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if std::fs::create_dir_all(&args.out).is_err() || !is_folder(&args.out) {
        report.warning("out-unwritable", "the folder for packed memories cannot be written; nothing was packed");
        return staged;
    }
    for memory in config.memories() {
        let id = memory.id.as_str();
        let ledger = config.ledger_in(id).map(|ledger| ledger.name.to_string());
        let claimed = log.claims().iter().filter(|claim| Some(&claim.ledger) == ledger.as_ref());
        let mut packer = Packer {
            baseline: baseline.memory(id),
            claimed: claimed.map(|claim| claim.event.record_sha()).collect(),
            ledger: ledger.unwrap_or_default(),
            staged: &mut staged,
        };
        let walked = walk(&args.memory_root.join(id));
        let target = args.out.join(format!("{id}.tar"));
        match files::replace(&target, Some(0o644), |file| packer.pack(memory, &walked, BufWriter::new(file))) {
            Ok(manifest) => tell(memory, &manifest, report),
            Err(_) => {
                report.warning("pack-failed", &format!("memory {id} could not be packed; nothing of it will persist"));
            }
        }
    }
    staged
}

fn tell(memory: &MemoryConfig, manifest: &Manifest, report: &mut Report) {
    let id = &memory.id;
    report
        .read(format!("{} files of memory {id}", manifest.entries))
        .wrote(format!("memory {id} packed: {} files, {} bytes", manifest.entries, manifest.bytes))
        .count(&format!("{id}-files"), manifest.entries)
        .count(&format!("{id}-bytes"), manifest.bytes)
        .count(&format!("{id}-refused"), manifest.refused.len() as u64);
    if !manifest.refused.is_empty() {
        let message = format!("memory {id}: {} files or folders were not taken along", manifest.refused.len());
        report.warning("entries-refused", &message);
    }
    if !manifest.complete {
        let message = format!("memory {id} is not complete: nothing of it will be deleted");
        report.warning("pack-incomplete", &message);
    }
}

struct Packer<'a> {
    baseline: Option<&'a MemoryBaseline>,
    claimed: HashSet<Digest>,
    ledger: String,
    staged: &'a mut StagedRecords,
}

impl Packer<'_> {
    fn pack(&mut self, memory: &MemoryConfig, walked: &Walk, out: impl Write) -> std::io::Result<Manifest> {
        let mut writer = Writer::new(out, memory.id.as_str());
        for (path, reason) in &walked.refused {
            writer.refuse(path, reason);
        }
        let chosen = self.choose(&walked.files);
        for (found, fits) in walked.files.iter().zip(chosen) {
            if !fits {
                writer.refuse(found.path.as_str(), "over-bound");
                continue;
            }
            // A file may have grown since it was listed; the bound on all files counts what was listed.
            match walked.read(&found.path, found.bytes.min(MAX_FILE_BYTES)) {
                Ok(Some(content)) => {
                    self.note(found, &content);
                    writer.add(&found.path, &content)?;
                }
                Ok(None) => writer.refuse(found.path.as_str(), "changed"),
                Err(_) => writer.refuse(found.path.as_str(), "unreadable"),
            }
        }
        let (mut out, manifest) = writer.finish(walked.complete)?;
        out.flush()?;
        Ok(manifest)
    }

    /// Which files fit under the bounds on a tar. What was restored comes first, then the ledger, so that a heap of new
    /// files displaces neither.
    fn choose(&self, found: &[Found]) -> Vec<bool> {
        let restored = |found: &Found| self.baseline.is_some_and(|baseline| baseline.files.contains_key(&found.path));
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|index| found.get(*index).map(|found| (!restored(found), !found.path.is_ledger())));
        let mut chosen = vec![false; found.len()];
        let (mut entries, mut bytes) = (0, 0_u64);
        for index in order {
            if let (Some(found), Some(fits)) = (found.get(index), chosen.get_mut(index)) {
                let total = bytes.saturating_add(found.bytes);
                if found.bytes <= MAX_FILE_BYTES && entries < MAX_ENTRIES && total <= MAX_TOTAL_BYTES {
                    *fits = true;
                    entries += 1;
                    bytes = total;
                }
            }
        }
        chosen
    }

    /// Keeps the claimed records of a shard that is not the restored one.
    fn note(&mut self, found: &Found, content: &[u8]) {
        let restored = self.baseline.and_then(|baseline| baseline.files.get(&found.path));
        let unchanged = |sha256: Digest| sha256 == Digest::of(content);
        if self.claimed.is_empty() || restored.is_some_and(|file| unchanged(file.sha256)) {
            return;
        }
        if let Some(shard) = found.path.shard().filter(|_| content.len() as u64 <= READ_SHARD_BYTES.get()) {
            self.note_records(shard, content);
        }
    }

    fn note_records(&mut self, shard: ShardId, content: &[u8]) {
        for entry in ShardScan::new(shard, content).entries() {
            let sha = entry.sha();
            let known = self.baseline.is_some_and(|baseline| baseline.records.contains(&sha));
            if known || !self.claimed.contains(&sha) {
                continue;
            }
            if let Some(record) = entry.location().line_of(content).and_then(|line| Record::parse(line).ok()) {
                self.staged.0.insert((self.ledger.clone(), sha), record);
            }
        }
    }
}
