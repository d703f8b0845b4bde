//! Replacing files in folders that an agent can write to.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use daybook_runner::files::FileFault;

/// The code of the diagnostic about the file called `subject`.
pub(crate) fn code(fault: FileFault, subject: &str) -> &'static str {
    match (subject, fault) {
        ("log", FileFault::Missing) => "log-missing",
        ("log", FileFault::NotRegular) => "log-not-regular",
        ("log", FileFault::Unreadable) => "log-unreadable",
        (_, FileFault::Missing) => "safe-outputs-missing",
        (_, FileFault::NotRegular) => "safe-outputs-not-regular",
        (_, FileFault::Unreadable) => "safe-outputs-unreadable",
    }
}

/// Replaces what `path` names by a new file, as a whole or not at all. A link at that name is replaced, not followed.
pub(crate) fn replace<T>(
    path: &Path,
    mode: Option<u32>,
    write: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".daybook-").tempfile_in(folder)?;
    let result = write(file.as_file_mut())?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()?;
    Ok(result)
}
