//! The forms of a report.

use std::ffi::OsStr;

/// How a binary prints its report on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for a person.
    Human,
    /// Exactly one JSON document.
    Json,
    /// Lines for a person, and workflow commands for the runner.
    Github,
    /// Exactly one SARIF 2.1.0 document, for code scanning.
    Sarif,
}

impl Format {
    /// The form that is used when none is asked for: `github` inside Actions, `human` elsewhere.
    #[must_use]
    pub fn by_environment() -> Self {
        Self::for_actions(std::env::var_os("GITHUB_ACTIONS").as_deref())
    }

    /// Whether standard output is one document, so that nothing else may be printed there.
    #[must_use]
    pub fn is_document(self) -> bool {
        matches!(self, Self::Json | Self::Sarif)
    }

    fn for_actions(github_actions: Option<&OsStr>) -> Self {
        if github_actions.is_some_and(|value| value == "true") { Self::Github } else { Self::Human }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_word_true_means_actions() {
        assert_eq!(Format::for_actions(Some(OsStr::new("true"))), Format::Github);
        assert_eq!(Format::for_actions(Some(OsStr::new("false"))), Format::Human);
        assert_eq!(Format::for_actions(None), Format::Human);
    }
}
