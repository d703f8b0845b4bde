//! `daybook canon`: the canonical text of a JSON file, and its digest.

use std::io::Read;

use daybook_core::Digest;
use daybook_core::json::canonical;
use daybook_runner::{CommonArgs, Exit, Format, Report};

use crate::args::Canon;
use crate::shown::print;

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) fn run(args: &Canon, common: &CommonArgs) -> Exit {
    let mut text = Vec::new();
    let read = if args.file.as_os_str() == "-" {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut text)
    } else {
        std::fs::File::open(&args.file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text))
    };
    let mut report = Report::new(Exit::Ok);
    if let Err(error) = read {
        report.set_exit(Exit::Io).error("unreadable", &format!("{}: {error}", args.file.display()));
        return report.emit(common);
    }
    if text.len() as u64 > MAX_BYTES {
        report.set_exit(Exit::Refused).error("too-large", &format!("more than {MAX_BYTES} bytes"));
        return report.emit(common);
    }
    match canonical(&text) {
        Ok(canonical) => {
            let sha256 = Digest::of(canonical.as_bytes());
            if common.format() != Format::Json {
                return print(&format!("{canonical}\n{sha256}\n"), false);
            }
            report.count("bytes", canonical.len() as u64);
            report.member("canonical", canonical).member("sha256", sha256.to_string());
        }
        Err(fault) => {
            report.set_exit(Exit::Refused).error(fault.code(), &fault.to_string());
        }
    }
    report.emit(common)
}
