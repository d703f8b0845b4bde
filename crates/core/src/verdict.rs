//! What detection takes a run for (§8, DESIGN §3).

/// The verdict of detection. Of several findings the greatest decides.
///
/// ```
/// use daybook_core::Verdict;
/// assert_eq!(Verdict::parse("threat"), Some(Verdict::Threat));
/// assert!(Verdict::Clean < Verdict::Suspicious && Verdict::parse("Clean").is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verdict {
    /// Nothing was found.
    #[default]
    Clean,
    /// Passes with a warning.
    Suspicious,
    /// Never passes.
    Threat,
}

impl Verdict {
    /// Every verdict, ascending.
    pub const ALL: [Self; 3] = [Self::Clean, Self::Suspicious, Self::Threat];

    /// The word in outputs and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Suspicious => "suspicious",
            Self::Threat => "threat",
        }
    }

    /// The verdict that a word stands for.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == word)
    }
}
