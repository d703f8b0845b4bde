//! Values that bind one job to another: digests, verdicts, bases.

use daybook_core::config::Config;
use daybook_workflow::{Expr, Text};
use serde_json::Value;

use crate::emit::conditions::{self, AGENT, DETECT, PLAN, SAFE_OUTPUTS};
use crate::emit::scripts;
use crate::pins::{PLATFORMS, digest_variable};

use super::Findings;
use super::generic::is_hex;
use super::reader::{members, scalar, steps};
use super::table::Role;

/// The variables of a role's main step that must have exactly this value.
fn bound(role: &Role<'_>, author_detects: bool) -> Vec<(&'static str, &'static str, String)> {
    let expect = Text::fixed("baseline.json=")
        .then(Expr::job_output(AGENT, "baseline"))
        .then_fixed(" ")
        .then(Expr::job_output(DETECT, "expect"));
    let examined = |script| {
        vec![
            (script, "DAYBOOK_EXPECT", expect.to_string()),
            (script, "DAYBOOK_VERDICT", conditions::verdict(author_detects).to_string()),
        ]
    };
    match role {
        Role::SafeOutputs => examined(scripts::SAFE_OUTPUTS),
        Role::Persist => examined(scripts::PERSIST),
        Role::Output(_) => {
            vec![(scripts::CHECK_OUTPUTS, "DAYBOOK_SHA256", Expr::job_output(SAFE_OUTPUTS, "sha256").to_string())]
        }
        Role::Apply(name) => {
            let plan = Expr::job_output(&format!("{PLAN}{name}"), "plan").to_string();
            vec![(scripts::APPLY, "DAYBOOK_PLAN_SHA256", plan), (scripts::APPLY, "DAYBOOK_LEDGER", (*name).to_owned())]
        }
        Role::Plan(name) => vec![(scripts::PLAN, "DAYBOOK_LEDGER", (*name).to_owned())],
        _ => Vec::new(),
    }
}

/// The outputs of a role that must have exactly this value, where it has them.
fn outputs(role: &Role<'_>) -> &'static [(&'static str, &'static str, bool)] {
    match role {
        Role::Tools => &[("sha256", "${{ steps.tools.outputs.sha256 }}", true)],
        Role::Agent => &[("baseline", "${{ steps.restore.outputs.baseline }}", true)],
        Role::Detect => &[
            ("verdict", "${{ steps.detect.outputs.verdict }}", true),
            ("expect", "${{ steps.detect.outputs.expect }}", true),
        ],
        Role::DetectAuthor => &[("verdict", "${{ steps.bound.outputs.verdict }}", true)],
        Role::SafeOutputs => &[
            ("types", "${{ steps.safe-outputs.outputs.types }}", false),
            ("sha256", "${{ steps.bound.outputs.sha256 }}", false),
        ],
        Role::Plan(_) => &[("plan", "${{ steps.plan.outputs.plan }}", true)],
        _ => &[],
    }
}

pub(crate) fn check(id: &str, role: &Role<'_>, job: &Value, author_detects: bool, findings: &mut Findings) {
    for (script, name, wanted) in bound(role, author_detects) {
        for step in steps(job).iter().filter(|step| step["run"].as_str() == Some(script)) {
            if scalar(&step["env"][name]) != wanted {
                findings.error("binding-changed", id, format!("{name} must be {wanted}"));
            }
        }
    }
    for (name, wanted, must) in outputs(role) {
        let found = &job["outputs"][*name];
        if (*must || !found.is_null()) && scalar(found) != *wanted {
            findings.error("output-changed", id, format!("the output {name} must be {wanted}"));
        }
    }
    for (name, value) in members(&job["outputs"]) {
        let base = *role == Role::Agent && name.starts_with("base_");
        let known = outputs(role).iter().any(|row| row.0 == name);
        if (base && scalar(value) != Expr::step_output("restore", name).to_string()) || !(base || known) {
            findings.error("output-changed", id, format!("the output {name} is not one that this job has"));
        }
    }
    for step in steps(job) {
        tools(id, step, findings);
        config(id, role, step, findings);
        branch(id, step, findings);
    }
}

/// A token that may start workflows starts the one of the default branch, and no other that a branch may hold.
fn branch(id: &str, step: &Value, findings: &mut Findings) {
    let is_ours = step["run"].as_str() == Some(scripts::SAFE_OUTPUTS);
    let wanted = conditions::default_branch().to_string();
    if is_ours && !step["env"]["GITHUB_TOKEN"].is_null() && scalar(&step["env"]["DAYBOOK_DEFAULT_BRANCH"]) != wanted {
        findings.error("binding-changed", id, format!("DAYBOOK_DEFAULT_BRANCH must be {wanted}"));
    }
}

fn tools(id: &str, step: &Value, findings: &mut Findings) {
    let env = &step["env"];
    let sound = match step["run"].as_str() {
        Some(scripts::INSTALL_RELEASE) => {
            let digests = PLATFORMS.map(|platform| scalar(&env[digest_variable(platform).as_str()]));
            digests.iter().any(|digest| !digest.is_empty())
                && digests.iter().all(|digest| digest.is_empty() || is_hex(digest, 64))
        }
        Some(scripts::INSTALL_BUILT) => scalar(&env["DAYBOOK_TOOLS_SHA256"]) == "${{ needs.tools.outputs.sha256 }}",
        Some(scripts::BUILD_TOOLS) => is_hex(&scalar(&env["DAYBOOK_COMMIT"]), 40),
        _ => true,
    };
    if !sound {
        findings.error("tools-unchecked", id, "the binaries are not bound by a digest");
    }
}

/// Every memory of the configuration has its base.
fn config(id: &str, role: &Role<'_>, step: &Value, findings: &mut Findings) {
    let Some(text) = step["env"]["DAYBOOK_CONFIG"].as_str() else {
        return;
    };
    if text.contains("${{") {
        findings.error("config-expression", id, "the configuration holds an expression");
    }
    match Config::parse(text.as_bytes()) {
        Err(fault) => findings.error("config-invalid", id, fault.to_string()),
        Ok(config) if *role == Role::Persist => {
            let base = config
                .memories()
                .iter()
                .map(|memory| format!("{}={}", memory.id, Expr::job_output(AGENT, &format!("base_{}", memory.id))));
            let wanted = base.collect::<Vec<_>>().join(" ");
            if scalar(&step["env"]["DAYBOOK_BASE"]) != wanted {
                findings.error("binding-changed", id, format!("DAYBOOK_BASE must be {wanted}"));
            }
        }
        Ok(_) => {}
    }
}
