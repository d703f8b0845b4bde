//! Which code runs in which job.

use serde_json::Value;

use crate::emit::{engines, scripts};
use crate::pins::{CHECKOUT, DOWNLOAD, UPLOAD};

use super::Findings;
use super::reader::{members, scalar, steps};
use super::table::{Role, installs, is_trusted, may_run, must_run};

const OWN: &[&str] = &[
    scripts::INSTALL_RELEASE,
    scripts::INSTALL_BUILT,
    scripts::BUILD_TOOLS,
    scripts::WRITE_CONFIG,
    scripts::RESTORE,
    scripts::PREPARE_AGENT,
    scripts::MERGE,
    scripts::NOTICE_READ_ONLY,
    scripts::DETECT,
    scripts::READ_AUTHOR_VERDICT,
    scripts::SAFE_OUTPUTS,
    scripts::BIND_OUTPUTS,
    scripts::CHECK_OUTPUTS,
    scripts::PERSIST,
    scripts::CHECK_LEDGER,
    scripts::PLAN,
    scripts::APPLY,
];

/// Steps that may be left out of a run, each with the condition that it has.
const CONDITIONS: &[(&str, &str)] = &[
    (scripts::MERGE, "${{ !cancelled() && steps.restore.outcome == 'success' }}"),
    (scripts::CHECK_LEDGER, "${{ inputs.ledger != '' }}"),
    ("daybook-staged", "${{ !cancelled() && steps.restore.outcome == 'success' }}"),
    ("daybook-findings", "${{ !cancelled() }}"),
    ("daybook-plan-", "${{ steps.plan.outputs.plan != '' }}"),
];

/// Whether a step runs one of the compiler's own scripts, byte for byte.
pub(crate) fn is_own(step: &Value) -> bool {
    step["run"].as_str().is_some_and(|run| OWN.contains(&run) || engines::SCRIPTS.contains(&run))
}

fn runs(step: &Value, script: &str) -> bool {
    step["run"].as_str() == Some(script)
}

fn uses(step: &Value) -> &str {
    step["uses"].as_str().and_then(|uses| uses.split('@').next()).unwrap_or_default()
}

/// Where a step that hands files on, or fetches them, is one of the compiler's own.
fn artifact(step: &Value) -> Option<&str> {
    let name = step["with"]["name"].as_str().filter(|name| name.starts_with("daybook-"))?;
    [UPLOAD, DOWNLOAD].contains(&uses(step)).then_some(name)
}

pub(crate) fn check(id: &str, role: &Role<'_>, job: &Value, findings: &mut Findings) {
    let steps = steps(job);
    for (number, step) in steps.iter().enumerate() {
        let place = format!("{id}, step {}", number + 1);
        let own = is_own(step) || artifact(step).is_some();
        if is_trusted(role) {
            trusted(&place, role, step, findings);
        }
        if own {
            unchanged(&place, step, findings);
        }
    }
    for script in must_run(role) {
        if steps.iter().filter(|step| runs(step, script)).count() != 1 {
            let first = script.lines().nth(2).or_else(|| script.lines().next()).unwrap_or_default();
            findings.error("step-missing", id, format!("the job must run its own script once: {first}…"));
        }
    }
    order(id, role, steps, findings);
}

fn trusted(place: &str, role: &Role<'_>, step: &Value, findings: &mut Findings) {
    let scripts = must_run(role).iter().chain(may_run(role)).chain(&[scripts::INSTALL_RELEASE, scripts::INSTALL_BUILT]);
    let known = match step["run"].as_str() {
        Some(run) => scripts.into_iter().any(|script| *script == run),
        None => artifact(step).is_some(),
    };
    if !known {
        findings.error("foreign-code", place, "a trusted job runs the compiler's own scripts and nothing else");
    }
    for (name, _) in members(&step["env"]) {
        if !name.starts_with("DAYBOOK_") && name != "GITHUB_TOKEN" {
            findings.error("foreign-variable", place, format!("a trusted job has the variable {name}"));
        }
    }
}

/// An own step fails the job where it fails, is not skipped, and hands on what it says for as long as it says.
fn unchanged(place: &str, step: &Value, findings: &mut Findings) {
    for (key, _) in members(step) {
        if !["name", "id", "if", "shell", "env", "run", "uses", "with", "timeout-minutes"].contains(&key) {
            findings.error("step-changed", place, format!("a step of the compiler's own has the key {key}"));
        }
    }
    if is_own(step) && step["shell"] != "bash" {
        findings.error("step-changed", place, "the shell of this step must be bash");
    }
    let what = step["run"].as_str().or_else(|| artifact(step)).unwrap_or_default();
    let is_upload = uses(step) == UPLOAD;
    let wanted = CONDITIONS.iter().find(|(name, _)| *name == what || (name.ends_with('-') && what.starts_with(name)));
    let wanted = wanted.filter(|_| is_own(step) || is_upload).map(|(_, condition)| *condition);
    let found = step.get("if").and_then(Value::as_str);
    if what != scripts::NOTICE_READ_ONLY && found != wanted {
        let wanted = wanted.unwrap_or("none");
        findings.error("step-condition", place, format!("the condition of this step must be {wanted}"));
    }
    if is_upload {
        let days = scalar(&step["with"]["retention-days"]).parse::<u64>().unwrap_or(0);
        if days < 7 {
            findings.error(
                "retention-short",
                place,
                "artifacts are kept for 7 days or more, so that a job can be run again",
            );
        }
    }
}

/// The binaries come first; memory, baseline and its upload come before any foreign code in the agent's job.
fn order(id: &str, role: &Role<'_>, steps: &[Value], findings: &mut Findings) {
    let position = |wanted: &dyn Fn(&Value) -> bool| steps.iter().position(wanted);
    let install = position(&|step| runs(step, scripts::INSTALL_RELEASE) || runs(step, scripts::INSTALL_BUILT));
    let main = must_run(role).first().and_then(|script| position(&|step| runs(step, script)));
    if installs(role) && (install.is_none() || install > main) {
        findings.error("tools-unchecked", id, "Daybook must be installed by digest before it runs");
    }
    if *role == Role::Agent {
        let foreign = position(&|step| !is_own(step) && artifact(step).is_none() && uses(step) != CHECKOUT);
        let foreign = foreign
            .or_else(|| position(&|step| step["run"].as_str().is_some_and(|run| engines::SCRIPTS.contains(&run))))
            .unwrap_or(steps.len());
        let baseline = position(&|step| uses(step) == UPLOAD && step["with"]["name"] == "daybook-baseline");
        let before = |at: Option<usize>| at.is_some_and(|at| at < foreign);
        if !before(position(&|step| runs(step, scripts::RESTORE))) || !before(baseline) {
            findings.error(
                "baseline-late",
                id,
                "the memory is restored and its baseline kept before any other code runs",
            );
        }
    }
    if matches!(role, Role::Output(_)) && main != Some(1) {
        findings.error(
            "outputs-unchecked",
            id,
            "the outputs are fetched and checked by digest before any other code runs",
        );
    }
}
