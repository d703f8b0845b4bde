//! The text of `run` steps.

/// A text holds `${{`, which GitHub would evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an expression (${{{{ }}}}) is not allowed here")]
pub struct HasExpression;

/// A script that no expression is expanded into: values reach it by `env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script(String);

impl Script {
    /// Checks a script.
    ///
    /// # Errors
    ///
    /// [`HasExpression`] where it holds `${{`.
    pub fn new(text: &str) -> Result<Self, HasExpression> {
        if text.contains("${{") { Err(HasExpression) } else { Ok(Self(text.to_owned())) }
    }

    /// A script that is written in the program; a `${{` in it is printed with a blank inside.
    #[must_use]
    pub fn fixed(text: &'static str) -> Self {
        Self(text.replace("${{", "$ {{"))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
