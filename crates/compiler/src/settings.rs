//! What a source says about its jobs, checked and typed.

use daybook_workflow::{Condition, Node, Permissions, Step, Text};
use serde_json::{Map, Value};

use crate::emit::engines::Cli;

/// Everything in a source that is not part of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) title: Option<String>,
    pub(crate) run_name: Option<Text>,
    pub(crate) trigger: Option<Trigger>,
    /// When the agent runs, besides what its trigger says.
    pub(crate) condition: Option<Condition>,
    pub(crate) roles: Roles,
    pub(crate) permissions: Permissions,
    pub(crate) env: Vec<(String, Text)>,
    pub(crate) environment: Option<Node>,
    pub(crate) concurrency: Option<Node>,
    pub(crate) runs_on: Node,
    pub(crate) trusted_runs_on: Node,
    pub(crate) timeout_minutes: u64,
    pub(crate) steps: Vec<Step>,
    pub(crate) engine: Option<Engine>,
    pub(crate) mcp_servers: Map<String, Value>,
    pub(crate) author_jobs: Vec<AuthorJob>,
    pub(crate) requests_compaction: bool,
    pub(crate) detection: Vec<Step>,
    pub(crate) persist_on: PersistOn,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            title: None,
            run_name: None,
            trigger: None,
            condition: None,
            roles: Roles::default(),
            permissions: Permissions::default(),
            env: Vec::new(),
            environment: None,
            concurrency: None,
            runs_on: Node::text(USUAL_RUNNER),
            trusted_runs_on: Node::text(USUAL_RUNNER),
            timeout_minutes: 20,
            steps: Vec::new(),
            engine: None,
            mcp_servers: Map::new(),
            author_jobs: Vec::new(),
            requests_compaction: false,
            detection: Vec::new(),
            persist_on: PersistOn::Always,
        }
    }
}

pub(crate) const USUAL_RUNNER: &str = "ubuntu-latest";

/// When a workflow runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trigger {
    pub(crate) node: Node,
    pub(crate) events: Vec<String>,
    /// Events that run with rights on what strangers send, each with the author's reason.
    pub(crate) reasons: Vec<(String, String)>,
}

/// Who may start the agent by an issue or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roles {
    Everyone,
    /// Values of `author_association`.
    Associations(Vec<&'static str>),
}

impl Default for Roles {
    fn default() -> Self {
        Self::Associations(vec!["OWNER", "MEMBER", "COLLABORATOR"])
    }
}

/// What runs as the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Engine {
    Custom(Vec<Step>),
    Cli { cli: &'static Cli, version: String, model: Option<String> },
}

/// A job of the author's that acts on the agent's outputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AuthorJob {
    /// The type of the outputs that it acts on.
    pub(crate) output: String,
    pub(crate) description: Option<String>,
    pub(crate) inputs: Value,
    pub(crate) permissions: Permissions,
    pub(crate) environment: Option<Node>,
    pub(crate) runs_on: Node,
    pub(crate) timeout_minutes: u64,
    pub(crate) env: Vec<(String, Text)>,
    pub(crate) steps: Vec<Step>,
}

/// After which agent jobs memories are persisted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PersistOn {
    Always,
    Success,
}
