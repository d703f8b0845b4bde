//! `daybook compile`: from workflow sources to the workflows that lie beside them.

mod folder;
mod output;
mod picture;
mod watch;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use daybook_compiler::{Compiled, Files, MAX_SOURCE_BYTES, Problem, compile_config_with};
use daybook_runner::{CommonArgs, Exit, Format, Report, Severity};
use serde_json::{Value, json};

use self::folder::Folder;
use self::output::Outputs;
use crate::args::Compile;

pub(crate) fn run(args: &Compile, common: &CommonArgs) -> Exit {
    if args.config_only {
        return config_only(args, common);
    }
    if args.watch { watch::watch(args, common, || once(args, common)) } else { once(args, common) }
}

/// The only source there is, for commands that take one.
pub(crate) fn only_source() -> Result<PathBuf, Box<Report>> {
    folder::only_source().map_err(|(exit, message)| {
        let mut report = Report::new(exit);
        report.error("no-sources", &message);
        Box::new(report)
    })
}

fn once(args: &Compile, common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    let folders = match folder::find(&args.paths) {
        Ok(folders) => folders,
        Err((exit, message)) => {
            report.set_exit(exit).error("no-sources", &message);
            return report.emit(common);
        }
    };
    let mut outputs = Outputs::new(args.check, args.prune);
    for folder in &folders {
        compile_folder(folder, args, &mut outputs, &mut report, common);
    }
    outputs.tell(&mut report, common);
    report.emit(common)
}

/// Compiles what was asked for of one folder; maintenance is always made from all of its sources.
fn compile_folder(folder: &Folder, args: &Compile, outputs: &mut Outputs, report: &mut Report, common: &CommonArgs) {
    let pins = match folder.pins(args.pins.as_deref()) {
        Ok(pins) => pins,
        Err(message) => {
            report.set_exit(Exit::Usage).error("pins-invalid", &message);
            return;
        }
    };
    if pins.is_placeholder() {
        let message = "the pins file names no commit of Daybook that exists; runs of the compiled workflows will fail";
        let hint =
            "in .github/daybook.pins.json name repository and commit, or repository, tag and archives of a release";
        report.diagnose(Severity::Warning, "tools-placeholder", message, json!({ "hint": hint }));
    }
    let mut all = Vec::new();
    let mut sound = true;
    for source in folder.sources() {
        let name = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = match read(source) {
            Ok(text) => text,
            Err((exit, problem)) => {
                sound = false;
                report.set_exit(exit);
                problems(&Told { path: source, text: None, common }, &[problem], Severity::Error, report);
                continue;
            }
        };
        let told = Told { path: source, text: Some(&text), common };
        match daybook_compiler::compile(&text, &name, &Beside(source), &pins) {
            Ok(checked) => {
                problems(&told, checked.warnings(), Severity::Warning, report);
                if folder.is_wanted(source) {
                    outputs.file(&lock_file(source), Some(checked.text()), report);
                }
                all.push(checked);
            }
            Err(found) => {
                sound = false;
                report.set_exit(Exit::Usage);
                problems(&told, &found, Severity::Error, report);
            }
        }
    }
    shared_branches(&all, report);
    let maintenance = folder.path().join(daybook_compiler::MAINTENANCE_FILE);
    // With a source that does not compile, nobody knows which ledgers there are.
    if sound {
        match daybook_compiler::maintenance(&all, &pins) {
            Ok(text) => outputs.file(&maintenance, text.as_deref(), report),
            Err(found) => {
                report.set_exit(Exit::Usage);
                problems(&Told { path: &maintenance, text: None, common }, &found, Severity::Error, report);
            }
        }
    }
    for stale in folder.stale() {
        outputs.stale(&stale, report);
    }
}

/// Two workflows with one branch is allowed, and must not be a surprise.
fn shared_branches(all: &[daybook_compiler::Checked], report: &mut Report) {
    let mut branches: Vec<(&str, &str)> = Vec::new();
    for checked in all {
        for memory in checked.compiled().config.memories() {
            let branch = memory.branch.as_str();
            if let Some((_, other)) = branches.iter().find(|(known, _)| *known == branch) {
                let message = format!("{} and {other} share the memory branch {branch}", checked.file_name());
                let details = json!({ "branch": branch, "files": [other, checked.file_name()] });
                report.diagnose(Severity::Note, "branch-shared", &message, details);
            }
            branches.push((branch, checked.file_name()));
        }
    }
}

fn lock_file(source: &Path) -> PathBuf {
    source.with_extension("lock.yml")
}

fn config_only(args: &Compile, common: &CommonArgs) -> Exit {
    let [path] = args.paths.as_slice() else {
        let mut report = Report::new(Exit::Usage);
        report.error("usage", "--config-only takes one workflow source");
        return report.emit(common);
    };
    let compiled = match source(path, common) {
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

/// Reads a source and compiles its configuration; the report says why where that fails.
pub(crate) fn source(path: &Path, common: &CommonArgs) -> Result<Compiled, Box<Report>> {
    let refusal = |text: Option<&str>, found: &[Problem], exit| {
        let mut report = Report::new(exit);
        report.count("problems", found.len() as u64);
        problems(&Told { path, text, common }, found, Severity::Error, &mut report);
        Box::new(report)
    };
    let text = read(path).map_err(|(exit, found)| refusal(None, &[found], exit))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    compile_config_with(&text, &name, &Beside(path)).map_err(|found| refusal(Some(&text), &found, Exit::Usage))
}

fn read(path: &Path) -> Result<String, (Exit, Problem)> {
    let problem = |code, message| Problem { code, message, hint: None, line: 1, column: 1, length: 1 };
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut text));
    read.map_err(|error| (Exit::Io, problem("unreadable", error.to_string())))?;
    String::from_utf8(text).map_err(|_| (Exit::Usage, problem("not-utf8", "the file is not UTF-8".to_owned())))
}

/// What problems are about.
struct Told<'t> {
    path: &'t Path,
    /// The text of the source, where it could be read.
    text: Option<&'t str>,
    common: &'t CommonArgs,
}

/// Problems of one source that are shown with their line; the rest have one line each.
const MAX_PICTURES: usize = 50;

fn problems(told: &Told<'_>, found: &[Problem], severity: Severity, report: &mut Report) {
    let file = told.path.display().to_string();
    for (number, problem) in found.iter().enumerate() {
        let Problem { code, message, hint, line, column, length } = problem;
        let mut details = json!({ "file": file, "line": line, "column": column, "length": length });
        if let (Some(hint), Some(details)) = (hint, details.as_object_mut()) {
            details.insert("hint".to_owned(), hint.as_str().into());
        }
        report.diagnose(severity, code, message, details);
        if let Some(text) = told.text.filter(|_| number < MAX_PICTURES) {
            report.picture(picture::picture(&file, text, problem, severity, told.common.coloured()));
        }
    }
}

/// Files in the folder of a source.
struct Beside<'p>(&'p Path);

impl Files for Beside<'_> {
    fn read(&self, name: &str) -> Result<String, String> {
        let path = self.0.parent().unwrap_or(Path::new("")).join(name);
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
        file.take(MAX_SOURCE_BYTES as u64).read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }
}
