//! Many blobs at once: inflating them is most of the time that reading a ledger takes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use git2::Repository;

use crate::snapshot::{ReadFault, Snapshot, blob};
use crate::tree::Entry;

/// The results of one thread, each with the number of its entry.
type Done<T> = Vec<(usize, Result<T, ReadFault>)>;

impl Snapshot {
    /// Reads the content of each entry, of at most `max` bytes, and hands it to `look`, on as many threads as there are
    /// cores. The results come in the order of the entries, whatever the order of the work was.
    ///
    /// # Errors
    /// The first of the entries that could not be read, as [`Snapshot::content`].
    pub fn read_all<T: Send>(
        &self,
        entries: &[&Entry],
        max: u64,
        look: impl Fn(&Entry, &[u8]) -> T + Sync,
    ) -> Result<Vec<T>, ReadFault> {
        let (next, folder) = (AtomicUsize::new(0), self.folder());
        let work = || -> Result<Done<T>, ReadFault> {
            // libgit2's handles are not shared between threads.
            let repository = Repository::open(folder)?;
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(entry) = entries.get(number) else { return Ok(done) };
                let content = if entry.kind.is_regular() {
                    blob(&repository, entry.oid, max)
                } else {
                    Err(ReadFault::NotRegular)
                };
                done.push((number, content.map(|content| look(entry, &content))));
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(entries.len());
        let mut results = if threads <= 1 {
            work()?
        } else {
            thread::scope(|scope| {
                let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
                let mut results = Vec::with_capacity(entries.len());
                for worker in workers {
                    match worker.join() {
                        Ok(done) => results.extend(done?),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                Ok::<_, ReadFault>(results)
            })?
        };
        results.sort_by_key(|(number, _)| *number);
        results.into_iter().map(|(_, result)| result).collect()
    }
}
