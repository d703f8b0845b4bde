//! Where tokens and secrets stand.

use daybook_workflow::{Secrets, Text};
use serde_json::Value;

use crate::emit::engines::CLIS;

use super::Findings;
use super::reader::{members, scalar, steps, texts};
use super::steps::is_own;
use super::table::{Role, token_step};

/// How much the texts of a value name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Names {
    Nothing,
    Secret,
    Token,
    All,
}

pub(crate) fn names(value: &Value) -> Names {
    let mut found = Vec::new();
    texts(value, &mut found);
    found.into_iter().map(names_in).max().unwrap_or(Names::Nothing)
}

fn names_in(text: &str) -> Names {
    let allowed = |secrets| Text::author(text, secrets).is_ok();
    if allowed(Secrets::None) {
        Names::Nothing
    } else if allowed(Secrets::Named) {
        Names::Secret
    } else if allowed(Secrets::NamedAndToken) {
        Names::Token
    } else {
        Names::All
    }
}

/// A bare `if` is an expression as a whole.
fn names_of_step(step: &Value) -> Names {
    let condition = step["if"].as_str().filter(|text| !text.contains("${{"));
    let condition = condition.map_or(Names::Nothing, |text| names_in(&format!("${{{{ {text} }}}}")));
    let rest = members(step).filter(|(key, _)| *key != "run").map(|(_, value)| names(value)).max();
    rest.unwrap_or(Names::Nothing).max(condition)
}

fn runs_an_engine(step: &Value) -> bool {
    step["run"].as_str().is_some_and(|run| CLIS.iter().any(|cli| cli.run == run))
}

pub(crate) fn names_all_secrets(step: &Value) -> bool {
    names_of_step(step) == Names::All
}

/// Tokens stand in one variable of one step; secrets only where an author's or an agent's code runs.
pub(crate) fn check(id: &str, role: &Role<'_>, job: &Value, findings: &mut Findings) {
    for (key, value) in members(job).filter(|(key, _)| *key != "steps") {
        if names(value) > Names::Nothing {
            findings.error("token-of-job", id, format!("{key} of the whole job names a secret or the token"));
        }
    }
    for (number, step) in steps(job).iter().enumerate() {
        let place = format!("{id}, step {}", number + 1);
        let names = match (role, token_step(role)) {
            (Role::Output(_), _) => continue,
            (_, Some(own)) if step["id"] == *own && is_own(step) => {
                let mut without = step.clone();
                let token = without["env"].as_object_mut().and_then(|env| env.remove("GITHUB_TOKEN"));
                if token.is_some_and(|token| scalar(&token) != "${{ github.token }}") {
                    findings.error("token-changed", &place, "GITHUB_TOKEN of this step must be ${{ github.token }}");
                }
                names_of_step(&without)
            }
            _ => names_of_step(step),
        };
        let allowed = match role {
            Role::Agent | Role::DetectAuthor if !is_own(step) || runs_an_engine(step) => Names::Secret,
            _ => Names::Nothing,
        };
        if names > allowed {
            let message = "a secret or the token of the workflow is within reach of a step that must not have it";
            findings.error("token-out-of-place", &place, message);
        }
    }
}
