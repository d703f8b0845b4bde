//! Names of branches.

use std::fmt;

use crate::fault::{FaultKind, RemoteFault};

/// Longest branch name, in bytes: a file system holds a loose reference under its name.
const MAX_BYTES: usize = 200;

/// A checked branch name, without `refs/heads/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BranchName(String);

impl BranchName {
    /// Checks a name by the rules of `git check-ref-format`, and refuses a leading dash.
    ///
    /// # Errors
    /// [`FaultKind::BadBranchName`].
    pub fn parse(text: &str) -> Result<Self, RemoteFault> {
        let valid = text.len() <= MAX_BYTES
            && !text.starts_with('-')
            && text != "HEAD"
            && git2::Reference::is_valid_name(&format!("refs/heads/{text}"));
        if valid { Ok(Self(text.to_owned())) } else { Err(RemoteFault::new(FaultKind::BadBranchName, String::new())) }
    }

    /// The name without `refs/heads/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The full reference: `refs/heads/<name>`.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_would_read_as_something_else_are_refused() {
        for good in ["main", "ledgers/triage", "a.b", "ä/ö"] {
            assert_eq!(BranchName::parse(good).unwrap().reference(), format!("refs/heads/{good}"));
        }
        let long = "x".repeat(MAX_BYTES + 1);
        for bad in [
            "", "-d", "HEAD", "a..b", "a b", "a:b", "a*", "a?", "a[b", "/a", "a/", "a//b", "a.lock", "a\n", "a~1",
            "@{", &long,
        ] {
            assert!(BranchName::parse(bad).is_err(), "{bad:?}");
        }
    }
}
