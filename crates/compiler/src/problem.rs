//! What is wrong with a source, and where.

use std::fmt;

/// A place in a source; line and column count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
    /// How many characters are meant, at least 1; they may reach into later lines.
    pub length: u64,
}

impl Place {
    /// Where a source starts; the place of what is wrong with the whole.
    pub const START: Self = Self { line: 1, column: 1, length: 3 };
}

/// One reason why a source does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem.
    pub code: &'static str,
    /// What is wrong, and what is allowed.
    pub message: String,
    /// What to type next, where that is known.
    pub hint: Option<String>,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
    /// How many characters are meant, at least 1; they may reach into later lines.
    pub length: u64,
}

impl Problem {
    pub(crate) fn new(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        let Place { line, column, length } = place;
        Self { code, message: message.into(), hint: None, line, column, length }
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { line: self.line, column: self.column, length: self.length }
    }

    pub(crate) fn with_hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}: {}", self.line, self.column, self.code, self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, " ({hint})"),
            None => Ok(()),
        }
    }
}
