//! The text of this repository: what tests look through, in a fixed order.

use std::fs;
use std::path::Path;

use crate::vectors::repository;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path below the root of the repository, with `/`.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// All files below some folders (or files) of the repository whose names end like this, by path.
///
/// # Panics
/// Where one cannot be read: what is not looked at must never look like what is in order.
#[must_use]
pub fn files(folders: &[&str], ending: &str) -> Vec<Source> {
    let root = repository();
    let mut found = Vec::new();
    for folder in folders {
        walk(&root, folder, ending, &mut found);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// All Rust sources of the workspace.
///
/// # Panics
/// As [`files`].
#[must_use]
pub fn rust() -> Vec<Source> {
    files(&["crates"], ".rs")
}

fn walk(root: &Path, path: &str, ending: &str, found: &mut Vec<Source>) {
    let full = root.join(path);
    if full.is_dir() {
        let entries = fs::read_dir(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
        for entry in entries {
            let name = entry.unwrap_or_else(|error| panic!("{path}: {error}")).file_name();
            let name = name.to_str().unwrap_or_else(|| panic!("{path} has a name that is not UTF-8"));
            if !matches!(name, "target" | "node_modules") {
                walk(root, &format!("{path}/{name}"), ending, found);
            }
        }
    } else if path.ends_with(ending) {
        let text = fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
        found.push(Source { path: path.to_owned(), text });
    }
}
