//! Colours and widths of a terminal.

/// How text is laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether there are colours.
    pub coloured: bool,
    /// Columns of the terminal; `None` where nothing is cut.
    pub width: Option<usize>,
    /// Whether instants are shown instead of ages.
    pub absolute: bool,
}

/// What a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// An identity.
    Id,
    /// A type.
    Kind,
    /// What is secondary.
    Faint,
    /// What came, or is well.
    Good,
    /// What went, or is wrong.
    Bad,
    /// What may be wrong.
    Warn,
}

impl Paint {
    const fn code(self) -> &'static str {
        match self {
            Self::Id | Self::Warn => "33",
            Self::Kind => "36",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Bad => "31",
        }
    }
}

impl Style {
    /// A text in a colour.
    #[must_use]
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if self.coloured { format!("\u{1b}[{}m{text}\u{1b}[0m", paint.code()) } else { text.to_owned() }
    }

    /// The columns that are left of a line after `used` ones; `None` where nothing is cut.
    #[must_use]
    pub fn left(&self, used: usize) -> Option<usize> {
        self.width.map(|width| width.saturating_sub(used).max(8))
    }
}
