//! Files that commands write: whole, or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use daybook_runner::Exit;
use tempfile::NamedTempFile;

use crate::target::{Refusal, failed};

/// Replaces a file by what `write` writes into one beside it. Only its owner may read it: it holds a memory.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut file = beside(path)?;
    let mut out = BufWriter::new(file.as_file_mut());
    write(&mut out)?;
    out.flush().map_err(|error| unwritable(path, &error))?;
    drop(out);
    file.persist(path).map_err(|error| unwritable(path, &error.error))?;
    Ok(())
}

/// A file without content in the folder of another.
pub(super) fn beside(path: &Path) -> Result<NamedTempFile, Refusal> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".daybook-").tempfile_in(folder).map_err(|error| unwritable(path, &error))
}

/// The refusal of a file that cannot be written.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> Refusal {
    failed(Exit::Io, "unwritable", &format!("{}: {error}", path.display()))
}
