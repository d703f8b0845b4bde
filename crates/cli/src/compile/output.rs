//! What compiling writes, or compares with what is there.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use daybook_compiler::audit::version_of;
use daybook_runner::{CommonArgs, Exit, Report, Severity};
use serde_json::{Value, json};
use similar::TextDiff;

/// Most of a file that is compared, in bytes.
const MAX_DIFF_BYTES: usize = 1024 * 1024;

/// The files of one run.
pub(crate) struct Outputs {
    check: bool,
    prune: bool,
    written: u64,
    unchanged: u64,
    differing: u64,
    diffs: Vec<String>,
}

impl Outputs {
    pub(crate) fn new(check: bool, prune: bool) -> Self {
        Self { check, prune, written: 0, unchanged: 0, differing: 0, diffs: Vec::new() }
    }

    /// A file as it has to be; `None` where there has to be none.
    pub(crate) fn file(&mut self, path: &Path, wanted: Option<&str>, report: &mut Report) {
        let found = match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            // What cannot be read as text differs in any case.
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Some(String::new()),
            Err(error) => {
                report.set_exit(Exit::Io).error("unreadable", &format!("{}: {error}", path.display()));
                return;
            }
        };
        match (wanted, found) {
            (None, None) => {}
            (None, Some(found)) if version_of(&found).is_none() => {}
            (None, Some(_)) => self.stale(path, report),
            (Some(wanted), found) if found.as_deref() == Some(wanted) => self.unchanged += 1,
            (Some(wanted), found) if self.check => self.differs(path, wanted, found.as_deref(), report),
            (Some(wanted), _) => match write(path, wanted) {
                Ok(()) => {
                    self.written += 1;
                    report.wrote(path.display().to_string());
                }
                Err(error) => {
                    report.set_exit(Exit::Io).error("unwritable", &format!("{}: {error}", path.display()));
                }
            },
        }
    }

    /// A compiled file that nothing compiles to.
    pub(crate) fn stale(&mut self, path: &Path, report: &mut Report) {
        if self.prune {
            match fs::remove_file(path) {
                Ok(()) => report.wrote(format!("removed {}", path.display())),
                Err(error) => report.set_exit(Exit::Io).error("unwritable", &format!("{}: {error}", path.display())),
            };
            return;
        }
        let message = format!("{} has no source; daybook compile --prune removes it", path.display());
        let severity = if self.check { Severity::Error } else { Severity::Warning };
        self.differing += u64::from(self.check);
        report.diagnose(severity, "stale-file", &message, json!({ "file": path.display().to_string() }));
    }

    fn differs(&mut self, path: &Path, wanted: &str, found: Option<&str>, report: &mut Report) {
        self.differing += 1;
        let name = path.display();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mend = format!("run daybook compile {}", folder.display());
        let (code, message) = match found {
            None => ("file-missing", format!("{name} is missing; {mend}")),
            Some(found) => match (version_of(found), version_of(wanted)) {
                (Some(theirs), Some(ours)) if theirs != ours => (
                    "version-differs",
                    format!("{name} was compiled by Daybook {theirs}, and this is {ours}; {mend}, or use that version"),
                ),
                _ => ("file-differs", format!("{name} is not what its source compiles to; {mend}")),
            },
        };
        report.diagnose(Severity::Error, code, &message, json!({ "file": name.to_string() }));
        if let Some(found) = found.filter(|found| found.len() < MAX_DIFF_BYTES) {
            let diff = TextDiff::from_lines(found, wanted);
            let diff = diff
                .unified_diff()
                .context_radius(3)
                .header(&format!("{name}"), &format!("{name} as compiled"))
                .to_string();
            self.diffs.push(diff);
        }
    }

    /// Tells how it went, and prints the differences.
    pub(crate) fn tell(self, report: &mut Report, common: &CommonArgs) {
        report.count("written", self.written).count("unchanged", self.unchanged).count("differing", self.differing);
        if self.differing > 0 && report.exit() == Exit::Ok {
            report.set_exit(Exit::Findings);
        }
        if self.diffs.is_empty() {
            return;
        }
        if common.format().is_document() {
            report.member("diffs", Value::from(self.diffs));
        } else {
            // A reader that went away is no reason to change how this ends.
            let _ = std::io::stdout().write_all(self.diffs.concat().as_bytes());
        }
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".daybook-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    let file = file.persist(path).map_err(|error| error.error)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.set_permissions(mode)
}
