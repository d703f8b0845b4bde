//! `daybook init`: a workflow to begin with, its schema for editors, and the pins.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use daybook_core::config::Name;
use daybook_runner::{CommonArgs, Exit, Report};
use serde_json::{Value, json};

use crate::args::Init;

const STARTER: &str = include_str!("init/starter.md");

/// What plays the agent in a dry run.
const SCRIPT: &str = include_str!("init/starter.script.jsonl");

/// Where this binary comes from, where whoever built it said so.
const REPOSITORY: Option<&str> = option_env!("DAYBOOK_BUILD_REPOSITORY");
const COMMIT: Option<&str> = option_env!("DAYBOOK_BUILD_COMMIT");

pub(crate) fn run(args: &Init, common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    if Name::parse(&args.name).is_none() {
        let message = format!("{:?} is no name of a workflow; allowed are letters, digits, _ and -", args.name);
        report.set_exit(Exit::Usage).error("usage", &message);
        return report.emit(common);
    }
    if let Some(root) = outer_repository() {
        let message = format!("this is a folder of the repository {}; run it there", root.display());
        report.set_exit(Exit::Usage).error("not-the-root", &message);
        return report.emit(common);
    }
    let (mut wrote, mut kept) = (0, 0);
    for (path, text) in files(args) {
        match create(Path::new(&path), &text) {
            Ok(true) => {
                wrote += 1;
                report.wrote(path);
            }
            Ok(false) => {
                kept += 1;
                report.note("file-kept", &format!("{path} is there already and was left as it is"));
            }
            Err(error) => {
                report.set_exit(Exit::Io).error("unwritable", &format!("{path}: {error}"));
                return report.emit(common);
            }
        }
    }
    report.count("written", wrote).count("kept", kept);
    report.decided("next: daybook compile, then daybook dry-run; both work without a key and without a server");
    report.emit(common)
}

/// Every file with its text.
fn files(args: &Init) -> [(String, String); 4] {
    let workflow = format!(".github/workflows/{}", args.name);
    let starter = STARTER.replace("ENGINE", args.engine.name()).replace("NAME", &args.name);
    [
        (format!("{workflow}.md"), starter),
        (format!("{workflow}.script.jsonl"), SCRIPT.to_owned()),
        (".github/daybook.schema.json".to_owned(), format!("{:#}\n", daybook_compiler::schema())),
        (".github/daybook.pins.json".to_owned(), format!("{:#}\n", pins(args))),
    ]
}

/// The pins: a commit that a first job of every run builds, until a release is named.
fn pins(args: &Init) -> Value {
    let repository = args.repository.as_deref().or(REPOSITORY).unwrap_or("OWNER/daybook");
    let commit = args.commit.as_deref().or(COMMIT).unwrap_or(daybook_compiler::PLACEHOLDER_COMMIT);
    json!({ "version": 1, "daybook": { "repository": repository, "commit": commit }, "actions": {} })
}

/// Writes a file that is not there yet; says whether it did.
fn create(path: &Path, text: &str) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// The repository around this folder, where this is not its root.
fn outer_repository() -> Option<std::path::PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().find(|folder| folder.join(".git").exists())?;
    (root != here).then(|| root.to_owned())
}
