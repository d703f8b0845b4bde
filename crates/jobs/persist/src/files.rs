//! Ordinary files: which of a run's changes land, held against the policy and merged with what the branch has by now.

use std::collections::BTreeMap;

use daybook_branch::{Entry, Oid, Snapshot, merge_texts};
use daybook_core::baseline::MemoryBaseline;
use daybook_core::policy::{FilePolicy, SetAside, TakenNames, is_nearly_full, patch_bytes};
use daybook_core::{Digest, MemoryPath};
use daybook_runner::{Exit, Stop};
use daybook_store::staged::MAX_FILE_BYTES;

use crate::merge::{Kind, Merged, merge};

/// Most names that are kept of each kind; the rest is counted.
const MAX_NAMES: usize = 100;

/// A file that the run added or changed.
#[derive(Debug)]
pub(crate) struct StagedFile {
    pub(crate) path: MemoryPath,
    pub(crate) content: Vec<u8>,
}

/// Names of files: some of them, and how many there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(crate) count: u64,
    pub(crate) shown: Vec<String>,
}

impl Names {
    pub(crate) fn add(&mut self, name: impl ToString) {
        self.count += 1;
        if self.shown.len() < MAX_NAMES {
            self.shown.push(name.to_string());
        }
    }
}

/// What is told of a memory's files.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileReport {
    pub(crate) added: Names,
    pub(crate) changed: Names,
    pub(crate) merged: Names,
    pub(crate) kept_twice: Names,
    pub(crate) deleted: Names,
    pub(crate) set_aside: BTreeMap<SetAside, Names>,
    /// How many files were changed, where the patterns took none of them.
    pub(crate) unmatched: Option<u64>,
    /// Bounds of which the run uses much, as sentences.
    pub(crate) nearly_full: Vec<String>,
}

impl FileReport {
    pub(crate) fn set_aside(&mut self, why: SetAside, path: &MemoryPath) {
        self.set_aside.entry(why).or_default().add(path);
    }

    /// How many changes land.
    pub(crate) fn landed(&self) -> u64 {
        [&self.added, &self.changed, &self.merged, &self.kept_twice, &self.deleted]
            .iter()
            .map(|names| names.count)
            .sum()
    }

    /// How many changes do not.
    pub(crate) fn left_out(&self) -> u64 {
        self.set_aside.values().map(|names| names.count).sum()
    }
}

/// What of a run's files goes into one commit.
#[derive(Debug, Default)]
pub(crate) struct FilePlan {
    pub(crate) puts: Vec<(MemoryPath, Vec<u8>)>,
    pub(crate) deletes: Vec<MemoryPath>,
    pub(crate) report: FileReport,
}

/// The two states that a run's files are held against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) snapshot: &'a Snapshot,
    /// The commit that the run was restored from, and what it restored.
    pub(crate) base: Option<Oid>,
    pub(crate) baseline: &'a MemoryBaseline,
    /// Ordinary files of the branch as it is now.
    pub(crate) head: &'a BTreeMap<MemoryPath, Entry>,
}

impl Sides<'_> {
    /// What the run started from; nothing where the file was not restored from there.
    fn base(&self, path: &MemoryPath) -> Result<Option<Vec<u8>>, Stop> {
        let (Some(commit), Some(known)) = (self.base, self.baseline.files.get(path)) else { return Ok(None) };
        let content = self.snapshot.read_at(commit, path.as_str(), MAX_FILE_BYTES)?;
        Ok(content.filter(|content| Digest::of(content) == known.sha256))
    }

    fn head(&self, path: &MemoryPath) -> Result<Option<Vec<u8>>, Stop> {
        self.head.get(path).map(|entry| self.snapshot.content(entry, MAX_FILE_BYTES)).transpose().map_err(Stop::from)
    }
}

/// Decides about every changed and every deleted file. `run` names the run in the names of files that are kept twice.
pub(crate) fn decide(
    staged: &[StagedFile],
    deleted: &[MemoryPath],
    sides: &Sides<'_>,
    policy: &FilePolicy,
    run: &str,
) -> Result<FilePlan, Stop> {
    let mut decision =
        Decision { policy, sides, run, names: TakenNames::default(), files: 0, patch: 0, plan: FilePlan::default() };
    for path in sides.head.keys() {
        decision.names.take(path);
        decision.files += 1;
    }
    deleted.iter().try_for_each(|path| decision.delete(path))?;
    staged.iter().try_for_each(|file| decision.change(file))?;
    if !staged.is_empty() && !staged.iter().any(|file| policy.takes(&file.path)) {
        decision.plan.report.unmatched = Some(staged.len() as u64);
    }
    decision.tell_nearly_full();
    Ok(decision.plan)
}

struct Decision<'a> {
    policy: &'a FilePolicy,
    sides: &'a Sides<'a>,
    run: &'a str,
    names: TakenNames,
    files: u64,
    patch: u64,
    plan: FilePlan,
}

impl Decision<'_> {
    fn delete(&mut self, path: &MemoryPath) -> Result<(), Stop> {
        let (base, head) = (self.sides.base(path)?, self.sides.head(path)?);
        let merged = merge(Kind::Text, base.as_deref(), head.as_deref(), None, merge_texts).map_err(unmerged)?;
        if merged == Merged::Delete {
            self.names.release(path);
            self.files = self.files.saturating_sub(1);
            self.plan.report.deleted.add(path);
            self.plan.deletes.push(path.clone());
        }
        Ok(())
    }

    fn change(&mut self, file: &StagedFile) -> Result<(), Stop> {
        let path = &file.path;
        if let Err(why) = self.policy.check(path, file.content.len() as u64) {
            self.plan.report.set_aside(why, path);
            return Ok(());
        }
        if self.sides.head.get(path).is_some_and(|entry| !entry.kind.is_regular()) {
            self.plan.report.set_aside(SetAside::NameTaken, path);
            return Ok(());
        }
        let (base, head) = (self.sides.base(path)?, self.sides.head(path)?);
        let merged = merge(Kind::of(path.as_str()), base.as_deref(), head.as_deref(), Some(&file.content), merge_texts);
        match merged.map_err(unmerged)? {
            // What a run left is never nothing: a file that goes away is no staged file.
            Merged::Keep | Merged::Delete => {}
            Merged::Take => {
                let is_new = head.is_none();
                if self.put(path, path, head.as_deref(), file.content.clone()) {
                    let report = &mut self.plan.report;
                    if is_new { &mut report.added } else { &mut report.changed }.add(path);
                }
            }
            Merged::Mixed(content) => {
                if self.put(path, path, head.as_deref(), content) {
                    self.plan.report.merged.add(path);
                }
            }
            Merged::Both => self.keep_twice(file)?,
        }
        Ok(())
    }

    /// Puts the run's version beside the branch's, under the name of the run.
    fn keep_twice(&mut self, file: &StagedFile) -> Result<(), Stop> {
        let digest = Digest::of(&file.content).to_string();
        let digest: String = digest.trim_start_matches("sha256:").chars().take(8).collect();
        // A second conflict of one run, which a repeated job may have, gets the digest into its name.
        for mark in [self.run.to_owned(), format!("{}-{digest}", self.run)] {
            let Some(beside) = beside(&file.path, &mark) else { break };
            match self.sides.head(&beside)? {
                Some(there) if there == file.content => return Ok(()),
                Some(_) => {}
                None => {
                    if self.put(&file.path, &beside, None, file.content.clone()) {
                        self.plan.report.kept_twice.add(format!("{} as {beside}", file.path));
                    }
                    return Ok(());
                }
            }
        }
        self.plan.report.set_aside(SetAside::NameTaken, &file.path);
        Ok(())
    }

    /// Plans to write `content` to `to`, if the bounds allow it; `path` is the file that is set aside otherwise.
    fn put(&mut self, path: &MemoryPath, to: &MemoryPath, head: Option<&[u8]>, content: Vec<u8>) -> bool {
        match self.room(to, head, &content) {
            Ok(patch) => {
                self.patch += patch;
                self.files += u64::from(head.is_none());
                self.plan.puts.push((to.clone(), content));
                true
            }
            Err(why) => {
                self.plan.report.set_aside(why, path);
                false
            }
        }
    }

    /// The bytes that a change adds to the patch.
    fn room(&mut self, to: &MemoryPath, head: Option<&[u8]>, content: &[u8]) -> Result<u64, SetAside> {
        if content.len() as u64 > self.policy.max_file_size().get() {
            return Err(SetAside::FileSize);
        }
        let patch = patch_bytes(head.unwrap_or_default(), content);
        if self.patch.saturating_add(patch) > self.policy.max_patch_size().get() {
            return Err(SetAside::PatchSize);
        }
        if head.is_none() {
            if self.files >= self.policy.max_file_count().get() {
                return Err(SetAside::FileCount);
            }
            if !self.names.take(to) {
                return Err(SetAside::NameTaken);
            }
        }
        Ok(patch)
    }

    fn tell_nearly_full(&mut self) {
        if self.plan.report.landed() == 0 {
            return;
        }
        let (count, patch, size) =
            (self.policy.max_file_count().get(), self.policy.max_patch_size().get(), self.policy.max_file_size().get());
        let mut told = Vec::new();
        if is_nearly_full(self.files, count) {
            told.push(format!("{} of {count} files (max-file-count)", self.files));
        }
        if is_nearly_full(self.patch, patch) {
            told.push(format!("{} of {patch} bytes added in one run (max-patch-size)", self.patch));
        }
        let large = self.plan.puts.iter().filter(|(_, content)| is_nearly_full(content.len() as u64, size)).count();
        if large > 0 {
            told.push(format!("{large} files near {size} bytes (max-file-size)"));
        }
        self.plan.report.nearly_full = told;
    }
}

fn unmerged(error: daybook_branch::MergeFault) -> Stop {
    Stop::new(Exit::Internal, "merge-failed", error.to_string())
}

/// `name.conflict-<mark>.ext` for `name.ext`; `None` where no such path is allowed.
fn beside(path: &MemoryPath, mark: &str) -> Option<MemoryPath> {
    let mark: String = mark.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(48).collect();
    let (folder, name) = path.as_str().rsplit_once('/').map_or(("", path.as_str()), |(folder, name)| (folder, name));
    let (stem, ending) =
        name.rsplit_once('.').map_or((name, String::new()), |(stem, ending)| (stem, format!(".{ending}")));
    let slash = if folder.is_empty() { "" } else { "/" };
    MemoryPath::parse(&format!("{folder}{slash}{stem}.conflict-{}{ending}", mark.trim_matches('-'))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_version_keeps_its_folder_and_its_ending() {
        let of = |path: &str, mark: &str| beside(&MemoryPath::parse(path).unwrap(), mark).map(|path| path.to_string());
        assert_eq!(of("notes.md", "triage 12").as_deref(), Some("notes.conflict-triage-12.md"));
        assert_eq!(of("a/b.c/notes", "../x").as_deref(), Some("a/b.c/notes.conflict-x"));
        assert_eq!(of(&"n".repeat(250), "run"), None);
    }
}
