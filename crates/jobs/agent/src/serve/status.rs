//! `ledger_status`: how a ledger stands, and how much room each bound leaves (§5.2).

use daybook_core::config::Schedule;
use daybook_core::state::{self, State};
use daybook_core::{Ledger, line, timestamp};
use serde_json::{Map, Value, json};

use super::clock;
use super::failure::Failure;
use super::files::MemoryFiles;
use super::ledger::ServedLedger;

/// Most heads that a status lists; the next append names no more.
const MAX_HEADS_SHOWN: usize = line::MAX_PARENTS;

impl ServedLedger {
    /// The whole status.
    pub(super) fn status(&mut self) -> Result<Value, Failure> {
        let (ledger, shards, patch, segment) = match self.reader()? {
            Some(writer) => {
                let (index, segment) = (writer.index(), writer.segment_used().get());
                (Some(index.ledger()), index.shard_count().get(), index.records().patch().get(), segment)
            }
            None => (None, 0, 0, 0),
        };
        let compaction = self.compaction()?;
        let config = self.config();
        let limits = &config.limits;
        let diagnostics: Map<String, Value> = ledger
            .iter()
            .flat_map(|ledger| ledger.diagnostics().counts())
            .map(|(code, count)| (code.name().to_owned(), count.into()))
            .collect();
        let heads = ledger.as_ref().map(Ledger::heads).unwrap_or_default();
        let used = |used: u64, limit: u64| json!({"used": used, "limit": limit, "left": limit.saturating_sub(used)});
        Ok(json!({
            "ledger": config.name.as_str(),
            "profile": config.profile,
            "records": ledger.as_ref().map_or(0, Ledger::len),
            "incomplete": ledger.as_ref().map_or(0, Ledger::incomplete),
            "heads": heads.iter().take(MAX_HEADS_SHOWN).collect::<Vec<_>>(),
            "head_count": heads.len(),
            "diagnostics": diagnostics,
            "read_only": config.read_only,
            "limits": {
                "shards": used(shards, limits.max_shards().get()),
                "run_bytes": used(patch, limits.max_patch().get()),
                "record_bytes": {"limit": limits.max_record().get()},
                "segment_bytes": used(segment, limits.max_segment().get()),
            },
            "files": self.files().map(MemoryFiles::usage),
            "compaction": compaction,
            "schema": config.schema,
        }))
    }

    /// When the ledger was last compacted, as its own state says, and whether the schedule asks for it now.
    fn compaction(&self) -> Result<Value, Failure> {
        let Some(configured) = &self.config().compaction else { return Ok(json!({"enabled": false})) };
        let state = match self.memory().compaction_state() {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => State::parse(&bytes).map(Some).map_err(|_| ()),
            Err(_) => Err(()),
        };
        let last = state.as_ref().ok().and_then(Option::as_ref).map(State::last_applied_at);
        let now = timestamp::to_unix_millis(&clock::now()?).ok_or_else(Failure::clock)?;
        let due = state::due(configured.schedule, last, now);
        Ok(json!({
            "enabled": true,
            "schedule": configured.schedule,
            "last": last,
            "overdue": configured.schedule != Schedule::Manual && due.due,
            "state_readable": state.is_ok(),
        }))
    }
}
