//! Steps that several jobs have.

use daybook_workflow::{Condition, Expr, Job, Node, Permissions, PinnedAction, Script, Step, Text};

use crate::pins::{DOWNLOAD, PLATFORMS, Pins, Tools, UPLOAD, digest_variable};
use crate::problem::{Place, Problem};

use super::conditions::TOOLS;
use super::scripts;

/// Days that artifacts are kept: long enough for "re-run failed jobs" to land what was staged.
pub(crate) const RETENTION_DAYS: &str = "7";

pub(crate) const BASELINE: &str = "daybook-baseline";
pub(crate) const STAGED: &str = "daybook-staged";
pub(crate) const FINDINGS: &str = "daybook-findings";
pub(crate) const OUTPUTS: &str = "daybook-outputs";
pub(crate) const BUILT: &str = "daybook-tools";

/// What a workflow is emitted from, besides its source.
pub(crate) struct Ground<'p> {
    pub(crate) pins: &'p Pins,
    pub(crate) tools: &'p Tools,
}

impl<'p> Ground<'p> {
    pub(crate) fn new(pins: &'p Pins) -> Result<Self, Problem> {
        let tools = pins.tools().ok_or_else(|| {
            let hint = "write {\"version\": 1, \"daybook\": {\"repository\": \"OWNER/NAME\", \"commit\": \"<40 digits>\"}}, or a \
                        tag with the digests of its archives";
            Problem::new("tools-not-pinned", Place::START, ".github/daybook.pins.json does not pin Daybook itself")
                .with_hint(Some(hint.to_owned()))
        })?;
        Ok(Self { pins, tools })
    }

    pub(crate) fn builds(&self) -> bool {
        matches!(self.tools, Tools::Source { .. })
    }

    fn action(&self, name: &str) -> Option<PinnedAction> {
        self.pins.action(name).cloned()
    }

    /// A step that runs a pinned action.
    pub(crate) fn uses(&self, name: &str, action: &str, with: Vec<(String, Text)>) -> Vec<Step> {
        self.action(action).map(|action| Step::uses(name, action, with)).into_iter().collect()
    }

    pub(crate) fn upload(&self, name: &str, artifact: &str, path: Text, missing: &str) -> Vec<Step> {
        // Before the fourth version an artifact of one name is always overwritten.
        let is_asked = self.pins.action(UPLOAD).is_some_and(|action| action.version_numbers()[0] >= 4);
        let overwrite = is_asked.then(|| ("overwrite", Text::fixed("true")));
        let with = [
            ("name", Text::fixed(artifact)),
            ("path", path),
            ("if-no-files-found", Text::fixed(missing)),
            ("retention-days", Text::fixed(RETENTION_DAYS)),
        ];
        let with = with.into_iter().chain(overwrite).chain([("include-hidden-files", Text::fixed("false"))]);
        self.uses(name, UPLOAD, with.map(|(name, text)| (name.to_owned(), text)).collect())
    }

    pub(crate) fn download(&self, name: &str, artifact: &str, path: Text) -> Vec<Step> {
        let with = [("name", Text::fixed(artifact)), ("path", path)];
        self.uses(name, DOWNLOAD, with.map(|(name, text)| (name.to_owned(), text)).into())
    }

    /// The steps that bring the binaries, by digest.
    pub(crate) fn install(&self) -> Vec<Step> {
        match self.tools {
            Tools::Release { repository, tag, archives } => {
                let mut step = script("Fetch Daybook and check its digest", scripts::INSTALL_RELEASE)
                    .with_env("DAYBOOK_REPOSITORY", Text::fixed(repository))
                    .with_env("DAYBOOK_TAG", Text::fixed(tag));
                for platform in PLATFORMS {
                    let digest = archives.get(platform).map(ToString::to_string);
                    // The script reads the first two always, the others where they are there.
                    if digest.is_some() || platform.starts_with("linux") {
                        let digest = digest.unwrap_or_default();
                        let digest = Text::fixed(digest.trim_start_matches("sha256:"));
                        step = step.with_env(&digest_variable(platform), digest);
                    }
                }
                vec![step]
            }
            Tools::Source { .. } => {
                let mut steps = self.download("Fetch Daybook as this run built it", BUILT, temp("/daybook-tools"));
                steps.push(
                    script("Check the digest of Daybook", scripts::INSTALL_BUILT)
                        .with_env("DAYBOOK_TOOLS_SHA256", Expr::job_output(TOOLS, "sha256").into()),
                );
                steps
            }
        }
    }

    /// The job that builds the binaries, where no release is pinned.
    pub(crate) fn tools_job(&self, runs_on: &Node) -> Option<Job> {
        let Tools::Source { repository, commit } = self.tools else {
            return None;
        };
        let mut steps = vec![
            script("Build Daybook", scripts::BUILD_TOOLS)
                .with_id("tools")
                .with_env("DAYBOOK_REPOSITORY", Text::fixed(repository))
                .with_env("DAYBOOK_COMMIT", Text::fixed(commit)),
        ];
        steps.extend(self.upload("Hand Daybook on", BUILT, temp("/daybook-build/tools.tar.gz"), "error"));
        let mut job = job(TOOLS, "Build Daybook", runs_on, 45, steps);
        job.outputs = vec![("sha256".to_owned(), Expr::step_output("tools", "sha256").into())];
        Some(job)
    }

    /// The jobs that a job needs, the one that builds the binaries among them.
    pub(crate) fn needs(&self, jobs: &[&str]) -> Vec<String> {
        let tools = self.builds().then_some(TOOLS);
        tools.into_iter().chain(jobs.iter().copied()).map(str::to_owned).collect()
    }
}

/// A path in the runner's temporary folder.
pub(crate) fn temp(path: &str) -> Text {
    Text::from(Expr::fixed("runner.temp")).then_fixed(path)
}

/// A step that runs one of the compiler's own scripts.
pub(crate) fn script(name: &str, text: &'static str) -> Step {
    let mut step = Step::run(name, Script::fixed(text));
    step.shell = Some("bash".to_owned());
    step
}

/// A job without rights.
pub(crate) fn job(id: &str, name: &str, runs_on: &Node, timeout_minutes: u64, steps: Vec<Step>) -> Job {
    Job {
        id: id.to_owned(),
        name: Text::fixed(name),
        needs: Vec::new(),
        condition: Condition::default(),
        runs_on: runs_on.clone(),
        environment: None,
        concurrency: None,
        permissions: Permissions::default(),
        timeout_minutes,
        outputs: Vec::new(),
        env: Vec::new(),
        steps,
    }
}
