//! One plan, from the check to the commit: look, prove, push; and all of it again when the head has moved.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use daybook_branch::{LedgerTree, Oid, Remote, Snapshot};
use daybook_compaction::{CheckedPlan, Decision, ProvenPlan, Target};
use daybook_core::config::BranchName;
use daybook_core::state::{STATE_PATH, State};
use daybook_core::{Digest, MemoryPath, timestamp};
use daybook_publish::{Transition, Verdict, landed, publish};
use daybook_runner::{Exit, Pace, Report, Stop, log};

use crate::stop::{conflict, contended, rejected, stale};

/// How often a remote that fails is asked again before the job gives up.
const MAX_FAULTS: u32 = 3;

/// What the job is about.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) remote: Remote,
    pub(crate) branch: &'a BranchName,
    pub(crate) target: Target<'a>,
    pub(crate) plan: CheckedPlan,
    pub(crate) begun: Instant,
    pub(crate) budget: Duration,
}

/// What became of the plan, in numbers.
#[derive(Debug, Default)]
pub(crate) struct Application {
    pub(crate) plan_id: Option<Digest>,
    pub(crate) attempts: u32,
    /// Shards and their bytes, before and after.
    pub(crate) before: (u64, u64),
    pub(crate) after: (u64, u64),
    pub(crate) sources: u64,
    pub(crate) records: u64,
    pub(crate) written: u64,
    pub(crate) commit: Option<Oid>,
}

/// How an attempt ended.
enum Attempt {
    Over,
    Moved,
}

/// A commit whose push was not answered, and the numbers of it.
struct Pending {
    commit: Oid,
    numbers: Application,
}

/// Applies the plan, or says why not.
pub(crate) fn apply(run: &Run<'_>, report: &mut Report, application: &mut Application) -> Result<(), Stop> {
    let mut pace = Pace::new(run.begun, run.budget);
    let mut looks = Looks { run, snapshot: None, pending: None };
    let mut faults = 0;
    loop {
        application.attempts += 1;
        // What is said about a branch that has moved since is no part of the answer.
        let mut told = report.clone();
        let fault = match looks.once(&mut told, application) {
            Ok(Attempt::Over) => {
                *report = told;
                return Ok(());
            }
            Ok(Attempt::Moved) => None,
            Err(stop) if stop.exit == Exit::Io && faults < MAX_FAULTS => Some(stop),
            Err(stop) => {
                *report = told;
                return Err(stop);
            }
        };
        if let Some(stop) = &fault {
            faults += 1;
            stop.log();
        }
        if !pace.wait() {
            return Err(fault.unwrap_or_else(|| looks.out_of_time(application.attempts)));
        }
    }
}

/// The ledger as it is on the branch; its shards are read when they are asked for.
struct Head<'a> {
    tree: LedgerTree<'a>,
    state: Option<State>,
}

impl<'a> Head<'a> {
    fn read(snapshot: &'a Snapshot, ledger: &str, report: &mut Report) -> Result<Self, Stop> {
        let tree = LedgerTree::of(snapshot)?;
        if tree.declarations() > 0 {
            let message = format!("{} coverage declarations on the branch are ignored", tree.declarations());
            report.warning("coverage-ignored", &message);
        }
        let state = tree.state(ledger)?.unwrap_or_else(|unusable| {
            report.warning(unusable.code(), &format!("{unusable}; it is replaced"));
            None
        });
        Ok(Self { tree, state })
    }
}

struct Looks<'a> {
    run: &'a Run<'a>,
    snapshot: Option<Snapshot>,
    pending: Option<Pending>,
}

impl Looks<'_> {
    fn out_of_time(&self, attempts: u32) -> Stop {
        if self.pending.is_some() {
            let message = "the answer to the push was lost, and the branch could not be looked at in time";
            return Stop::io("push-unknown", message);
        }
        contended(attempts)
    }

    /// One attempt, from a fresh look at the branch.
    fn once(&mut self, report: &mut Report, application: &mut Application) -> Result<Attempt, Stop> {
        let snapshot = match self.snapshot.take() {
            Some(snapshot) => snapshot.refresh()?,
            None => self.run.remote.fetch(self.run.branch)?,
        };
        if let Some(pending) = self.pending.take() {
            match landed(&snapshot, pending.commit) {
                Ok(true) => {
                    let attempts = application.attempts;
                    *application = Application { commit: Some(pending.commit), attempts, ..pending.numbers };
                    report.set_outcome("applied", Exit::Ok);
                    return Ok(Attempt::Over);
                }
                Ok(false) => {}
                Err(fault) => {
                    // Still unknown: the next attempt has to look again, too.
                    self.pending = Some(pending);
                    return Err(fault.into());
                }
            }
        }
        let Run { target, plan, branch, .. } = self.run;
        let head = Head::read(&snapshot, target.ledger, report)?;
        application.before = (head.tree.shards().len() as u64, head.tree.bytes());
        application.after = application.before;
        report.read(format!("branch {branch}: {} shards", application.before.0));
        let proven = match plan.prove(target, &head.tree, head.state.as_ref())? {
            Decision::Ready(proven) => proven,
            Decision::AlreadyApplied => {
                report.set_outcome("already_applied", Exit::Ok).decided("the plan was applied before");
                return Ok(Attempt::Over);
            }
            Decision::Stale(why) => return Err(stale(why)),
            Decision::Conflict(which) => return Err(conflict(which)),
            Decision::Rejected(forgery) => return Err(rejected(forgery)),
        };
        let transition = self.transition(&proven, &snapshot, head.state.as_ref())?;
        let numbers = application.with(&proven);
        drop(head);
        self.push(snapshot, &transition, numbers, report, application)
    }

    fn push(
        &mut self,
        snapshot: Snapshot,
        transition: &Transition,
        numbers: Application,
        report: &mut Report,
        application: &mut Application,
    ) -> Result<Attempt, Stop> {
        let publication = publish(&snapshot, transition)?;
        match publication.verdict {
            Verdict::Done => {
                *application = Application { commit: Some(publication.commit), ..numbers };
                report.set_outcome("applied", Exit::Ok);
                Ok(Attempt::Over)
            }
            Verdict::Moved => {
                self.snapshot = Some(snapshot);
                Ok(Attempt::Moved)
            }
            Verdict::Denied(denial) => Err(denial.into()),
            Verdict::Unknown(said) => {
                log("push-unknown", &said);
                self.pending = Some(Pending { commit: publication.commit, numbers });
                self.snapshot = Some(snapshot);
                Ok(Attempt::Moved)
            }
        }
    }

    /// Replacement and state come, sources go, everything else stays: one commit on exactly this head.
    fn transition(&self, proven: &ProvenPlan, snapshot: &Snapshot, before: Option<&State>) -> Result<Transition, Stop> {
        let internal = |what: &str| Stop::new(Exit::Internal, "transition", format!("{what} cannot be written"));
        let path = |text: &str| MemoryPath::parse(text).map_err(|_| internal("a path"));
        let ledger = self.run.target.ledger;
        let (sources, replacement) = (proven.sources(), proven.replacement());
        let message = format!(
            "Compact {} shards of ledger {ledger} into one\n\nPlan: {}\nReplacement: {} with {} records\n",
            sources.len(),
            proven.plan_id(),
            replacement.id(),
            replacement.records().len()
        );
        let mut transition = Transition::on(snapshot.head(), &message);
        if !proven.replacement_present() {
            transition.put(path(&replacement.id().path())?, replacement.bytes().to_vec());
        }
        let now = now().ok_or_else(|| Stop::io("clock", "the clock shows no time that a state can carry"))?;
        let state = State::after(before, ledger, proven.plan_id(), proven.trigger(), &now);
        transition.put(path(STATE_PATH)?, state.map_err(|_| internal("the state"))?.to_bytes());
        for source in sources {
            transition.delete(path(&source.segment().path())?);
        }
        Ok(transition)
    }
}

impl Application {
    /// The numbers once a proven plan has landed.
    fn with(&self, proven: &ProvenPlan) -> Self {
        let (sources, replacement) = (proven.sources(), proven.replacement());
        let (new, written) = if proven.replacement_present() { (0, 0) } else { (1, replacement.bytes().len() as u64) };
        let retired: u64 = sources.iter().map(daybook_compaction::Identity::bytes).sum();
        Self {
            plan_id: self.plan_id,
            attempts: self.attempts,
            before: self.before,
            after: (self.before.0 + new - sources.len() as u64, self.before.1 + written - retired),
            sources: sources.len() as u64,
            records: replacement.records().len() as u64,
            written,
            commit: None,
        }
    }
}

/// This machine's own clock; no time out of a plan is ever stored.
fn now() -> Option<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    timestamp::from_unix_millis(i64::try_from(since.as_millis()).ok()?)
}
