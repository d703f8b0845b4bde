//! `daybook compile`: from a workflow source to what the jobs read.

use std::io::{Read, Write};
use std::path::Path;

use daybook_compiler::{Compiled, MAX_SOURCE_BYTES, Problem, compile_config};
use daybook_runner::{CommonArgs, Exit, Format, Report, Severity};
use serde_json::{Value, json};

use crate::args::Compile;

pub(crate) fn run(args: &Compile, common: &CommonArgs) -> Exit {
    let compiled = match source(&args.source) {
        Ok(compiled) => compiled,
        Err(report) => return report.emit(common),
    };
    if common.format == Some(Format::Json) {
        let mut report = Report::new(Exit::Ok);
        report.count("config-bytes", compiled.config_bytes.len() as u64);
        report.member("config", serde_json::from_slice::<Value>(&compiled.config_bytes).unwrap_or_default());
        return report.emit(common);
    }
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(&compiled.config_bytes).and_then(|()| stdout.write_all(b"\n"));
    if written.is_ok() { Exit::Ok } else { Exit::Io }
}

/// Reads and compiles a source; the report says why where that fails.
pub(crate) fn source(path: &Path) -> Result<Compiled, Box<Report>> {
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut text));
    if let Err(error) = read {
        let mut report = Report::new(Exit::Io);
        report.error("unreadable", &format!("{}: {error}", path.display()));
        return Err(Box::new(report));
    }
    let Ok(text) = String::from_utf8(text) else {
        let mut report = Report::new(Exit::Usage);
        report.error("not-utf8", &format!("{} is not UTF-8", path.display()));
        return Err(Box::new(report));
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    compile_config(&text, &name).map_err(|problems| Box::new(refusal(path, &problems)))
}

fn refusal(path: &Path, problems: &[Problem]) -> Report {
    let mut report = Report::new(Exit::Usage);
    report.count("problems", problems.len() as u64);
    for problem in problems {
        let message = format!("{}:{}:{}: {}", path.display(), problem.line, problem.column, problem.message);
        let mut details = json!({ "line": problem.line, "column": problem.column });
        if let (Some(hint), Some(details)) = (&problem.hint, details.as_object_mut()) {
            details.insert("hint".to_owned(), hint.as_str().into());
        }
        report.diagnose(Severity::Error, problem.code, &message, details);
    }
    report
}
