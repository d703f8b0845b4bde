//! Workflows, jobs and steps.

use crate::action::PinnedAction;
use crate::expr::Condition;
use crate::permission::Permissions;
use crate::print::{Item, Node};
use crate::script::Script;
use crate::text::Text;

/// A workflow. Its token holds nothing: `permissions` at the top is always empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Lines of comment at the top.
    pub header: Vec<String>,
    /// The name for people.
    pub name: Text,
    /// The name of one run.
    pub run_name: Option<Text>,
    /// When it runs.
    pub on: Node,
    /// Its jobs, in order.
    pub jobs: Vec<Job>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its key.
    pub id: String,
    /// Its name for people.
    pub name: Text,
    /// Jobs that end before it starts.
    pub needs: Vec<String>,
    /// When it runs.
    pub condition: Condition,
    /// Where it runs.
    pub runs_on: Node,
    /// A deployment environment.
    pub environment: Option<Node>,
    /// Which runs exclude each other.
    pub concurrency: Option<Node>,
    /// What its token may do.
    pub permissions: Permissions,
    /// Its time limit in minutes.
    pub timeout_minutes: u64,
    /// Values for later jobs.
    pub outputs: Vec<(String, Text)>,
    /// Environment variables of every step.
    pub env: Vec<(String, Text)>,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a script.
    Run(Script),
    /// Runs an action of others.
    Uses(PinnedAction, Vec<(String, Text)>),
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its id.
    pub id: Option<String>,
    /// Its name for people.
    pub name: Text,
    /// When it runs.
    pub condition: Condition,
    /// What it does.
    pub action: Action,
    /// Its environment variables.
    pub env: Vec<(String, Text)>,
    /// Its time limit in minutes.
    pub timeout_minutes: Option<u64>,
    /// Whether the job goes on where it fails.
    pub continue_on_error: bool,
    /// The shell, where it is not the usual one.
    pub shell: Option<String>,
    /// The folder it runs in.
    pub working_directory: Option<Text>,
}

impl Step {
    /// A step that runs a script.
    #[must_use]
    pub fn run(name: &str, script: Script) -> Self {
        Self::of(name, Action::Run(script))
    }

    /// A step that runs an action of others.
    #[must_use]
    pub fn uses(name: &str, action: PinnedAction, with: Vec<(String, Text)>) -> Self {
        Self::of(name, Action::Uses(action, with))
    }

    fn of(name: &str, action: Action) -> Self {
        Self {
            id: None,
            name: Text::fixed(name),
            condition: Condition::default(),
            action,
            env: Vec::new(),
            timeout_minutes: None,
            continue_on_error: false,
            shell: None,
            working_directory: None,
        }
    }

    /// This step under an id.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }

    /// This step with one environment variable more.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: Text) -> Self {
        self.env.push((name.to_owned(), value));
        self
    }

    /// This step under a condition.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = condition;
        self
    }
}

impl Workflow {
    /// The text of the workflow.
    #[must_use]
    pub fn print(&self) -> String {
        let mut text: String = self
            .header
            .iter()
            .map(|line| format!("# {}\n", line.replace(['\n', '\r'], " ")).replace("# \n", "#\n"))
            .collect();
        let mut map = Members::default();
        map.set("name", Node::text(self.name.to_string()));
        map.set_some("run-name", self.run_name.as_ref().map(|name| Node::text(name.to_string())));
        map.set("on", self.on.clone());
        map.set("permissions", Node::Map(Vec::new()));
        map.set("jobs", Node::Map(self.jobs.iter().map(|job| (job.id.clone(), job.node().into())).collect()));
        text.push_str(&map.into_node().print());
        text
    }
}

impl Job {
    fn node(&self) -> Node {
        let mut map = Members::default();
        map.set("name", Node::text(self.name.to_string()));
        if !self.needs.is_empty() {
            map.set("needs", Node::List(self.needs.iter().map(Node::text).collect()));
        }
        map.set_some("if", condition(&self.condition));
        map.set("runs-on", self.runs_on.clone());
        map.set_some("environment", self.environment.clone());
        map.set_some("concurrency", self.concurrency.clone());
        let grants = self.permissions.iter().map(|(scope, level, reason)| {
            let item = Item { node: Node::text(level.name()), comment: Some(reason.to_owned()) };
            (scope.name().to_owned(), item)
        });
        map.set("permissions", Node::Map(grants.collect()));
        map.set("timeout-minutes", Node::Number(self.timeout_minutes));
        map.set_texts("outputs", &self.outputs);
        map.set_texts("env", &self.env);
        map.set("steps", Node::List(self.steps.iter().map(Step::node).collect()));
        map.into_node()
    }
}

impl Step {
    fn node(&self) -> Node {
        let mut map = Members::default();
        map.set("name", Node::text(self.name.to_string()));
        map.set_some("id", self.id.as_deref().map(Node::text));
        map.set_some("if", condition(&self.condition));
        map.set_some("timeout-minutes", self.timeout_minutes.map(Node::Number));
        if self.continue_on_error {
            map.set("continue-on-error", Node::Bool(true));
        }
        map.set_some("shell", self.shell.as_deref().map(Node::text));
        map.set_some("working-directory", self.working_directory.as_ref().map(|text| Node::text(text.to_string())));
        match &self.action {
            Action::Run(script) => {
                map.set_texts("env", &self.env);
                map.set("run", Node::text(script.as_str()));
            }
            Action::Uses(action, with) => {
                let node = Node::text(action.to_string());
                map.0.push(("uses".to_owned(), Item { node, comment: Some(action.version().to_owned()) }));
                map.set_texts("with", with);
                map.set_texts("env", &self.env);
            }
        }
        map.into_node()
    }
}

fn condition(condition: &Condition) -> Option<Node> {
    condition.to_expr().map(|expr| Node::text(expr.to_string()))
}

/// A map under construction.
#[derive(Default)]
struct Members(Vec<(String, Item)>);

impl Members {
    fn set(&mut self, key: &str, node: Node) {
        self.0.push((key.to_owned(), node.into()));
    }

    fn set_some(&mut self, key: &str, node: Option<Node>) {
        if let Some(node) = node {
            self.set(key, node);
        }
    }

    fn set_texts(&mut self, key: &str, entries: &[(String, Text)]) {
        if !entries.is_empty() {
            self.set(key, Node::map(entries.iter().map(|(name, text)| (name.as_str(), scalar(text)))));
        }
    }

    fn into_node(self) -> Node {
        Node::Map(self.0)
    }
}

/// Inputs of actions such as `false` and `7` stand unquoted; every input is a text to its action all the same.
fn scalar(text: &Text) -> Node {
    let text = text.to_string();
    match text.as_str() {
        "true" => Node::Bool(true),
        "false" => Node::Bool(false),
        digits if digits.len() < 6 && !digits.starts_with('0') => {
            digits.parse().map_or_else(|_| Node::text(digits), Node::Number)
        }
        _ => Node::text(text),
    }
}
