//! Values of `env`, `with`, names and outputs: fixed text and expressions, never one taken for the other.

use std::fmt;

use crate::expr::Expr;
use crate::script::HasExpression;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Fixed(String),
    Expr(Expr),
}

/// A value that may hold expressions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(Vec<Part>);

impl Text {
    /// Text in which nothing is evaluated.
    ///
    /// # Errors
    ///
    /// [`HasExpression`] where it holds `${{`.
    pub fn inert(text: &str) -> Result<Self, HasExpression> {
        if text.contains("${{") { Err(HasExpression) } else { Ok(Self(vec![Part::Fixed(text.to_owned())])) }
    }

    /// Text that is written in the program; a `${{` in it is printed with a blank inside.
    #[must_use]
    pub fn fixed(text: &str) -> Self {
        Self(vec![Part::Fixed(text.replace("${{", "$ {{"))])
    }

    /// A JSON document. `$` before `{` is written as the escape that JSON has for it, so that every reader of the JSON
    /// finds the same value and no evaluator finds an expression.
    #[must_use]
    pub fn json(document: &str) -> Self {
        Self(vec![Part::Fixed(document.replace("${", "\\u0024{"))])
    }

    /// This, followed by an expression.
    #[must_use]
    pub fn then(mut self, expr: Expr) -> Self {
        self.0.push(Part::Expr(expr));
        self
    }

    /// This, followed by text that is written in the program.
    #[must_use]
    pub fn then_fixed(mut self, text: &str) -> Self {
        self.0.push(Part::Fixed(text.replace("${{", "$ {{")));
        self
    }

    /// How many bytes it has in the workflow.
    #[must_use]
    pub fn len(&self) -> usize {
        self.to_string().len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<Expr> for Text {
    fn from(expr: Expr) -> Self {
        Self(vec![Part::Expr(expr)])
    }
}

impl fmt::Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Fixed(fixed) => text.push_str(fixed),
                Part::Expr(expr) => text.push_str(&expr.to_string()),
            }
        }
        out.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_an_expression() {
        assert!(Text::inert("${{ x }}").is_err());
        assert!(!Text::fixed("${{ x }}").to_string().contains("${{"));
        let json = Text::json(r#"{"a":"${{ secrets.X }} $${{"}"#).to_string();
        assert!(!json.contains("${"), "{json}");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["a"], "${{ secrets.X }} $${{");
    }
}
