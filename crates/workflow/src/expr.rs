//! Expressions: the only text that GitHub evaluates.

use std::fmt;

/// An expression, without `${{` and `}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expr(String);

impl Expr {
    /// An expression that is written in the program.
    #[must_use]
    pub fn fixed(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// The output of an earlier step.
    #[must_use]
    pub fn step_output(step: &str, output: &str) -> Self {
        Self(format!("steps.{}.outputs.{}", word(step), word(output)))
    }

    /// The output of a job that this one needs.
    #[must_use]
    pub fn job_output(job: &str, output: &str) -> Self {
        Self(format!("needs.{}.outputs.{}", word(job), word(output)))
    }

    /// Whether a job that this one needs ended this way.
    #[must_use]
    pub fn job_result_is(job: &str, result: &str) -> Self {
        Self(format!("needs.{}.result == {}", word(job), literal(result)))
    }

    /// The value of one secret.
    #[must_use]
    pub fn secret(name: &str) -> Self {
        Self(format!("secrets.{}", word(name)))
    }

    /// Whether any of these holds.
    #[must_use]
    pub fn any(terms: &[Self]) -> Self {
        let terms: Vec<_> = terms.iter().map(|term| term.0.as_str()).collect();
        Self(format!("({})", terms.join(" || ")))
    }

    /// Whether a value is in a list of fixed texts.
    #[must_use]
    pub fn one_of(values: &[&str], value: &Self) -> Self {
        let list: Vec<_> = values.iter().map(|value| format!("\"{}\"", value.replace(['"', '\\', '\''], ""))).collect();
        Self(format!("contains(fromJSON('[{}]'), {})", list.join(","), value.0))
    }

    /// Whether a value has this word among its words, each with a blank on both sides.
    #[must_use]
    pub fn contains_word(value: &Self, word: &str) -> Self {
        Self(format!("contains({}, {})", value.0, literal(&format!(" {word} "))))
    }

    /// Whether an input of a dispatched workflow has this value.
    #[must_use]
    pub fn input_is(input: &str, value: &str) -> Self {
        Self(format!("inputs.{} == {}", word(input), literal(value)))
    }

    /// Whether a value is not empty.
    #[must_use]
    pub fn is_set(value: &Self) -> Self {
        Self(format!("{} != ''", value.0))
    }

    /// Whether this does not hold.
    #[must_use]
    pub fn not(&self) -> Self {
        Self(format!("!({})", self.0))
    }

    /// An expression that was checked as an author's.
    pub(crate) fn checked(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Its text, without `${{` and `}}`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "${{{{ {} }}}}", self.0)
    }
}

/// Terms that must all hold; printed in an `if`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition(Vec<Expr>);

impl Condition {
    /// A condition without terms always holds and is not printed.
    #[must_use]
    pub fn new(terms: impl IntoIterator<Item = Expr>) -> Self {
        Self(terms.into_iter().collect())
    }

    /// This, and one term more.
    #[must_use]
    pub fn and(mut self, term: Expr) -> Self {
        self.0.push(term);
        self
    }

    /// Its terms.
    #[must_use]
    pub fn terms(&self) -> &[Expr] {
        &self.0
    }

    /// The one expression that all terms make; `None` without terms.
    #[must_use]
    pub fn to_expr(&self) -> Option<Expr> {
        let terms: Vec<_> = self.0.iter().map(Expr::as_str).collect();
        (!terms.is_empty()).then(|| Expr(terms.join(" && ")))
    }
}

/// Only letters, digits, `_` and `-` can stand behind a dot.
fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect()
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_break_out() {
        assert_eq!(Expr::job_output("a }} ${{ x", "b").as_str(), "needs.ax.outputs.b");
        assert_eq!(Expr::job_result_is("a", "b'c").as_str(), "needs.a.result == 'b''c'");
        assert_eq!(Expr::one_of(&["A'\"B"], &Expr::fixed("x")).as_str(), "contains(fromJSON('[\"AB\"]'), x)");
        let condition = Condition::new([Expr::fixed("a"), Expr::any(&[Expr::fixed("b"), Expr::fixed("c")])]);
        assert_eq!(condition.to_expr().unwrap().to_string(), "${{ a && (b || c) }}");
        assert_eq!(Condition::default().to_expr(), None);
    }
}
