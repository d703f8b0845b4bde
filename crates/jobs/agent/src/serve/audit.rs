//! The transaction log: one event for each append that became durable (§5.2, FORMATS §5).

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use daybook_core::event::MutationEvent;
use daybook_core::limits::Count;
use rustix::fs::{FileType, Mode, OFlags, fstat};

/// A log that is opened with the first event. Its failure never fails an append.
#[derive(Debug)]
pub(super) struct TransactionLog {
    path: PathBuf,
    file: Option<File>,
    complained: bool,
    /// Events that the run may still record before merging drops some.
    left: u64,
}

impl TransactionLog {
    /// A log for at most `bound` events a run.
    pub(super) const fn new(path: PathBuf, bound: Count) -> Self {
        Self { path, file: None, complained: false, left: bound.get() }
    }

    /// How many more events of this process arrive where runs are reviewed.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// Writes events and synchronises the log. Returns whether they are on disk; a failure is told once on standard
    /// error.
    // DB-5.2-11, DB-5.2-12
    pub(super) fn record(&mut self, events: &[MutationEvent]) -> bool {
        let recorded = self.try_record(events).is_some();
        self.left = self.left.saturating_sub(events.len() as u64);
        if !recorded {
            // A log that failed once may hold half a line: the next event starts on a fresh one.
            self.file = None;
            if !std::mem::replace(&mut self.complained, true) {
                eprintln!("daybook-agent: the transaction log cannot be written; appends are durable without it");
            }
        }
        recorded
    }

    fn try_record(&mut self, events: &[MutationEvent]) -> Option<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open(&self.path)?),
        };
        let lines: String = events.iter().flat_map(|event| [event.to_line(), "\n".to_owned()]).collect();
        file.write_all(lines.as_bytes()).ok()?;
        file.sync_data().ok()
    }
}

/// Opens or makes a regular file, without following a link, and closes a line that was left open.
// DB-5.2-14
fn open(path: &std::path::Path) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).ok()?;
    let stat = fstat(&file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let size = u64::try_from(stat.st_size).ok()?;
    let mut file = File::from(file);
    let mut last = [b'\n'];
    if size > 0 {
        rustix::io::pread(&file, &mut last, size - 1).ok()?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n").ok()?;
    }
    Some(file)
}
