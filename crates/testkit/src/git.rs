//! Real repositories for tests: bare remotes, branches with any tree, hooks.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A bare repository in a folder of its own.
#[derive(Debug)]
pub struct BareRepository {
    path: PathBuf,
}

/// One entry of a tree: mode (`100644`), type (`blob`), object id, name.
pub type TreeRow<'a> = (&'a str, &'a str, &'a str, &'a str);

impl BareRepository {
    /// Makes an empty one at `path`; `format` is `sha1` or `sha256`.
    ///
    /// # Panics
    /// When git does not do it.
    #[must_use]
    pub fn create(path: &Path, format: &str) -> Self {
        let repository = Self { path: path.to_owned() };
        fs::create_dir_all(path).expect("folder for a repository");
        repository.git(&[
            "init",
            "--quiet",
            "--bare",
            &format!("--object-format={format}"),
            "--initial-branch=main",
            ".",
        ]);
        repository
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its `file://` address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    /// Runs git in it and returns what it printed, without the last newline.
    ///
    /// # Panics
    /// When git fails.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_with(args, b"")
    }

    /// As [`BareRepository::git`], with bytes for git to read.
    ///
    /// # Panics
    /// When git fails.
    pub fn git_with(&self, args: &[&str], input: &[u8]) -> String {
        let mut child = Command::new("git")
            .current_dir(&self.path)
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgSign=false"])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git has to be installed");
        child.stdin.take().expect("a pipe").write_all(input).expect("git reads");
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// Stores a blob.
    #[must_use]
    pub fn blob(&self, content: &[u8]) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], content)
    }

    /// Stores a tree as given, with names that git's own porcelain would refuse, too. Rows have to be in git's order.
    #[must_use]
    pub fn tree(&self, rows: &[TreeRow<'_>]) -> String {
        let mut raw = Vec::new();
        for (mode, _, oid, name) in rows {
            raw.extend_from_slice(format!("{} {name}\0", mode.trim_start_matches('0')).as_bytes());
            raw.extend(
                (0..oid.len()).step_by(2).map(|at| u8::from_str_radix(&oid[at..at + 2], 16).expect("hexadecimal")),
            );
        }
        self.git_with(&["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], &raw)
    }

    /// Puts a commit with this tree on a branch, after what is there.
    pub fn commit_tree(&self, branch: &str, tree: &str) -> String {
        let reference = format!("refs/heads/{branch}");
        let parent = self.head(branch);
        let commit = match &parent {
            Some(parent) => self.git(&["commit-tree", tree, "-p", parent, "-m", "test"]),
            None => self.git(&["commit-tree", tree, "-m", "test"]),
        };
        self.git(&["update-ref", &reference, &commit]);
        commit
    }

    /// Puts a commit with these files, and no others, on a branch.
    pub fn commit_files(&self, branch: &str, files: &[(&str, &[u8])]) -> String {
        let index = tempfile_name(&self.path);
        let listed: String =
            files.iter().map(|(path, content)| format!("100644 {}\t{path}\n", self.blob(content))).collect();
        let run = |args: &[&str], input: &str| {
            let mut child = Command::new("git")
                .current_dir(&self.path)
                .env("GIT_INDEX_FILE", &index)
                .args(args)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("git has to be installed");
            child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("git reads");
            let output = child.wait_with_output().expect("git ends");
            assert!(output.status.success(), "git {args:?}");
            String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
        };
        run(&["update-index", "--add", "--index-info"], &listed);
        let tree = run(&["write-tree"], "");
        let _ = fs::remove_file(&index);
        self.commit_tree(branch, &tree)
    }

    /// The commit a branch is at.
    #[must_use]
    pub fn head(&self, branch: &str) -> Option<String> {
        let listed = self.git(&["for-each-ref", "--format=%(objectname)", &format!("refs/heads/{branch}")]);
        (!listed.is_empty()).then_some(listed)
    }

    /// The paths of all files on a branch, with their modes: `100644 path`.
    #[must_use]
    pub fn listing(&self, branch: &str) -> Vec<String> {
        let listed = self.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", &format!("refs/heads/{branch}")]);
        listed.lines().map(str::to_owned).collect()
    }

    /// The content of one file of a branch.
    #[must_use]
    pub fn file(&self, branch: &str, path: &str) -> String {
        self.git(&["cat-file", "blob", &format!("refs/heads/{branch}:{path}")])
    }

    /// Installs a hook of the repository (a shell script).
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn hook(&self, name: &str, script: &str) {
        let path = self.path.join("hooks").join(name);
        fs::create_dir_all(self.path.join("hooks")).expect("hooks folder");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("hook");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("hook mode");
    }

    /// Takes a hook away again.
    ///
    /// # Panics
    /// When it is not there.
    pub fn remove_hook(&self, name: &str) {
        fs::remove_file(self.path.join("hooks").join(name)).expect("hook was installed");
    }
}

fn tempfile_name(folder: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    folder.join(format!("index-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}
