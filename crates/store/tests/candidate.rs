//! Candidate trees: what is written, and what keeps one from being written.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use daybook_core::MemoryPath;
use daybook_store::{StoreError, write_candidate};
use daybook_testkit::said;

fn write(folder: &Path, files: &[(&str, &str)]) -> Result<u64, StoreError> {
    let files: Vec<(MemoryPath, &str)> =
        files.iter().map(|(path, content)| (MemoryPath::parse(path).unwrap(), *content)).collect();
    write_candidate(folder, files.iter().map(|(path, content)| (path, content.as_bytes())))
}

#[test]
fn files_are_written_as_they_are_and_only_for_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(200_000);
    let files =
        [("a", ""), ("deep/er/file.md", "text\n"), ("deep/other", &long), ("2026-07-01T10:00:00Z \".json", "{}")];
    assert_eq!(write(folder.path(), &files), Ok(200_007));
    for (path, content) in files {
        let path = folder.path().join(path);
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(folder.path().join("deep")).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_folder_that_is_not_fresh_is_not_written_into() {
    let outside = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Good state: an empty folder is taken.
    assert_eq!(write(&fresh(folder.path(), "good"), &[("a", "b")]), Ok(1));
    // Attacks: a link where a folder of the tree should be, a file that is there already, a link in place of the folder.
    let linked = fresh(folder.path(), "linked");
    symlink(outside.path(), linked.join("deep")).unwrap();
    let used = fresh(folder.path(), "used");
    fs::write(used.join("a"), "old").unwrap();
    let link = folder.path().join("link");
    symlink(outside.path(), &link).unwrap();
    for (place, path, code) in [
        (&linked, "deep/a", "folder-not-empty"),
        (&used, "a", "folder-not-empty"),
        (&link, "a", "not-a-folder"),
        (&folder.path().join("nowhere"), "a", "not-found"),
    ] {
        let refused = write(place, &[(path, "b")]).unwrap_err();
        assert_eq!(said::code(&refused, StoreError::code), code, "{}", place.display());
    }
    // Nothing changed.
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(used.join("a")).unwrap(), "old");
    // The next good operation works.
    assert_eq!(write(&fresh(folder.path(), "next"), &[("deep/a", "b")]), Ok(1));
}

#[test]
fn paths_that_cannot_both_be_files_are_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    for (number, files) in
        [[("a", "1"), ("a/b", "2")], [("a/b", "2"), ("a", "1")], [("a", "1"), ("a", "2")]].iter().enumerate()
    {
        let refused = write(&fresh(folder.path(), &number.to_string()), files).unwrap_err();
        assert_eq!(said::code(&refused, StoreError::code), "path-conflict", "{files:?}");
    }
}

fn fresh(folder: &Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::create_dir(&path).unwrap();
    path
}
