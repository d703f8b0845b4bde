//! When each job runs, as terms that must all hold. The self-check wants the same terms.

use daybook_workflow::Expr;

use crate::settings::{PersistOn, Roles};
use crate::trigger::{BY_ANYBODY, ROLES};

pub(crate) const AGENT: &str = "agent";
pub(crate) const DETECT: &str = "detect";
pub(crate) const DETECT_AUTHOR: &str = "detect_author";
pub(crate) const SAFE_OUTPUTS: &str = "safe_outputs";
pub(crate) const PERSIST: &str = "persist";
pub(crate) const TOOLS: &str = "tools";
pub(crate) const OUTPUT: &str = "output_";
pub(crate) const CHECK: &str = "check_ledger";
pub(crate) const PLAN: &str = "ledger_compaction_plan_";
pub(crate) const APPLY: &str = "ledger_compaction_apply_";

/// Says that everybody may start the agent; it always holds.
pub(crate) const EVERYBODY: &str = "github.event.sender.login != ''";

pub(crate) fn not_cancelled() -> Expr {
    Expr::fixed("!cancelled()")
}

/// The agent ran, whether it ended well or not.
fn agent_ran() -> Expr {
    Expr::any(&[Expr::job_result_is(AGENT, "success"), Expr::job_result_is(AGENT, "failure")])
}

fn was_restored() -> Expr {
    Expr::fixed("needs.agent.outputs.baseline != ''")
}

/// Events of a workflow that anybody can cause, in the order of the table.
fn by_anybody(has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    BY_ANYBODY.iter().copied().filter(|event| has(event)).collect()
}

/// By whom the agent may be started, where anybody can cause the event.
pub(crate) fn agent(events: &[String], roles: &Roles) -> Vec<Expr> {
    let by_anybody = by_anybody(|event| events.iter().any(|other| other == event));
    match roles {
        _ if by_anybody.is_empty() => Vec::new(),
        Roles::Everyone => vec![Expr::fixed(EVERYBODY)],
        Roles::Associations(roles) => vec![guard(&by_anybody, roles)],
    }
}

fn guard(by_anybody: &[&str], roles: &[&str]) -> Expr {
    let writer = Expr::fixed(
        "github.event.comment.author_association || github.event.review.author_association || \
         github.event.discussion.author_association || github.event.issue.author_association",
    );
    let other = Expr::one_of(by_anybody, &Expr::fixed("github.event_name")).not();
    Expr::any(&[other, Expr::one_of(roles, &writer)])
}

/// Whether one of the terms says who may start the agent; `None` where only those can who may write anyway.
pub(crate) fn is_guarded(has: impl Fn(&str) -> bool, terms: &[String]) -> Option<bool> {
    let by_anybody = by_anybody(has);
    let is_guard = |term: &String| {
        let roles: Vec<&str> =
            ROLES.iter().map(|row| row.1).filter(|role| term.contains(&format!("\"{role}\""))).collect();
        // The order of the roles is the author's: with each list taken out, what is left is compared.
        let without =
            |text: &str| roles.iter().fold(text.to_owned(), |text, role| text.replacen(&format!("\"{role}\""), "", 1));
        term == EVERYBODY || without(term) == without(guard(&by_anybody, &roles).as_str())
    };
    (!by_anybody.is_empty()).then(|| terms.iter().any(is_guard))
}

pub(crate) fn detect() -> Vec<Expr> {
    vec![not_cancelled(), agent_ran(), was_restored()]
}

/// What every job that acts on a run needs: the agent ran, and detection did not fail.
fn examined(author_detects: bool) -> Vec<Expr> {
    let mut terms = vec![not_cancelled(), agent_ran(), was_restored(), Expr::job_result_is(DETECT, "success")];
    if author_detects {
        terms.push(Expr::job_result_is(DETECT_AUTHOR, "success"));
    }
    terms
}

pub(crate) fn safe_outputs(author_detects: bool) -> Vec<Expr> {
    examined(author_detects)
}

pub(crate) fn output() -> Vec<Expr> {
    vec![not_cancelled(), Expr::job_result_is(SAFE_OUTPUTS, "success")]
}

/// The branch whose maintenance workflow a request for compaction starts; empty where the event names no repository.
pub(crate) fn default_branch() -> Expr {
    Expr::fixed("github.event.repository.default_branch")
}

/// Pull requests of forks and of Dependabot, whose token may write nothing.
pub(crate) fn may_write() -> Vec<Expr> {
    vec![
        Expr::fixed("(github.event.pull_request.head.repo.full_name || github.repository) == github.repository"),
        Expr::fixed("github.event.pull_request.user.login != 'dependabot[bot]'"),
    ]
}

pub(crate) fn persist(author_detects: bool, persist_on: PersistOn) -> Vec<Expr> {
    let mut terms = examined(author_detects);
    if persist_on == PersistOn::Success {
        terms.push(Expr::job_result_is(AGENT, "success"));
    }
    terms.extend(may_write());
    terms
}

/// The verdict that later jobs act on: an author's own detection can only raise it.
pub(crate) fn verdict(author_detects: bool) -> Expr {
    if !author_detects {
        return Expr::job_output(DETECT, "verdict");
    }
    Expr::fixed(
        "needs.detect_author.outputs.verdict == 'threat' && 'threat' || \
         needs.detect_author.outputs.verdict == 'suspicious' && needs.detect.outputs.verdict == 'clean' && 'suspicious' || \
         contains(fromJSON('[\"clean\",\"suspicious\"]'), needs.detect_author.outputs.verdict) && \
         needs.detect.outputs.verdict || ''",
    )
}
