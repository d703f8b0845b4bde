//! Which job of any workflow could write a memory, and what makes it so.
//!
//! A memory is a branch: whoever holds a token with `contents: write` can push to it, unless a rule of the repository
//! protects it. What is not stated is taken for what GitHub may give.

use serde_json::Value;

use crate::trigger::{BY_ANYBODY, DANGEROUS};

use super::reader::{jobs, members, scalar, steps, texts};
use super::tokens::{Names, names};

/// What a job could do to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Nothing that the file shows lets it write.
    CannotWrite,
    /// It depends on settings or secrets that the file does not show.
    MayWrite,
    /// Its token can push.
    CanWrite,
}

impl Power {
    /// The words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::CannotWrite => "cannot write",
            Self::MayWrite => "may be able to write",
            Self::CanWrite => "can write",
        }
    }
}

/// One job, and what makes it able to write or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// The job.
    pub job: String,
    /// What it could do.
    pub power: Power,
    /// Why: its grants first, then its steps in their order, then who can start it.
    pub reasons: Vec<String>,
}

/// Every job of a workflow.
pub(crate) fn writers(workflow: &Value) -> Vec<Writer> {
    jobs(workflow).map(|(id, job)| writer(workflow, id, job)).collect()
}

fn writer(workflow: &Value, id: &str, job: &Value) -> Writer {
    let mut writer = Writer { job: id.to_owned(), power: Power::CannotWrite, reasons: Vec::new() };
    writer.granted(workflow, job);
    if let Some(called) = job["uses"].as_str() {
        let secrets = if job["secrets"] == "inherit" { ", with every secret of the repository" } else { "" };
        writer.because(Power::CannotWrite, format!("it runs the workflow {called:?} with these rights{secrets}"));
        if job.get("secrets").is_some() {
            writer
                .because(Power::MayWrite, "secrets are handed to that workflow, and one may be a token that can write");
        }
    }
    let has_token = writer.power > Power::CannotWrite;
    writer.steps(job, has_token);
    if writer.power > Power::CannotWrite {
        writer.started(workflow, job);
    }
    writer
}

impl Writer {
    fn because(&mut self, power: Power, reason: impl Into<String>) {
        self.power = self.power.max(power);
        self.reasons.push(reason.into());
    }

    /// The rights of the token: the job's own word, else the workflow's, else what the repository gives.
    fn granted(&mut self, workflow: &Value, job: &Value) {
        let (whose, permissions) = match (job.get("permissions"), workflow.get("permissions")) {
            (Some(own), _) => ("its permissions", own),
            (None, Some(all)) => ("the workflow's permissions", all),
            (None, None) => {
                let reason = "no permissions are stated: its token has what the repository gives by default, which may be \
                              contents: write";
                self.because(Power::MayWrite, reason);
                return;
            }
        };
        let contents = match permissions.as_str() {
            Some("write-all") => "write",
            Some("read-all") => "read",
            _ => permissions["contents"].as_str().unwrap_or("none"),
        };
        if contents == "write" {
            let word = permissions.as_str().unwrap_or("contents: write");
            self.because(
                Power::CanWrite,
                format!("{word} stands in {whose}: its token can push to the memory's branch"),
            );
        } else {
            self.because(Power::CannotWrite, format!("contents is {contents} in {whose}"));
        }
        let actions = permissions.as_str() == Some("write-all") || permissions["actions"] == "write";
        if actions {
            let reason =
                format!("actions: write stands in {whose}: it can start other workflows, maintenance among them");
            self.because(Power::CannotWrite, reason);
        }
    }

    /// What of the job comes near a token.
    fn steps(&mut self, job: &Value, has_token: bool) {
        let all = steps(job);
        let of_job: Names = members(job)
            .filter(|(key, _)| *key != "steps")
            .map(|(_, value)| names(value))
            .max()
            .unwrap_or(Names::Nothing);
        if of_job == Names::Secret && job.get("uses").is_none() {
            self.because(
                Power::MayWrite,
                "a secret is within reach of all of its steps, and may be a token that can write",
            );
        } else if of_job > Names::Secret && has_token {
            self.because(Power::CannotWrite, "the token is within reach of all of its steps");
        }
        for (number, step) in (1..).zip(all) {
            let name = step_name(number, step);
            let uses = step["uses"].as_str().unwrap_or_default();
            if uses.starts_with("actions/checkout@") {
                self.checkout(&name, number, step, all.len(), has_token);
            } else {
                self.step(&name, uses, step, has_token);
            }
        }
    }

    fn checkout(&mut self, name: &str, number: usize, step: &Value, steps: usize, has_token: bool) {
        let own = step["with"]["token"].as_str().or_else(|| step["with"]["ssh-key"].as_str());
        let foreign = own.filter(|text| names(&Value::from(*text)) == Names::Secret);
        let keeps = scalar(&step["with"]["persist-credentials"]) != "false";
        if foreign.is_some() {
            self.because(Power::MayWrite, format!("{name} uses a secret as its credential"));
        }
        if keeps && steps > number && (has_token || foreign.is_some()) {
            let later =
                if steps == number + 1 { format!("step {steps}") } else { format!("steps {} to {steps}", number + 1) };
            self.because(Power::CannotWrite, format!("{name} leaves the credential on disk, where {later} can use it"));
        }
    }

    fn step(&mut self, name: &str, uses: &str, step: &Value, has_token: bool) {
        match members(step).filter(|(key, _)| *key != "run").map(|(_, value)| names(value)).max() {
            Some(Names::Secret) => {
                self.because(Power::MayWrite, format!("{name} gets a secret, which may be a token that can write"));
            }
            Some(Names::Token) if has_token => self.because(Power::CannotWrite, format!("{name} gets the token")),
            Some(Names::All) if has_token => {
                self.because(Power::MayWrite, format!("{name} gets all secrets, or a context that holds the token"));
            }
            _ if has_token && !uses.is_empty() && !uses.starts_with("./") => {
                let pin = uses.split_once('@').map_or("", |(_, reference)| reference);
                if !super::generic::is_hex(pin, 40) {
                    let reason =
                        format!("{name} runs {uses:?}, whose code can change and can ask for the token by itself");
                    self.because(Power::CannotWrite, reason);
                }
            }
            _ => {}
        }
        let pasted = step["run"].as_str().filter(|run| has_token && pastes_foreign_text(run));
        if pasted.is_some() {
            let reason =
                format!("{name} pastes text of the event into its script: whoever writes that text can run commands");
            self.because(Power::CannotWrite, reason);
        }
    }

    /// Who can start it, where strangers can.
    fn started(&mut self, workflow: &Value, job: &Value) {
        let on = &workflow["on"];
        let has = |event: &str| match on {
            Value::String(name) => name == event,
            Value::Array(names) => names.iter().any(|name| name == event),
            Value::Object(events) => events.contains_key(event),
            _ => false,
        };
        let strangers: Vec<&str> = DANGEROUS.iter().chain(BY_ANYBODY).copied().filter(|event| has(event)).collect();
        if !strangers.is_empty() {
            let mut found = Vec::new();
            texts(&job["if"], &mut found);
            let guarded = if found.iter().any(|text| text.contains("author_association")) {
                "; its condition looks at who they are"
            } else {
                ""
            };
            self.reasons.push(format!("strangers can start it by {}{guarded}", strangers.join(", ")));
        }
        let runner = job["runs-on"].to_string();
        if runner.contains("self-hosted") {
            self.reasons.push("its runner is your own: what a run leaves there, a later one may find".to_owned());
        }
    }
}

/// Whether an expression in a script names what somebody outside wrote.
fn pastes_foreign_text(run: &str) -> bool {
    let expressions = run.split("${{").skip(1).filter_map(|rest| rest.split("}}").next());
    let foreign = ["github.event.", "github.head_ref", "inputs.", "steps.", "needs."];
    expressions.into_iter().any(|expression| foreign.iter().any(|start| expression.contains(start)))
}

fn step_name(number: usize, step: &Value) -> String {
    let name = step["name"].as_str().or_else(|| step["uses"].as_str()).or_else(|| step["run"].as_str()?.lines().next());
    match name {
        Some(name) => format!("step {number} ({})", name.chars().take(48).collect::<String>()),
        None => format!("step {number}"),
    }
}
