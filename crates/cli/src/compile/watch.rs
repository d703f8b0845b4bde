//! Compiling again whenever a file changes.
//!
//! The files are looked at again and again: they are few, and every file system, container and editor shows what it did
//! that way, which events do not promise.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use daybook_compiler::audit::version_of;
use daybook_runner::{CommonArgs, Exit};

use super::folder::first_line;
use crate::args::Compile;

/// How long between two looks.
const PAUSE: Duration = Duration::from_millis(300);

/// Most files that are looked at, in all folders.
const MAX_FILES: usize = 5000;

/// How deep folders below are looked into.
const MAX_DEPTH: usize = 4;

/// What is known of a file without reading it.
type Seen = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Compiles, and compiles again after each change, until somebody stops it or standard output is closed.
pub(crate) fn watch(args: &Compile, common: &CommonArgs, compile: impl Fn() -> Exit) -> Exit {
    let look = || {
        let mut seen = Seen::new();
        let usual = [PathBuf::from(super::folder::USUAL)];
        let paths = if args.paths.is_empty() { &usual[..] } else { &args.paths };
        for path in paths {
            let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(Path::new("")) };
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            add(folder, 0, &mut seen);
        }
        for pins in args.pins.iter().map(PathBuf::as_path).chain([Path::new(".github/daybook.pins.json")]) {
            add_file(pins, &mut seen);
        }
        seen
    };
    let mut last = look();
    loop {
        let exit = compile();
        if exit == Exit::Io && std::io::Write::flush(&mut std::io::stdout()).is_err() {
            return exit;
        }
        if !common.format().is_document() {
            eprintln!("watching; stop with Ctrl-C");
        }
        loop {
            std::thread::sleep(PAUSE);
            let now = look();
            if now != last {
                last = settled(now, look);
                break;
            }
        }
    }
}

/// Waits until two looks agree: an editor writes in several steps.
fn settled(mut now: Seen, look: impl Fn() -> Seen) -> Seen {
    for _ in 0..10 {
        std::thread::sleep(PAUSE / 3);
        let next = look();
        if next == now {
            break;
        }
        now = next;
    }
    now
}

fn add(folder: &Path, depth: usize, seen: &mut Seen) {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        match entry.file_type() {
            _ if is_hidden => {}
            Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => add(&path, depth + 1, seen),
            Ok(kind) if kind.is_file() => add_file(&path, seen),
            _ => {}
        }
    }
}

/// What compiling writes is no reason to compile again.
fn add_file(path: &Path, seen: &mut Seen) {
    let is_output = path.extension().is_some_and(|ending| ending == "yml") && version_of(&first_line(path)).is_some();
    if seen.len() < MAX_FILES
        && !is_output
        && let Ok(metadata) = fs::metadata(path)
    {
        seen.insert(path.to_owned(), (metadata.modified().ok(), metadata.len()));
    }
}
