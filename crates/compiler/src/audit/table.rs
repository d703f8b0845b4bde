//! The privilege table: which job holds what, needs what and runs what.

use daybook_workflow::{Expr, Level, Scope};

use crate::emit::conditions::{
    self, AGENT, APPLY, CHECK, DETECT, DETECT_AUTHOR, OUTPUT, PERSIST, PLAN, SAFE_OUTPUTS, TOOLS,
};
use crate::emit::scripts;
use crate::settings::PersistOn;

/// What a job is, by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role<'i> {
    Tools,
    Agent,
    Detect,
    DetectAuthor,
    SafeOutputs,
    Output(&'i str),
    Persist,
    Check,
    Plan(&'i str),
    Apply(&'i str),
}

pub(crate) fn role(id: &str) -> Option<Role<'_>> {
    let whole = [
        (TOOLS, Role::Tools),
        (AGENT, Role::Agent),
        (DETECT, Role::Detect),
        (DETECT_AUTHOR, Role::DetectAuthor),
        (SAFE_OUTPUTS, Role::SafeOutputs),
        (PERSIST, Role::Persist),
        (CHECK, Role::Check),
    ];
    let exact = whole.into_iter().find(|(name, _)| *name == id).map(|(_, role)| role);
    exact.or_else(|| {
        id.strip_prefix(OUTPUT)
            .map(Role::Output)
            .or_else(|| id.strip_prefix(PLAN).map(Role::Plan))
            .or_else(|| id.strip_prefix(APPLY).map(Role::Apply))
    })
}

/// The rights of a role: the one it must hold, the one it may hold, and whether it may read anything that its author
/// asks for.
pub(crate) struct Rights {
    pub(crate) must: Option<(Scope, Level)>,
    pub(crate) may: Option<(Scope, Level)>,
    pub(crate) reads: bool,
    pub(crate) anything: bool,
}

pub(crate) fn rights(role: &Role<'_>) -> Rights {
    let none = Rights { must: None, may: None, reads: false, anything: false };
    match role {
        Role::Tools | Role::Detect | Role::DetectAuthor | Role::Check => none,
        Role::Agent => Rights { must: Some((Scope::Contents, Level::Read)), reads: true, ..none },
        Role::SafeOutputs => Rights { may: Some((Scope::Actions, Level::Write)), ..none },
        Role::Output(_) => Rights { anything: true, ..none },
        Role::Persist | Role::Apply(_) => Rights { must: Some((Scope::Contents, Level::Write)), ..none },
        Role::Plan(_) => Rights { must: Some((Scope::Contents, Level::Read)), ..none },
    }
}

/// Whether only the compiler's own scripts may run in it.
pub(crate) fn is_trusted(role: &Role<'_>) -> bool {
    !matches!(role, Role::Agent | Role::DetectAuthor | Role::Output(_))
}

/// The step that gets the token.
pub(crate) fn token_step(role: &Role<'_>) -> Option<&'static str> {
    match role {
        Role::Agent => Some("restore"),
        Role::SafeOutputs => Some("safe-outputs"),
        Role::Persist => Some("persist"),
        Role::Plan(_) => Some("plan"),
        Role::Apply(_) => Some("apply"),
        _ => None,
    }
}

/// Scripts that must be there, in this order.
pub(crate) fn must_run(role: &Role<'_>) -> &'static [&'static str] {
    match role {
        Role::Tools => &[scripts::BUILD_TOOLS],
        Role::Agent => &[scripts::WRITE_CONFIG, scripts::RESTORE, scripts::PREPARE_AGENT, scripts::MERGE],
        Role::Detect => &[scripts::DETECT],
        Role::DetectAuthor => &[scripts::READ_AUTHOR_VERDICT],
        Role::SafeOutputs => &[scripts::SAFE_OUTPUTS],
        Role::Output(_) => &[scripts::CHECK_OUTPUTS],
        Role::Persist => &[scripts::PERSIST],
        Role::Check => &[scripts::CHECK_LEDGER],
        Role::Plan(_) => &[scripts::PLAN],
        Role::Apply(_) => &[scripts::APPLY],
    }
}

/// Scripts that may be there too.
pub(crate) fn may_run(role: &Role<'_>) -> &'static [&'static str] {
    match role {
        Role::Agent => &[scripts::NOTICE_READ_ONLY],
        Role::SafeOutputs => &[scripts::BIND_OUTPUTS],
        _ => &[],
    }
}

/// Whether it runs a binary, so that it has to install Daybook.
pub(crate) fn installs(role: &Role<'_>) -> bool {
    !matches!(role, Role::Tools | Role::DetectAuthor | Role::Output(_) | Role::Check)
}

/// Jobs that must have ended before it starts.
pub(crate) fn needs(role: &Role<'_>, author_detects: bool) -> Vec<String> {
    let examined = || {
        let author = author_detects.then_some(DETECT_AUTHOR);
        [AGENT, DETECT].into_iter().chain(author).map(str::to_owned).collect()
    };
    match role {
        Role::Tools | Role::Agent | Role::Check => Vec::new(),
        Role::Detect | Role::DetectAuthor => vec![AGENT.to_owned()],
        Role::SafeOutputs | Role::Persist => examined(),
        Role::Output(_) => vec![SAFE_OUTPUTS.to_owned()],
        Role::Plan(_) => vec![CHECK.to_owned()],
        Role::Apply(name) => vec![format!("{PLAN}{name}")],
    }
}

/// Terms that its condition must have.
pub(crate) fn terms(role: &Role<'_>, author_detects: bool) -> Vec<String> {
    let terms = match role {
        Role::Tools | Role::Agent | Role::Check | Role::Plan(_) => Vec::new(),
        Role::Detect | Role::DetectAuthor => conditions::detect(),
        Role::SafeOutputs => conditions::safe_outputs(author_detects),
        Role::Output(_) => conditions::output(),
        Role::Persist => conditions::persist(author_detects, PersistOn::Always),
        Role::Apply(name) => vec![Expr::is_set(&Expr::job_output(&format!("{PLAN}{name}"), "plan"))],
    };
    terms.iter().map(|term| term.as_str().to_owned()).collect()
}
