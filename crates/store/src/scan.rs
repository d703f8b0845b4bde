//! Reading a whole folder: shards in parallel, the result independent of scheduling.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use daybook_core::diagnostic::Detail;
use daybook_core::limits::Count;
use daybook_core::shard::ShardScan;
use daybook_core::{CheckedLine, Ledger, ShardId};

use crate::{ShardFolder, StoreError};

/// How far a scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Shards read so far.
    pub shards: usize,
    /// Shards to read.
    pub of: usize,
}

/// Reads and reconstructs a ledger, on up to `threads` threads; `progress` is told after each shard.
///
/// Reading stops at `max_shards` (§9). One shard per thread is in memory at a time.
///
/// # Errors
/// Where the folder, or a shard, cannot be read for a reason that lies with the system. What lies with the data
/// becomes a diagnostic of the ledger.
// DB-9-06
pub fn scan_folder(
    folder: &ShardFolder,
    max_shards: Count,
    threads: NonZeroUsize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Ledger, StoreError> {
    scan_folder_noting(folder, max_shards, threads, progress, &|_| ()).map(|(ledger, _)| ledger)
}

/// As [`scan_folder`], and collects what `note` makes of each record while its members are at hand: shard by shard in
/// ascending order, line by line; of a repeated record each copy.
///
/// # Errors
/// As [`scan_folder`].
pub fn scan_folder_noting<T: Send>(
    folder: &ShardFolder,
    max_shards: Count,
    threads: NonZeroUsize,
    progress: &(dyn Fn(Progress) + Sync),
    note: &(dyn Fn(&CheckedLine<'_>) -> T + Sync),
) -> Result<(Ledger, Vec<T>), StoreError> {
    let listing = folder.list()?;
    let bound = usize::try_from(max_shards.get()).unwrap_or(usize::MAX);
    let shards = listing.shards.get(..bound).unwrap_or(&listing.shards);
    let mut builder = Ledger::builder(max_shards);
    for _ in 0..listing.bad_names.min(1024) {
        builder.add_file_fault(None, Detail::BadName);
    }
    if shards.len() < listing.shards.len() || listing.truncated {
        builder.add_file_fault(None, Detail::ShardBound);
    }
    let work = Work { folder, shards, next: AtomicUsize::new(0), done: AtomicUsize::new(0), progress, note };
    let results = Mutex::new(Vec::with_capacity(shards.len()));
    if threads.get() == 1 {
        work.run(&results);
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads.get().min(shards.len()) {
                scope.spawn(|| work.run(&results));
            }
        });
    }
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_unstable_by_key(|(shard, _)| *shard);
    let mut notes = Vec::new();
    for (shard, result) in results {
        match result {
            Ok((scan, mut noted)) => {
                builder.add_scan(scan);
                notes.append(&mut noted);
            }
            Err(StoreError::NotRegular | StoreError::NotAFolder) => {
                builder.add_file_fault(Some(shard), Detail::NotRegular)
            }
            Err(StoreError::Oversized) => builder.add_file_fault(Some(shard), Detail::Oversized),
            Err(error) => return Err(error),
        }
    }
    Ok((builder.finish(), notes))
}

struct Work<'a, T> {
    folder: &'a ShardFolder,
    shards: &'a [ShardId],
    next: AtomicUsize,
    done: AtomicUsize,
    progress: &'a (dyn Fn(Progress) + Sync),
    note: &'a (dyn Fn(&CheckedLine<'_>) -> T + Sync),
}

type Results<T> = Mutex<Vec<(ShardId, Result<(ShardScan, Vec<T>), StoreError>)>>;

impl<T> Work<'_, T> {
    fn run(&self, results: &Results<T>) {
        let mut buffer = Vec::new();
        while let Some(&shard) = self.shards.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let result = self.folder.read_into(shard, &mut buffer).map(|()| {
                let mut notes = Vec::new();
                (ShardScan::noting(shard, &buffer, |line| notes.push((self.note)(line))), notes)
            });
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((shard, result));
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(Progress { shards: done, of: self.shards.len() });
        }
    }
}
