//! `daybook verify`: checks every record of a ledger, in a folder or on a branch.

use std::num::NonZeroUsize;
use std::path::Path;

use daybook_branch::{BranchName, Remote, RemoteFault, Resolved};
use daybook_core::Ledger;
use daybook_core::diagnostic::{self, Diagnostic};
use daybook_core::limits::{Count, MAX_SHARDS};
use daybook_runner::{CommonArgs, Exit, Report, Severity};
use daybook_store::{MemoryFolder, StoreError, scan_folder};
use serde_json::Value;

use crate::args::Verify;
use crate::ledger_view::LedgerView;
use crate::progress::Bar;
use crate::remote_fault::{exit_of, told};

pub(crate) fn run(args: &Verify, common: &CommonArgs) -> Exit {
    let result = match &args.branch {
        None if is_memory_folder(Path::new(&args.target)) => folder(Path::new(&args.target)),
        branch => repository(&args.target, branch.as_deref()),
    };
    let report = result.map_or_else(|refusal| *refusal, |(what, ledger)| tell(&what, &ledger));
    report.emit(common)
}

type Verified = Result<(String, Ledger), Box<Report>>;

/// Whether something stands where a memory has its ledger, whatever it is.
pub(crate) fn is_memory_folder(path: &Path) -> bool {
    path.join("ledger").symlink_metadata().is_ok()
}

fn folder(path: &Path) -> Verified {
    let refuse = |error: StoreError| {
        let exit = if error == StoreError::NotAFolder { Exit::Refused } else { Exit::Io };
        failed(exit, error.code(), &format!("{}: {error}", path.display()))
    };
    let shards = MemoryFolder::open(path).and_then(|folder| folder.shards()).map_err(refuse)?;
    let Some(shards) = shards else {
        let empty = Ledger::builder(Count::new(MAX_SHARDS.default)).finish();
        return Ok((format!("{} has no shards yet", path.display()), empty));
    };
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let bar = Bar::new();
    let advance = |progress| bar.advance(progress);
    let ledger = scan_folder(&shards, Count::new(MAX_SHARDS.default), threads, &advance).map_err(refuse)?;
    Ok((format!("the folder {}", path.display()), ledger))
}

fn repository(target: &str, branch: Option<&str>) -> Verified {
    if !target.contains(':') && !Path::new(target).exists() {
        return Err(failed(Exit::Usage, "no-such-folder", &format!("there is no {target}")));
    }
    let unreachable = |fault: RemoteFault| {
        let message = format!("{target} is neither a memory folder nor a repository that answers: {}", told(&fault));
        failed(exit_of(&fault), fault.kind().code(), &message)
    };
    let remote = Remote::new(target, None).map_err(unreachable)?;
    let branch = match branch {
        Some(name) => BranchName::parse(name)
            .map_err(|rule| failed(Exit::Usage, "bad-branch", &format!("--branch {name:?}: allowed is {rule}")))?,
        None => only_ledger(&remote).map_err(unreachable)?.map_err(|branches| {
            let found = if branches.is_empty() { "none".to_owned() } else { branches.join(", ") };
            failed(Exit::Usage, "no-branch", &format!("give --branch NAME; ledgers in {target}: {found}"))
        })?,
    };
    if remote.resolve(&branch).map_err(unreachable)? == Resolved::Absent {
        return Err(failed(Exit::Usage, "no-such-branch", &format!("{target} has no branch {branch}")));
    }
    let snapshot = remote.fetch(&branch).map_err(unreachable)?;
    let bar = Bar::new();
    let view = LedgerView::of(&snapshot, |progress| bar.advance(progress))
        .map_err(|fault| failed(Exit::Io, "unreadable", &fault.to_string()))?;
    let head = snapshot.head().map(|head| head.to_string()).unwrap_or_default();
    Ok((format!("branch {branch} at {head}"), view.ledger))
}

/// The only branch below `ledgers/`, or all of them.
fn only_ledger(remote: &Remote) -> Result<Result<BranchName, Vec<String>>, RemoteFault> {
    let mut branches = Vec::new();
    let command = remote.command("ls-remote")?.option("--quiet").operand(remote.url()).operand("refs/heads/ledgers/*");
    let answer = command.lines(|line| {
        let name = String::from_utf8_lossy(line).into_owned();
        if let Some((_, name)) = name.split_once("\trefs/heads/") {
            branches.push(name.to_owned());
        }
    })?;
    if !answer.success() {
        return Err(RemoteFault::from_stderr(&answer.stderr));
    }
    Ok(match branches.as_slice() {
        [only] => BranchName::parse(only).map_err(|_| branches),
        _ => Err(branches),
    })
}

fn tell(what: &str, ledger: &Ledger) -> Report {
    let diagnostics = ledger.diagnostics();
    let mut report = Report::new(if diagnostics.has_errors() { Exit::Findings } else { Exit::Ok });
    report
        .read(format!("{what}: {} shards, {} bytes", ledger.shards(), ledger.bytes()))
        .decided(format!(
            "{} records, {} heads, {} diagnostics",
            ledger.len(),
            ledger.heads().len(),
            diagnostics.total()
        ))
        .count("shards", ledger.shards())
        .count("records", ledger.len() as u64)
        .count("bytes", ledger.bytes())
        .count("heads", ledger.heads().len() as u64)
        .count("incomplete", ledger.incomplete())
        .count("diagnostics", diagnostics.total());
    report.member("heads", ledger.heads().iter().map(|head| Value::from(head.to_string())).collect::<Vec<_>>());
    for diagnostic in diagnostics.kept() {
        let severity = match diagnostic.severity() {
            diagnostic::Severity::Error => Severity::Error,
            diagnostic::Severity::Note => Severity::Note,
        };
        let details = serde_json::to_value(diagnostic).unwrap_or_default();
        report.diagnose(severity, diagnostic.code.name(), &place(diagnostic), details);
    }
    if diagnostics.not_kept() > 0 {
        report.note("not-listed", &format!("{} more diagnostics are counted and not listed", diagnostics.not_kept()));
    }
    report
}

/// Where a diagnostic is, in words.
fn place(diagnostic: &Diagnostic) -> String {
    let mut words = Vec::new();
    if let Some(detail) = diagnostic.detail {
        words.push(
            serde_json::to_value(detail).ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default(),
        );
    }
    words.extend(diagnostic.shard.map(|shard| format!("shard {shard}")));
    words.extend(diagnostic.line.map(|line| format!("line {line}")));
    words.extend(diagnostic.record.map(|record| format!("record {record}")));
    words.join(", ")
}

fn failed(exit: Exit, code: &str, message: &str) -> Box<Report> {
    let mut report = Report::new(exit);
    report.error(code, message);
    Box::new(report)
}
