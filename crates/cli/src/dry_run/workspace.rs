//! The folder of a dry run: everything that one job hands to another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where everything is. Without `--keep` it is removed at the end.
pub(crate) struct Workspace {
    root: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Workspace {
    /// Makes the folder; one that is kept must be new or empty.
    pub(crate) fn create(keep: Option<&Path>) -> io::Result<Self> {
        let (root, temporary) = match keep {
            Some(folder) => {
                fs::create_dir_all(folder)?;
                if fs::read_dir(folder)?.next().is_some() {
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the folder for --keep is not empty"));
                }
                (folder.to_owned(), None)
            }
            None => {
                let temporary = tempfile::Builder::new().prefix("daybook-dry-run-").tempdir()?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        let workspace = Self { root: root.canonicalize()?, _temporary: temporary };
        for folder in ["home", "tmp", "memory", "staged", "jobs"] {
            fs::create_dir(workspace.root.join(folder))?;
        }
        // The agent's safe-output tool makes this file in Actions.
        fs::write(workspace.safe_outputs(), "")?;
        Ok(workspace)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.root.join("remote.git")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.root.join("config.json")
    }

    pub(crate) fn prompt(&self) -> PathBuf {
        self.root.join("prompt.md")
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.root.join("memory")
    }

    pub(crate) fn baseline(&self) -> PathBuf {
        self.root.join("baseline.json")
    }

    pub(crate) fn transaction_log(&self) -> PathBuf {
        self.root.join("transactions.jsonl")
    }

    pub(crate) fn safe_outputs(&self) -> PathBuf {
        self.root.join("safe-outputs.jsonl")
    }

    pub(crate) fn staged(&self) -> PathBuf {
        self.root.join("staged")
    }

    pub(crate) fn findings(&self) -> PathBuf {
        self.root.join("findings")
    }

    pub(crate) fn outputs(&self) -> PathBuf {
        self.root.join("outputs")
    }

    pub(crate) fn plan(&self) -> PathBuf {
        self.root.join("plan.json")
    }

    pub(crate) fn mcp_config(&self) -> PathBuf {
        self.root.join("mcp.json")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// A file about one job: its report, its log, its step outputs or its summary.
    pub(crate) fn of_job(&self, job: &str, what: &str) -> PathBuf {
        self.root.join("jobs").join(format!("{job}.{what}"))
    }
}
