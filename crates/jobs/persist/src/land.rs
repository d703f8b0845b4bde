//! One memory, from its tar to its branch: look, decide, push; and all of it again when the head has moved.

use std::fs::File;
use std::time::{Duration, Instant};

use daybook_branch::{Oid, Remote, Snapshot};
use daybook_core::baseline::MemoryBaseline;
use daybook_core::config::{LedgerConfig, MemoryConfig};
use daybook_core::policy::{FilePolicy, SetAside};
use daybook_core::rules::WriteRules;
use daybook_core::{Digest, MemoryPath};
use daybook_publish::{Transition, Verdict, landed, publish};
use daybook_runner::{Exit, Pace, Stop, log};

use crate::files::{self, FilePlan, FileReport, Sides};
use crate::gate::Gate;
use crate::graph::mermaid;
use crate::head::{Head, Scans};
use crate::refusals::Refusals;
use crate::select::{Packing, heads_after, pack, select};
use crate::staged::{self, StagedMemory};
use crate::validation::consent;

/// How often a remote that fails is asked again before the job gives up.
const MAX_FAULTS: u32 = 3;

/// What all memories of a run share.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) remote: &'a Remote,
    pub(crate) id: String,
    pub(crate) begun: Instant,
    pub(crate) budget: Duration,
}

/// What became of one memory.
#[derive(Debug, Default)]
pub(crate) struct Landing {
    pub(crate) memory: String,
    pub(crate) branch: String,
    pub(crate) ledger: Option<String>,
    pub(crate) missing: bool,
    pub(crate) incomplete: bool,
    pub(crate) files: FileReport,
    pub(crate) refusals: Refusals,
    pub(crate) accepted: u64,
    pub(crate) segments: u64,
    pub(crate) heads_before: Vec<Digest>,
    pub(crate) heads_after: Vec<Digest>,
    pub(crate) shards: u64,
    pub(crate) max_shards: u64,
    pub(crate) findings: u64,
    pub(crate) graph: Option<String>,
    pub(crate) commit: Option<Oid>,
    pub(crate) attempts: u32,
    pub(crate) stop: Option<Stop>,
}

/// How an attempt ended.
enum Attempt {
    Over,
    Moved,
}

/// Persists one memory. Whatever goes wrong is in the landing; other memories are not touched by it.
pub(crate) fn land(
    run: &Run<'_>,
    gate: &Gate,
    memory: &MemoryConfig,
    ledger: Option<&LedgerConfig>,
    tar: Option<File>,
) -> Landing {
    let mut landing = Landing {
        memory: memory.id.to_string(),
        branch: memory.branch.to_string(),
        ledger: ledger.map(|ledger| ledger.name.to_string()),
        ..Landing::default()
    };
    let (Some(tar), Some(baseline)) = (tar, gate.baseline(memory.id.as_str())) else {
        landing.missing = true;
        return landing;
    };
    let rules = match ledger.map(WriteRules::of).transpose() {
        Ok(rules) => rules,
        Err(fault) => {
            landing.stop = Some(Stop::new(Exit::Usage, "schema-unusable", fault.to_string()));
            return landing;
        }
    };
    let policy = match FilePolicy::of(memory) {
        Ok(policy) => policy,
        Err(fault) => {
            landing.stop = Some(Stop::usage("config-invalid", fault.to_string()));
            return landing;
        }
    };
    let staged = staged::read(tar, baseline, rules.as_ref(), policy.max_file_size());
    landing.incomplete = !staged.complete;
    landing.refusals = staged.refusals.clone();
    if ledger.is_none() && staged.files.is_empty() && staged.deleted.is_empty() {
        landing.files = staged.oversized_report();
        return landing;
    }
    let base = gate.base(memory.id.as_str());
    let mut attempts = Attempts {
        run,
        memory,
        ledger,
        base,
        baseline,
        policy: &policy,
        staged: &staged,
        snapshot: None,
        scans: Scans::new(),
        pending: None,
    };
    landing.stop = attempts.until_landed(&mut landing).err();
    if landing.commit.is_none() && landing.stop.is_some() {
        landing.nothing_written();
    }
    landing
}

struct Attempts<'a> {
    run: &'a Run<'a>,
    memory: &'a MemoryConfig,
    ledger: Option<&'a LedgerConfig>,
    base: Option<Oid>,
    baseline: &'a MemoryBaseline,
    policy: &'a FilePolicy,
    staged: &'a StagedMemory,
    snapshot: Option<Snapshot>,
    scans: Scans,
    /// A commit whose push was not answered.
    pending: Option<Oid>,
}

impl<'a> Attempts<'a> {
    fn until_landed(&mut self, landing: &mut Landing) -> Result<(), Stop> {
        let mut pace = Pace::new(self.run.begun, self.run.budget);
        let mut faults = 0;
        loop {
            landing.attempts += 1;
            let moved = match self.once(landing) {
                Ok(Attempt::Over) => return Ok(()),
                Ok(Attempt::Moved) => None,
                Err(stop) if stop.exit == Exit::Io && faults < MAX_FAULTS => Some(stop),
                Err(stop) => return Err(stop),
            };
            if let Some(stop) = &moved {
                faults += 1;
                stop.log();
            }
            if !pace.wait() {
                return Err(moved.unwrap_or_else(|| self.out_of_time(landing.attempts)));
            }
        }
    }

    fn out_of_time(&self, attempts: u32) -> Stop {
        if self.pending.is_some() {
            let message = "the answer to the push was lost, and the branch could not be looked at in time";
            return Stop::new(Exit::Io, "push-unknown", message);
        }
        let message = format!("the branch moved on all {attempts} attempts within the time budget; run the job again");
        Stop::new(Exit::Contended, "contended", message)
    }

    /// One attempt, from a fresh look at the branch.
    // DB-3-05
    fn once(&mut self, landing: &mut Landing) -> Result<Attempt, Stop> {
        let snapshot = match self.snapshot.take() {
            Some(snapshot) => snapshot.refresh()?,
            None => self.run.remote.fetch(&self.memory.branch)?,
        };
        // DB-B-05
        if let Some(commit) = self.pending {
            if landed(&snapshot, commit)? {
                landing.commit = Some(commit);
                return Ok(Attempt::Over);
            }
            self.pending = None;
        }
        self.check_base(&snapshot)?;
        let head = Head::read(&snapshot, self.ledger.map(|ledger| &ledger.limits), &mut self.scans)?;
        let packing = match self.ledger {
            Some(ledger) => self.pack(&snapshot, &head, ledger, landing)?,
            None => Packing::default(),
        };
        let sides = Sides { snapshot: &snapshot, base: self.base, baseline: self.baseline, head: head.files() };
        let mut files = files::decide(&self.staged.files, &self.staged.deleted, &sides, self.policy, &self.run.id)?;
        for path in &self.staged.oversized {
            files.report.set_aside(SetAside::FileSize, path);
        }
        landing.files = std::mem::take(&mut files.report);
        let changes = !(packing.kept.is_empty() && files.puts.is_empty() && files.deletes.is_empty());
        // DB-4.1-01
        if changes && let Some(validation) = &self.memory.validation {
            consent(self.memory, validation, &sides, &files, &self.run.id)?;
        }
        self.push(snapshot, &packing, files, landing)
    }

    /// The records that land, in shards of our own making.
    fn pack(
        &self,
        snapshot: &Snapshot,
        head: &Head,
        ledger: &LedgerConfig,
        landing: &mut Landing,
    ) -> Result<Packing<'a>, Stop> {
        let mut refusals = self.staged.refusals.clone();
        let mut records = Vec::new();
        for shard in &self.staged.shards {
            // Somebody else's shard of that name came in since: byte for byte it is theirs, otherwise a forgery.
            if !head.names(shard.id) {
                records.extend(&shard.records);
            } else if !head.holds(snapshot, shard.id, shard.sha256)? {
                refusals.add("shard-tampered");
            }
        }
        let selection = select(head, records.into_iter());
        refusals.append(&selection.refusals);
        let packing = if ledger.read_only {
            selection.records.iter().for_each(|record| refusals.add_record("read-only", record.id()));
            Packing::default()
        } else {
            pack(head, &selection, &ledger.limits)?
        };
        refusals.append(&packing.refusals);
        landing.note(head, &packing, refusals, ledger.limits.max_shards().get());
        Ok(packing)
    }

    /// DESIGN §3: what the run started from has to be part of the branch still.
    // DB-B-03
    fn check_base(&self, snapshot: &Snapshot) -> Result<(), Stop> {
        let Some(base) = self.base else { return Ok(()) };
        if snapshot.is_ancestor(base)? {
            return Ok(());
        }
        let message = "the commit that the run was restored from is not part of the branch any more";
        Err(Stop::refused("base-not-ancestor", message))
    }

    // DB-5.5-01
    fn push(
        &mut self,
        snapshot: Snapshot,
        packing: &Packing<'_>,
        files: FilePlan,
        landing: &mut Landing,
    ) -> Result<Attempt, Stop> {
        if packing.kept.is_empty() && files.puts.is_empty() && files.deletes.is_empty() {
            return Ok(Attempt::Over);
        }
        if snapshot.head().is_none() && !self.memory.create_orphan {
            let message = format!("branch {} does not exist, and create-orphan is off", self.memory.branch);
            return Err(Stop::refused("branch-absent", message));
        }
        let mut transition = Transition::on(snapshot.head(), &self.message(landing));
        for segment in &packing.segments {
            transition.put(MemoryPath::of_shard(segment.id()), segment.bytes().to_vec());
        }
        for (path, content) in files.puts {
            transition.put(path, content);
        }
        for path in files.deletes {
            transition.delete(path);
        }
        let publication = publish(&snapshot, &transition)?;
        match publication.verdict {
            Verdict::Done => {
                landing.commit = Some(publication.commit);
                Ok(Attempt::Over)
            }
            Verdict::Moved => {
                self.snapshot = Some(snapshot);
                Ok(Attempt::Moved)
            }
            Verdict::Denied(denial) => Err(denial.into()),
            Verdict::Unknown(said) => {
                log("push-unknown", &said);
                self.pending = Some(publication.commit);
                self.snapshot = Some(snapshot);
                Ok(Attempt::Moved)
            }
        }
    }

    fn message(&self, landing: &Landing) -> String {
        let files = landing.files.landed();
        let records = self.ledger.map(|ledger| format!("{} records of ledger {}", landing.accepted, ledger.name));
        let parts = [records, (files > 0).then(|| format!("{files} files of memory {}", landing.memory))];
        let subject = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let mut message = format!("Persist {subject}\n\nRun: {}\n", self.run.id);
        if let Some(ledger) = self.ledger {
            let (accepted, segments) = (landing.accepted, landing.segments);
            message.push_str(&format!("Ledger {}: {accepted} records in {segments} shards\n", ledger.name));
        }
        for (code, count, _) in landing.refusals.iter() {
            message.push_str(&format!("Not kept: {count} {code}\n"));
        }
        for (why, names) in &landing.files.set_aside {
            message.push_str(&format!("Set aside: {} {}\n", names.count, why.code()));
        }
        message
    }
}

impl Landing {
    fn note(&mut self, head: &Head, packing: &Packing<'_>, refusals: Refusals, max_shards: u64) {
        self.refusals = refusals;
        self.accepted = packing.kept.len() as u64;
        self.segments = packing.segments.len() as u64;
        self.heads_before = head.heads().to_vec();
        self.heads_after = heads_after(head, &packing.kept);
        self.shards = head.shard_count() + self.segments;
        self.max_shards = max_shards;
        self.findings = head.findings();
        self.graph = mermaid(&packing.kept);
    }

    /// A decision that was not carried out leaves the branch as it was seen.
    fn nothing_written(&mut self) {
        self.shards -= self.segments;
        self.accepted = 0;
        self.segments = 0;
        self.graph = None;
        self.files = FileReport::default();
        self.heads_after.clone_from(&self.heads_before);
    }
}
