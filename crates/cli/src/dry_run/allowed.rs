//! What each job is allowed, as a table (DESIGN §1 and §3).

use serde_json::{Value, json};

/// What one job may touch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    /// The job.
    pub(crate) job: &'static str,
    /// The memory's branch.
    pub(crate) branch: &'static str,
    /// The restored memory folder.
    pub(crate) folder: &'static str,
    /// What of other jobs it reads.
    pub(crate) reads: &'static str,
}

pub(crate) const RESTORE: Allowed = Allowed { job: "restore", branch: "read", folder: "write", reads: "nothing" };
pub(crate) const AGENT: Allowed =
    Allowed { job: "agent", branch: "none", folder: "append through its server", reads: "the restored memory" };
pub(crate) const MERGE: Allowed =
    Allowed { job: "merge", branch: "none", folder: "read", reads: "the transaction log and the safe outputs" };
pub(crate) const DETECT: Allowed = Allowed {
    job: "detect",
    branch: "none",
    folder: "none",
    reads: "the packed memory, the baseline, the transaction log and the safe outputs",
};
pub(crate) const SAFE_OUTPUTS: Allowed =
    Allowed { job: "safe-outputs", branch: "none", folder: "none", reads: "the safe outputs and the verdict" };
pub(crate) const PERSIST: Allowed = Allowed {
    job: "persist",
    branch: "write",
    folder: "none",
    reads: "the packed memory, the baseline and the verdict",
};

pub(crate) const PLAN: Allowed = Allowed { job: "maintenance-plan", branch: "read", folder: "none", reads: "nothing" };
pub(crate) const APPLY: Allowed =
    Allowed { job: "maintenance-apply", branch: "write", folder: "none", reads: "the plan" };

impl Allowed {
    /// The row as data, with the names of the environment variables that the job really got.
    pub(crate) fn to_json(self, environment: &[String]) -> Value {
        json!({ "branch": self.branch, "folder": self.folder, "reads": self.reads, "environment": environment })
    }
}
