//! Object ids of either format git has.

use std::fmt;
use std::str::FromStr;

use git2::ObjectFormat;

/// A text that is no full object id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a full object id (40 or 64 lower-case hexadecimal digits)")]
pub struct NotAnOid;

/// A full object id: 40 hexadecimal digits in a SHA-1 repository, 64 in a SHA-256 one. Abbreviations do not parse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(git2::Oid);

impl Oid {
    /// The same id as libgit2 has it.
    #[must_use]
    pub fn raw(self) -> git2::Oid {
        self.0
    }

    /// The object format of the repository that this id belongs to.
    #[must_use]
    pub fn format(self) -> ObjectFormat {
        self.0.object_format()
    }
}

impl From<git2::Oid> for Oid {
    fn from(raw: git2::Oid) -> Self {
        Self(raw)
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Oid({})", self.0)
    }
}

impl FromStr for Oid {
    type Err = NotAnOid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let format = match text.len() {
            40 => ObjectFormat::Sha1,
            64 => ObjectFormat::Sha256,
            _ => return Err(NotAnOid),
        };
        // git prints lower case only; one spelling per id keeps comparisons by text honest.
        if !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(NotAnOid);
        }
        git2::Oid::from_str_ext(text, format).map(Self).map_err(|_| NotAnOid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lower_case_ids_parse() {
        for good in ["a".repeat(40), "0123456789abcdef".repeat(4)] {
            assert_eq!(good.parse::<Oid>().unwrap().to_string(), good);
        }
        for bad in ["", "abc", &"A".repeat(40), &"g".repeat(40), &"a".repeat(41), &"ä".repeat(20), "HEAD"] {
            assert_eq!(bad.parse::<Oid>(), Err(NotAnOid), "{bad}");
        }
    }
}
