//! Expressions that an author wrote, checked before they are printed again.

use crate::expr::Expr;
use crate::text::Text;

/// What an author's expressions may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// No secret and no token.
    None,
    /// Secrets by name, not the token of the workflow.
    Named,
    /// Secrets by name and the token of the workflow, whose rights the job states.
    NamedAndToken,
}

/// Why an author's text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorFault {
    /// `${{` without `}}`.
    #[error("an expression starts with ${{{{ and has no end }}}}")]
    Unclosed,
    /// The token where it must not be.
    #[error("the token of the workflow is not available here")]
    Token,
    /// A secret where none may be.
    #[error("secrets are not available here")]
    Secret,
    /// Not a single secret by its name, or a whole context that holds the token.
    #[error("name one secret, as secrets.NAME; all secrets, or a whole context, at once are not allowed")]
    Whole,
    /// A parenthesis or a quote without its partner, with which a condition would reach beyond its own place.
    #[error("a parenthesis or a quote has no partner")]
    Unbalanced,
}

impl Text {
    /// Text of an author, in which expressions are meant.
    ///
    /// # Errors
    ///
    /// [`AuthorFault`] where an expression names what is not available here.
    pub fn author(text: &str, secrets: Secrets) -> Result<Self, AuthorFault> {
        let mut value = Self::default();
        for part in split(text)? {
            value = match part {
                Part::Fixed(fixed) => value.then_fixed(fixed),
                Part::Expr(expr) => {
                    check(expr, secrets)?;
                    value.then(Expr::checked(expr))
                }
            };
        }
        Ok(value)
    }
}

impl Expr {
    /// The expression of an author's `if`, with or without `${{ }}` around it.
    ///
    /// # Errors
    ///
    /// [`AuthorFault`] where it names what is not available here.
    pub fn author_condition(text: &str, secrets: Secrets) -> Result<Self, AuthorFault> {
        let text = text.trim();
        let inner = text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(text);
        if inner.contains("${{") || inner.contains("}}") || inner.contains('\n') {
            return Err(AuthorFault::Unclosed);
        }
        check(inner, secrets)?;
        if !is_balanced(inner) {
            return Err(AuthorFault::Unbalanced);
        }
        Ok(Self::checked(inner))
    }
}

/// The texts of all expressions in a text, without `${{` and `}}`.
///
/// # Errors
///
/// [`AuthorFault::Unclosed`] where one has no end.
pub fn expressions(text: &str) -> Result<Vec<&str>, AuthorFault> {
    let parts = split(text)?.into_iter();
    Ok(parts.filter_map(|part| if let Part::Expr(expr) = part { Some(expr) } else { None }).collect())
}

enum Part<'t> {
    Fixed(&'t str),
    Expr(&'t str),
}

fn split(text: &str) -> Result<Vec<Part<'_>>, AuthorFault> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        if !before.is_empty() {
            parts.push(Part::Fixed(before));
        }
        let end = end_of(after).ok_or(AuthorFault::Unclosed)?;
        parts.push(Part::Expr(&after[..end]));
        rest = &after[end + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Fixed(rest));
    }
    Ok(parts)
}

/// Where `}}` stands outside of quotes.
fn end_of(text: &str) -> Option<usize> {
    let mut quoted = false;
    let bytes = text.as_bytes();
    (0..bytes.len()).find(|at| {
        quoted ^= bytes.get(*at) == Some(&b'\'');
        !quoted && bytes.get(*at..*at + 2) == Some(b"}}")
    })
}

fn check(expr: &str, secrets: Secrets) -> Result<(), AuthorFault> {
    let bare = unquoted(expr).to_ascii_lowercase();
    // Index syntax, any blank before a dot and any filter reach members by names that are computed: only plain dots are
    // let through next to the contexts that hold secrets.
    for (at, word) in words(&bare) {
        let after: String = bare.get(at + word.len()..).unwrap_or_default().to_owned();
        let member = after.strip_prefix('.').map(|rest| {
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect::<String>()
        });
        let is_member = bare.get(..at).is_some_and(|before| before.ends_with('.'));
        match (word, member) {
            _ if is_member => {}
            ("secrets", Some(name)) if name == "github_token" => {
                (secrets == Secrets::NamedAndToken).then_some(()).ok_or(AuthorFault::Token)?;
            }
            ("secrets", Some(name)) if !name.is_empty() => {
                (secrets != Secrets::None).then_some(()).ok_or(AuthorFault::Secret)?;
            }
            ("github", Some(name)) if name == "token" => {
                (secrets == Secrets::NamedAndToken).then_some(()).ok_or(AuthorFault::Token)?;
            }
            ("github", Some(name)) if !name.is_empty() => {}
            ("secrets" | "github", _) => return Err(AuthorFault::Whole),
            _ => {}
        }
    }
    Ok(())
}

fn is_balanced(expr: &str) -> bool {
    let mut depth = 0_usize;
    for c in unquoted(expr).chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0 && expr.matches('\'').count().is_multiple_of(2)
}

fn unquoted(expr: &str) -> String {
    let mut quoted = false;
    expr.chars()
        .map(|c| {
            quoted ^= c == '\'';
            if quoted && c != '\'' { ' ' } else { c }
        })
        .collect()
}

fn words(text: &str) -> Vec<(usize, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, is_word(c)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(text: &str, secrets: Secrets) -> Result<String, AuthorFault> {
        Text::author(text, secrets).map(|text| text.to_string())
    }

    #[test]
    fn what_is_meant_stays_as_it_is() {
        let text = "n ${{ github.event.issue.number }} of ${{ format('}} {0}', github.repository) }}.";
        assert_eq!(author(text, Secrets::None).unwrap(), text);
        assert_eq!(author("${{ secrets.KEY }}", Secrets::Named).unwrap(), "${{ secrets.KEY }}");
        assert_eq!(author("${{ github.token }}", Secrets::NamedAndToken).unwrap(), "${{ github.token }}");
        assert!(author("${{ steps.secrets.outputs.x }}", Secrets::None).is_ok());
    }

    #[test]
    fn tokens_and_secrets_do_not_come_in_by_another_spelling() {
        for text in [
            "${{ github.token }}",
            "${{ GitHub.Token }}",
            "${{ secrets.GITHUB_TOKEN }}",
            "${{ secrets['GITHUB_TOKEN'] }}",
            "${{ secrets[format('GITHUB_{0}', 'TOKEN')] }}",
            "${{ toJSON(secrets) }}",
            "${{ toJSON(github) }}",
            "${{ github['token'] }}",
            "${{ github .token }}",
            "${{ secrets.* }}",
            "${{ secrets }}",
            "${{ 'x' && github.token",
        ] {
            assert!(author(text, Secrets::Named).is_err(), "{text}");
        }
        assert_eq!(author("${{ secrets.KEY }}", Secrets::None), Err(AuthorFault::Secret));
        assert!(author("${{ 'secrets' == 'github' }}", Secrets::None).is_ok());
    }

    #[test]
    fn a_condition_is_one_expression() {
        let condition = |text| Expr::author_condition(text, Secrets::None).map(|expr| expr.as_str().to_owned());
        assert_eq!(condition("${{ a == 'b' }}").unwrap(), "a == 'b'");
        assert_eq!(condition("always()").unwrap(), "always()");
        assert!(condition("${{ a }} ${{ b }}").is_err());
        assert!(condition("github.token == 'x'").is_err());
        assert_eq!(condition("(a || b) && c == ')'").unwrap(), "(a || b) && c == ')'");
        for text in ["a) || (b", "(a", "a)", "a == 'b"] {
            assert_eq!(condition(text), Err(AuthorFault::Unbalanced), "{text}");
        }
    }
}
