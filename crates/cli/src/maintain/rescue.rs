//! Rescue: damaged shards give their good records to fresh ones, in one commit; their bytes stay in its history.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use daybook_branch::{LedgerTree, Remote, RemoteFault, Snapshot, Token};
use daybook_compaction::{Facts, Flaw, rescue as good_records};
use daybook_core::MemoryPath;
use daybook_core::config::Config;
use daybook_publish::{Transition, Verdict, landed, publish};
use daybook_runner::{Exit, Pace, Report, Stop};

use crate::remote_fault::{exit_of, told};

const BUDGET: Duration = Duration::from_secs(60);

fn unreachable(fault: &RemoteFault) -> Stop {
    Stop::new(exit_of(fault), fault.kind().code(), told(fault))
}

/// Rescues every damaged shard of a ledger's branch.
pub(super) fn rescue(url: &str, config: &Config, ledger: &str, report: &mut Report) -> Result<(), Stop> {
    let unknown = || Stop::new(Exit::Usage, "ledger-unknown", "the configuration has no such ledger");
    let memory = config.ledger(ledger).and_then(|ledger| config.memory_of(ledger)).ok_or_else(unknown)?;
    let token = Token::from_environment(None).map_err(|fault| unreachable(&fault))?;
    let remote = Remote::new(url, token).map_err(|fault| unreachable(&fault))?;
    let mut pace = Pace::new(Instant::now(), BUDGET);
    let mut pending = None;
    loop {
        let snapshot = remote.fetch(&memory.branch).map_err(|fault| unreachable(&fault))?;
        if let Some((commit, rescued)) = pending.take()
            && landed(&snapshot, commit).map_err(|fault| unreachable(&fault))?
        {
            report.count("rescued", rescued).wrote(format!("commit {commit}"));
            return Ok(());
        }
        let mut told = report.clone();
        let (transition, rescued) = transition(&snapshot, &mut told)?;
        if rescued == 0 {
            *report = told;
            report.count("rescued", 0).decided("no shard needs to be rescued");
            return Ok(());
        }
        let publication = publish(&snapshot, &transition)?;
        match publication.verdict {
            Verdict::Done => {
                *report = told;
                report.count("rescued", rescued).wrote(format!("commit {}", publication.commit));
                return Ok(());
            }
            Verdict::Denied(denial) => return Err(denial.into()),
            Verdict::Unknown(_) => pending = Some((publication.commit, rescued)),
            Verdict::Moved => {}
        }
        if !pace.wait() {
            return Err(Stop::new(Exit::Contended, "contended", "the branch kept moving; nothing was rescued"));
        }
    }
}

/// What one commit does, and for how many shards. Each goes under the same proof as the sources of a plan.
fn transition(snapshot: &Snapshot, report: &mut Report) -> Result<(Transition, u64), Stop> {
    let tree = LedgerTree::of(snapshot)?;
    let mut transition = Transition::on(snapshot.head(), "Rescue the good records of damaged shards\n");
    let mut rescued = 0;
    for id in tree.shards().keys() {
        let Some(bytes) = tree.content(*id)? else { continue };
        if !Facts::of(*id, bytes.as_slice()).flaw().is_some_and(Flaw::is_rescuable) {
            continue;
        }
        let rescue = match good_records(*id, &bytes) {
            Ok(rescue) => rescue,
            Err(why) => {
                report.warning("not-rescued", &format!("shard {id}: {why}"));
                continue;
            }
        };
        let mut there = BTreeMap::from([(*id, bytes)]);
        if let Some(fresh) = rescue.replacement() {
            there.insert(fresh.id(), fresh.bytes().to_vec());
            transition.put(MemoryPath::of_shard(fresh.id()), fresh.bytes().to_vec());
        }
        let Ok(retirement) = rescue.coverage().retire(&there);
        let retirement = retirement.map_err(|why| Stop::new(Exit::Refused, "not-covered", why.to_string()))?;
        for source in retirement.sources() {
            transition.delete(MemoryPath::of_shard(*source));
        }
        let records = rescue.replacement().map_or(0, |fresh| fresh.records().len());
        report.decided(format!("shard {id}: {records} good records are saved, {} bytes are none", rescue.bytes_left()));
        rescued += 1;
    }
    Ok((transition, rescued))
}
