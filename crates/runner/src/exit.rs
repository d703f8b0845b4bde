//! The exit codes that all binaries share (FORMATS §8).

use std::process::{ExitCode, Termination};

/// How a binary ended. No other exit code is ever used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exit {
    /// Done, or nothing was to be done.
    Ok,
    /// A check found problems; nothing is wrong with the check itself.
    Findings,
    /// Bad arguments or configuration.
    Usage,
    /// The input as a whole is hostile or invalid; nothing changed.
    Refused,
    /// The ledger moved on or conflicts; nothing changed and the next run plans again.
    Stale,
    /// The branch head moved on every attempt; nothing changed.
    Contended,
    /// The remote refused: permission, branch protection or size.
    Denied,
    /// The author's validation script said no or did not finish.
    Policy,
    /// One part was kept, another was refused or set aside; the report says which.
    Partial,
    /// A bug in Daybook.
    Internal,
    /// Something could not be read, written or synchronised.
    Io,
}

/// Code and name of every exit, in ascending order of the code.
const TABLE: [(Exit, u8, &str); 11] = [
    (Exit::Ok, 0, "ok"),
    (Exit::Findings, 1, "findings"),
    (Exit::Usage, 2, "usage"),
    (Exit::Refused, 3, "refused"),
    (Exit::Stale, 4, "stale"),
    (Exit::Contended, 5, "contended"),
    (Exit::Denied, 6, "denied"),
    (Exit::Policy, 7, "policy"),
    (Exit::Partial, 8, "partial"),
    (Exit::Internal, 70, "internal"),
    (Exit::Io, 74, "io"),
];

impl Exit {
    /// Every exit, in ascending order of its code.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// The process exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        self.row().0
    }

    /// The name that reports show as `outcome`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The exit with this process code; `None` for a code that no Daybook binary ends with.
    #[must_use]
    pub fn from_code(code: i32) -> Option<Self> {
        TABLE.iter().find(|row| i32::from(row.1) == code).map(|row| row.0)
    }

    fn row(self) -> (u8, &'static str) {
        TABLE.iter().find(|row| row.0 == self).map_or((70, "internal"), |row| (row.1, row.2))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_has_its_own_row_in_the_table() {
        let every = [
            Exit::Ok,
            Exit::Findings,
            Exit::Usage,
            Exit::Refused,
            Exit::Stale,
            Exit::Contended,
            Exit::Denied,
            Exit::Policy,
            Exit::Partial,
            Exit::Internal,
            Exit::Io,
        ];
        assert!(Exit::all().eq(every));
        for exit in every {
            assert_eq!(Exit::from_code(i32::from(exit.code())), Some(exit));
        }
        assert_eq!((Exit::Partial.code(), Exit::Partial.name()), (8, "partial"));
        assert_eq!((Exit::Io.code(), Exit::Io.name()), (74, "io"));
        assert_eq!(Exit::from_code(9), None);
    }
}
