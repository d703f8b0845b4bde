//! Actions of others, pinned to a commit.

use std::fmt;

/// An action at a commit, with the version that the commit is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedAction {
    name: String,
    commit: String,
    version: String,
}

/// Why a text is no pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinFault {
    /// Not `owner/repository` with an optional path.
    #[error("{0:?} is no action; allowed is owner/repository, with a path behind it where it has one")]
    Name(String),
    /// Not a full commit.
    #[error("{0:?} is no commit; allowed are 40 lower-case hexadecimal digits")]
    Commit(String),
    /// Not a version.
    #[error("{0:?} is no version; allowed is v1, v1.2 or v1.2.3")]
    Version(String),
}

impl PinnedAction {
    /// Checks a pin.
    ///
    /// # Errors
    ///
    /// [`PinFault`] names the part that is wrong.
    pub fn new(name: &str, commit: &str, version: &str) -> Result<Self, PinFault> {
        let part = |part: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
            !part.is_empty() && part != "." && part != ".." && part.bytes().all(allowed)
        };
        if name.split('/').count() < 2 || !name.split('/').all(part) {
            return Err(PinFault::Name(name.to_owned()));
        }
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if commit.len() != 40 || !commit.bytes().all(hex) {
            return Err(PinFault::Commit(commit.to_owned()));
        }
        let numbers = version.strip_prefix('v').unwrap_or_default();
        let number = |text: &str| !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
        if numbers.split('.').count() > 3 || !numbers.split('.').all(number) {
            return Err(PinFault::Version(version.to_owned()));
        }
        Ok(Self { name: name.to_owned(), commit: commit.to_owned(), version: version.to_owned() })
    }

    /// `owner/repository`, with the path behind it where it has one.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The full commit.
    #[must_use]
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// The version, such as `v6.0.2`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The numbers of the version, missing ones as zero.
    #[must_use]
    pub fn version_numbers(&self) -> [u64; 3] {
        let mut numbers = self.version.trim_start_matches('v').split('.').map(|text| text.parse().unwrap_or(0));
        std::array::from_fn(|_| numbers.next().unwrap_or(0))
    }
}

impl fmt::Display for PinnedAction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.name, self.commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_commits_are_pins() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert!(PinnedAction::new("actions/checkout", commit, "v6.0.2").is_ok());
        assert!(PinnedAction::new("a/b/c", commit, "v6").is_ok());
        for (name, commit, version) in [
            ("checkout", commit, "v6"),
            ("./a", commit, "v6"),
            ("a/../b", commit, "v6"),
            ("a/b", "v6", "v6"),
            ("a/b", &commit[1..], "v6"),
            ("a/b", &commit.to_uppercase(), "v6"),
            ("a/b", commit, "6.0"),
            ("a/b", commit, "v6 # x"),
            ("a/b", commit, "v1.2.3.4"),
        ] {
            assert!(PinnedAction::new(name, commit, version).is_err(), "{name} {commit} {version}");
        }
        let later = PinnedAction::new("a/b", commit, "v6.10").unwrap();
        assert_eq!(later.version_numbers(), [6, 10, 0]);
    }
}
