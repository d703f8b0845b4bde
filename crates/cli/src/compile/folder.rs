//! Folders of workflow sources.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use daybook_compiler::audit::version_of;
use daybook_compiler::{MAINTENANCE_FILE, MAX_PINS_BYTES, Pins};
use daybook_runner::Exit;

/// Where sources are looked for when nothing is named.
pub(crate) const USUAL: &str = ".github/workflows";

/// A folder, its sources, and which of them are to be compiled.
pub(crate) struct Folder {
    path: PathBuf,
    sources: Vec<PathBuf>,
    wanted: Vec<PathBuf>,
}

/// The folders of the paths that were named.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<Folder>, (Exit, String)> {
    let usual = [PathBuf::from(USUAL)];
    let paths = if paths.is_empty() { &usual[..] } else { paths };
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in paths {
        let fault = |error: std::io::Error| (Exit::Io, format!("{}: {error}", path.display()));
        if fs::metadata(path).map_err(fault)?.is_dir() {
            folders.entry(path.clone()).or_default().extend(sources(path).map_err(fault)?);
        } else {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            folders.entry(folder).or_default().push(path.clone());
        }
    }
    let mut found = Vec::new();
    for (path, wanted) in folders {
        let mut sources = sources(&path).map_err(|error| (Exit::Io, format!("{}: {error}", path.display())))?;
        sources.extend(wanted.iter().filter(|path| !sources.contains(path)).cloned().collect::<Vec<_>>());
        sources.sort();
        found.push(Folder { path, sources, wanted });
    }
    if found.iter().all(|folder| folder.sources.is_empty() && folder.locks().is_empty()) {
        return Err((Exit::Usage, "there is no workflow source: a file *.md that starts with a line ---".to_owned()));
    }
    Ok(found)
}

/// The one source of the usual folder, for commands that take one.
pub(crate) fn only_source() -> Result<PathBuf, (Exit, String)> {
    let folders = find(&[])?;
    let sources: Vec<&PathBuf> = folders.iter().flat_map(|folder| &folder.sources).collect();
    match sources.as_slice() {
        [source] => Ok((*source).clone()),
        _ => {
            let names: Vec<String> = sources.iter().map(|source| source.display().to_string()).collect();
            Err((Exit::Usage, format!("name one of the workflow sources: {}", names.join(", "))))
        }
    }
}

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut paths =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// Every file that starts as a source does.
fn sources(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut sources = entries(folder)?;
    sources
        .retain(|path| path.extension().is_some_and(|ending| ending == "md") && first_line(path).trim_end() == "---");
    Ok(sources.into_iter().map(|path| folder.join(path.file_name().unwrap_or_default())).collect())
}

pub(crate) fn first_line(path: &Path) -> String {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(512).read_to_end(&mut start));
    let text = if read.is_ok() { String::from_utf8_lossy(&start).into_owned() } else { String::new() };
    text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default().to_owned()
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    pub(crate) fn is_wanted(&self, source: &Path) -> bool {
        self.wanted.iter().any(|wanted| wanted == source)
    }

    fn locks(&self) -> Vec<PathBuf> {
        let mut files = entries(&self.path).unwrap_or_default();
        files.retain(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".lock.yml"))
                && version_of(&first_line(path)).is_some()
        });
        files
    }

    /// Compiled files whose source is gone.
    pub(crate) fn stale(&self) -> Vec<PathBuf> {
        let mut files = self.locks();
        files.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name != MAINTENANCE_FILE && !self.path.join(format!("{}.md", name.trim_end_matches(".lock.yml"))).exists()
        });
        files
    }

    /// The pins of the repository that the folder is in.
    pub(crate) fn pins(&self, named: Option<&Path>) -> Result<Pins, String> {
        let folder = fs::canonicalize(if self.path.as_os_str().is_empty() { Path::new(".") } else { &self.path });
        let folder = folder.map_err(|error| error.to_string())?;
        let usual =
            folder.ancestors().map(|folder| folder.join(".github/daybook.pins.json")).find(|path| path.exists());
        let Some(path) = named.map(Path::to_owned).or(usual) else {
            return Ok(Pins::default());
        };
        let mut text = Vec::new();
        let bound = MAX_PINS_BYTES as u64 + 1;
        let read = fs::File::open(&path).and_then(|file| file.take(bound).read_to_end(&mut text));
        read.map_err(|error| format!("{}: {error}", path.display()))?;
        Pins::parse(&text).map_err(|fault| format!("{}: {fault}", path.display()))
    }
}
