//! Names that end up as folder names and git refs.

use std::fmt;

use crate::name::is_name;

/// A name of a workflow, ledger or memory: `[A-Za-z0-9][A-Za-z0-9_-]{0,63}` (FORMATS §6).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// What a [`Name`] may be, for messages.
pub(super) const NAME_RULE: &str = "1 to 64 letters, digits, _ and -, the first a letter or digit";

impl Name {
    /// Checks a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_name(text).then(|| Self(text.to_owned()))
    }

    /// The text of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether two names are one without regard to case; names must differ in more, as folders and branches of both
    /// would meet on a file system that folds case.
    #[must_use]
    pub fn collides(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A branch name that git accepts, without `refs/heads/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(String);

/// Longest branch name in bytes; a ref is a file path where refs are loose.
const MAX_BRANCH_BYTES: usize = 200;

impl BranchName {
    /// Checks a branch name by git's own rules for refs, and refuses what a command line could misread.
    ///
    /// # Errors
    ///
    /// The rule that is broken, as a phrase that says what is allowed.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() || text.len() > MAX_BRANCH_BYTES {
            return Err("a branch name of 1 to 200 bytes");
        }
        if text.chars().any(|c| c.is_control() || c == ' ' || "~^:?*[\\".contains(c)) {
            return Err("a branch name without spaces, control characters and ~ ^ : ? * [ \\");
        }
        if text.contains("..") || text.contains("@{") || text == "@" || text.ends_with('.') {
            return Err("a branch name without .. and @{, not @ alone, and without a dot at the end");
        }
        let bad_part = |part: &str| {
            let lock = part.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("lock"));
            part.is_empty() || part.starts_with('.') || lock
        };
        if text.split('/').any(bad_part) {
            return Err("a branch name whose parts between / are not empty, do not start with a dot or end with .lock");
        }
        if text.starts_with('-') || text == "HEAD" || text.starts_with("refs/") {
            return Err("a branch name that does not start with - or refs/ and is not HEAD");
        }
        Ok(Self(text.to_owned()))
    }

    /// The text of the branch name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both cannot exist as two branches of one repository: equal, or one is a folder of the other.
    #[must_use]
    pub fn collides(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.0.to_ascii_lowercase(), other.0.to_ascii_lowercase());
        ours == theirs || theirs.starts_with(&format!("{ours}/")) || ours.starts_with(&format!("{theirs}/"))
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_their_edges() {
        for good in ["a", "9", "A_b-c", &"x".repeat(64)] {
            assert!(Name::parse(good).is_some(), "{good}");
        }
        for bad in ["", "-a", "_a", ".a", "a b", "a/b", "a.b", "ä", "a\n", &"x".repeat(65)] {
            assert!(Name::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn branch_names_by_the_rules_of_git() {
        for good in ["ledgers/triage", "memory/a.b", "a@b", "x{y", "größe", "a-", "heads/refs"] {
            assert!(BranchName::parse(good).is_ok(), "{good}");
        }
        let long = "x".repeat(201);
        for bad in [
            "",
            "@",
            "a..b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[b",
            "a\\b",
            "a\u{7f}",
            "a\nb",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.LOCK/b",
            "a.",
            "a@{1}",
            "-a",
            "HEAD",
            "refs/heads/a",
            &long,
        ] {
            assert!(BranchName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_branch_cannot_be_a_folder_of_another() {
        let [a, ab, abc] = ["a", "a/b", "a-b"].map(|text| BranchName::parse(text).unwrap());
        assert!(a.collides(&ab) && ab.collides(&a) && a.collides(&a));
        assert!(!a.collides(&abc) && !ab.collides(&abc));
    }
}
