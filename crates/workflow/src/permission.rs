//! Permissions of the workflow token: the cells that GitHub has, and no others.

use std::collections::BTreeMap;

/// How much a grant allows. What is not granted is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// Which levels a scope has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Levels {
    Any,
    ReadOnly,
    WriteOnly,
}

macro_rules! scopes {
    ($($variant:ident, $name:literal, $levels:ident;)*) => {
        /// A scope of the workflow token, named as GitHub's own workflow schema names it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Scope { $(#[doc = concat!("`", $name, "`")] $variant,)* }

        const TABLE: &[(Scope, &str, Levels)] = &[$((Scope::$variant, $name, Levels::$levels),)*];
    };
}

scopes! {
    Actions, "actions", Any;
    ArtifactMetadata, "artifact-metadata", Any;
    Attestations, "attestations", Any;
    Checks, "checks", Any;
    CodeQuality, "code-quality", Any;
    Contents, "contents", Any;
    CopilotRequests, "copilot-requests", WriteOnly;
    Deployments, "deployments", Any;
    Discussions, "discussions", Any;
    Drives, "drives", Any;
    IdToken, "id-token", WriteOnly;
    Issues, "issues", Any;
    Models, "models", ReadOnly;
    Packages, "packages", Any;
    Pages, "pages", Any;
    PullRequests, "pull-requests", Any;
    RepositoryProjects, "repository-projects", Any;
    SecurityEvents, "security-events", Any;
    Statuses, "statuses", Any;
    VulnerabilityAlerts, "vulnerability-alerts", ReadOnly;
}

impl Scope {
    /// Every scope, in the order of their names.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// The scope with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.1)
    }

    /// Whether GitHub has this level for this scope.
    #[must_use]
    pub fn has(self, level: Level) -> bool {
        self.row().is_some_and(|row| match row.2 {
            Levels::Any => true,
            Levels::ReadOnly => level == Level::Read,
            Levels::WriteOnly => level == Level::Write,
        })
    }

    fn row(self) -> Option<&'static (Self, &'static str, Levels)> {
        TABLE.iter().find(|row| row.0 == self)
    }
}

impl Level {
    /// The level with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Why there is no such grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantFault {
    /// GitHub does not have this cell.
    #[error("{scope} has no level {level}", scope = .0.name(), level = .1.name())]
    NoSuchLevel(Scope, Level),
    /// A grant without a reason.
    #[error("a grant of {} needs a reason of one line", .0.name())]
    NoReason(Scope),
}

/// One cell, with the reason why a job needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    scope: Scope,
    level: Level,
    reason: String,
}

impl Grant {
    /// A grant. The reason is printed as its comment.
    ///
    /// # Errors
    ///
    /// [`GrantFault`] where GitHub has no such cell, or the reason is not one line of text.
    pub fn new(scope: Scope, level: Level, reason: &str) -> Result<Self, GrantFault> {
        if !scope.has(level) {
            return Err(GrantFault::NoSuchLevel(scope, level));
        }
        if reason.trim().is_empty() || reason.chars().any(char::is_control) {
            return Err(GrantFault::NoReason(scope));
        }
        Ok(Self { scope, level, reason: reason.trim().to_owned() })
    }
}

/// The grants of one job; of two for one scope the higher one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions(BTreeMap<Scope, (Level, String)>);

impl Permissions {
    /// These and one more.
    #[must_use]
    pub fn with(mut self, grant: Grant) -> Self {
        let higher = self.level(grant.scope).is_none_or(|level| level < grant.level);
        if higher {
            self.0.insert(grant.scope, (grant.level, grant.reason));
        }
        self
    }

    /// The level of a scope, `None` where nothing is granted.
    #[must_use]
    pub fn level(&self, scope: Scope) -> Option<Level> {
        self.0.get(&scope).map(|(level, _)| *level)
    }

    /// Every grant: scope, level and reason, in the order of the scopes' names.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, Level, &str)> {
        self.0.iter().map(|(scope, (level, reason))| (*scope, *level, reason.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_what_github_has() {
        assert_eq!(Scope::all().count(), 20);
        let names: Vec<_> = Scope::all().map(Scope::name).collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
        for (name, read, write) in [
            ("contents", true, true),
            ("id-token", false, true),
            ("models", true, false),
            ("vulnerability-alerts", true, false),
        ] {
            let scope = Scope::parse(name).unwrap();
            assert_eq!((scope.has(Level::Read), scope.has(Level::Write)), (read, write), "{name}");
        }
        assert_eq!(Scope::parse("content"), None);
    }

    #[test]
    fn a_grant_needs_a_cell_and_a_reason_and_the_higher_one_counts() {
        assert!(Grant::new(Scope::IdToken, Level::Read, "x").is_err());
        assert!(Grant::new(Scope::Issues, Level::Read, " ").is_err());
        assert!(Grant::new(Scope::Issues, Level::Read, "a\nb: c").is_err());
        let grant = |level, reason| Grant::new(Scope::Issues, level, reason).unwrap();
        let both = Permissions::default().with(grant(Level::Write, "w")).with(grant(Level::Read, "r"));
        assert_eq!(both.iter().collect::<Vec<_>>(), [(Scope::Issues, Level::Write, "w")]);
    }
}
