//! The right to use a server, handed to git by environment only.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::fault::{FaultKind, RemoteFault};

/// Where a token is looked for when no variable is named.
const VARIABLES: &[&str] = &["DAYBOOK_TOKEN", "GITHUB_TOKEN"];

/// A token for one server. It never appears in an argument, a file or a debug print.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes a token.
    ///
    /// # Errors
    /// [`FaultKind::BadToken`] for an empty one (a secret that is not set) or one that a header cannot carry.
    pub fn new(text: &str) -> Result<Self, RemoteFault> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(RemoteFault::new(FaultKind::BadToken, String::new()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Takes the token from the variable named, or else from the first of `DAYBOOK_TOKEN` and `GITHUB_TOKEN` that holds
    /// one; `None` where none does.
    ///
    /// # Errors
    /// [`FaultKind::BadToken`], also where a variable that was named is missing or empty: a secret that is not set must
    /// not turn into a push without credentials.
    pub fn from_environment(named: Option<&str>) -> Result<Option<Self>, RemoteFault> {
        let value = |name: &str| std::env::var(name).unwrap_or_default();
        match named {
            Some(name) => Self::new(&value(name)).map(Some),
            None => VARIABLES
                .iter()
                .map(|name| value(name))
                .find(|text| !text.is_empty())
                .map(|text| Self::new(&text))
                .transpose(),
        }
    }

    /// The configuration that makes git send this token to `origin` (`https://host[:port]`) and nowhere else.
    pub(crate) fn configuration(&self, origin: &str) -> Vec<(String, String)> {
        let key = format!("http.{origin}/.extraheader");
        let basic = STANDARD.encode(format!("x-access-token:{}", self.0));
        vec![
            // An empty value ends the list of headers configured elsewhere; two of one kind are answered with 400.
            (key.clone(), String::new()),
            (key, format!("Authorization: Basic {basic}")),
            ("credential.helper".to_owned(), String::new()),
        ]
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_cannot_smuggle_a_second_header_and_is_not_printed() {
        assert!(Token::new("").is_err());
        assert!(Token::new("a\r\nX-Other: 1").is_err());
        let token = Token::new("ghs_abc").unwrap();
        assert_eq!(format!("{token:?}"), "Token(…)");
        let lines = token.configuration("https://git.example");
        assert!(lines.iter().all(|(key, _)| !key.contains("ghs_abc")));
        assert_eq!(lines[1].1, "Authorization: Basic eC1hY2Nlc3MtdG9rZW46Z2hzX2FiYw==");
    }
}
