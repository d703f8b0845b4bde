//! What a command shows: text for a person, perhaps through a pager, or one JSON document.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use daybook_core::Ledger;
use daybook_runner::{CommonArgs, Exit, Format, Report};
use daybook_view::style::Style;
use serde_json::Value;

use crate::args::Showing;
use crate::target::{Refusal, failed};

/// The pager where none is chosen: colours pass, short text is printed, the screen is left as it is.
const PAGER: &str = "less -FRX";

/// Columns of a terminal that does not tell.
const WIDTH: usize = 80;

/// The answer of a command.
pub(crate) struct Shown {
    /// For a person.
    pub(crate) text: String,
    /// For a program; its diagnostics are for both.
    pub(crate) report: Report,
    /// Whether the report is a part of the text, too.
    pub(crate) is_told: bool,
}

impl Shown {
    /// An answer without an objection.
    pub(crate) fn new(text: String, report: Report) -> Self {
        Self { text, report, is_told: false }
    }

    /// Prints what there is to show, or why there is nothing, and gives the exit.
    pub(crate) fn finish(result: Result<Self, Refusal>, common: &CommonArgs, pages: bool) -> Exit {
        let mut shown = match result {
            Ok(shown) => shown,
            Err(refusal) => return refusal.emit(common),
        };
        let format = common.format();
        if format == Format::Json {
            return shown.report.emit(common);
        }
        if shown.is_told || format == Format::Github {
            shown.text.push_str(&shown.report.render(format));
        } else {
            talk(&shown.report);
        }
        match print(&shown.text, pages) {
            Exit::Ok => shown.report.exit(),
            other => other,
        }
    }
}

/// Diagnostics are talk, so that standard output holds nothing but data.
fn talk(report: &Report) {
    let document = report.to_json();
    for diagnostic in document["diagnostics"].as_array().into_iter().flatten() {
        let text = |member: &str| diagnostic.get(member).and_then(Value::as_str).unwrap_or_default();
        let message = daybook_runner::plain(text("message"), 4 * daybook_runner::MAX_TEXT);
        // Where nobody listens there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "{}[{}]: {message}", text("severity"), text("code"));
    }
}

/// Writes text to standard output. A reader that has read enough is no fault.
pub(crate) fn print(text: &str, pages: bool) -> Exit {
    if pages && is_long(text) && paged(text) {
        return Exit::Ok;
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Exit::Io,
        _ => Exit::Ok,
    }
}

/// Whether the text goes to a terminal and does not fit it.
fn is_long(text: &str) -> bool {
    if !std::io::stdout().is_terminal() {
        return false;
    }
    let rows = terminal_size::terminal_size().map_or(24, |(_, rows)| usize::from(rows.0));
    text.lines().nth(rows.saturating_sub(1)).is_some()
}

/// Shows text through the pager of the person; `false` where there is none.
fn paged(text: &str) -> bool {
    let chosen = ["DAYBOOK_PAGER", "PAGER"].into_iter().find_map(|name| std::env::var(name).ok());
    let pager = chosen.unwrap_or_else(|| PAGER.to_owned());
    if pager.trim().is_empty() || pager.trim() == "cat" {
        return false;
    }
    let mut command = Command::new("sh");
    command.args(["-c", &pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A pager that is left before the end has shown enough.
        let _ = input.write_all(text.as_bytes());
    }
    // The shell's own answer where the pager does not exist: then the text is printed after all.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

/// The style that the person asked for.
pub(crate) fn style(showing: &Showing, common: &CommonArgs) -> Style {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let width = match std::io::stdout().is_terminal() {
        true => {
            let asked = || terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
            Some(told.or_else(asked).unwrap_or(WIDTH))
        }
        false => None,
    };
    Style { coloured: common.coloured(), width, absolute: showing.absolute }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> Result<i64, Refusal> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let millis = since.and_then(|since| i64::try_from(since.as_millis()).ok());
    millis.ok_or_else(|| failed(Exit::Io, "clock", "the clock shows a time before 1970"))
}

/// A report about a ledger: what every command counts, and a word where the ledger has findings.
pub(crate) fn about(ledger: &Ledger) -> Report {
    let diagnostics = ledger.diagnostics();
    let mut report = Report::new(Exit::Ok);
    report
        .count("records", ledger.len() as u64)
        .count("heads", ledger.heads().len() as u64)
        .count("shards", ledger.shards())
        .count("bytes", ledger.bytes())
        .count("diagnostics", diagnostics.total());
    if diagnostics.has_errors() {
        let message = format!("the ledger has {} findings; daybook verify lists them", diagnostics.total());
        report.warning("ledger-findings", &message);
    }
    report
}
