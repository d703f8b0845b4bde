//! `ledger_append`: one record or a batch, durable before it is acknowledged, once for each idempotency key (§5.2).

use std::collections::HashMap;

use daybook_core::event::MutationEvent;
use daybook_core::json::Value as Json;
use daybook_core::{Digest, Record};
use daybook_store::{AppendError, Appended, NewRecord};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::audit::TransactionLog;
use super::clock;
use super::failure::Failure;
use super::ledger::ServedLedger;

/// Most records of a batch.
pub(super) const MAX_BATCH: usize = 100;
/// Longest idempotency key, in characters.
pub(super) const MAX_KEY: usize = 128;

/// A checked call.
#[derive(Debug)]
pub(super) struct NewRecords {
    records: Vec<(String, Value)>,
    batch: bool,
    key: Option<String>,
}

/// What was appended under which key.
#[derive(Debug, Default)]
pub(super) struct Keys(HashMap<String, (Digest, Value)>);

impl NewRecords {
    /// Takes the arguments of an append: `type` and `payload`, or `records`.
    pub(super) fn take(mut arguments: Arguments) -> Result<Self, Failure> {
        let key = arguments.optional_text("idempotency_key")?;
        if key.as_ref().is_some_and(|key| !(1..=MAX_KEY).contains(&key.chars().count())) {
            let message = format!("idempotency_key must be a string of 1 to {MAX_KEY} characters");
            return Err(Failure::new("invalid-argument", message));
        }
        if !arguments.has("records") {
            let record = (arguments.text("type")?, arguments.value("payload")?);
            return Ok(Self { records: vec![record], batch: false, key });
        }
        if arguments.has("type") || arguments.has("payload") {
            return Err(Failure::new("invalid-argument", "give either type and payload, or records"));
        }
        let wrong = || {
            let message = format!("records must be an array of 1 to {MAX_BATCH} objects, each with type and payload");
            Failure::new("invalid-argument", message)
        };
        let Value::Array(items) = arguments.value("records")? else { return Err(wrong()) };
        if !(1..=MAX_BATCH).contains(&items.len()) {
            return Err(wrong());
        }
        let records = items.into_iter().map(|item| match item {
            Value::Object(members) => {
                let mut members = Arguments::new(Some(members), &["type", "payload"])?;
                Ok((members.text("type")?, members.value("payload")?))
            }
            _ => Err(wrong()),
        });
        Ok(Self { records: records.collect::<Result<_, Failure>>()?, batch: true, key })
    }

    /// What tells the content of one call from that of another.
    fn digest(&self, payloads: &[Json]) -> Digest {
        let mut text = String::from(if self.batch { "batch" } else { "one" });
        for ((kind, _), payload) in self.records.iter().zip(payloads) {
            text.push_str(&Value::from(kind.as_str()).to_string());
            payload.write(&mut text);
        }
        Digest::of(text.as_bytes())
    }
}

impl ServedLedger {
    /// Makes records durable, all or none, then says so in the log.
    pub(super) fn append(&mut self, new: NewRecords, log: &mut TransactionLog) -> Result<Value, Failure> {
        if self.config().read_only {
            return Err(Failure::new("read-only", "this ledger is read-only in this workflow"));
        }
        let payloads = new
            .records
            .iter()
            .map(|(_, payload)| Json::try_from(payload).map_err(Failure::json))
            .collect::<Result<Vec<_>, _>>()?;
        let content = new.digest(&payloads);
        if let Some(key) = &new.key
            && let Some((known, answer)) = self.keys().0.get(key)
        {
            let mut answer = answer.clone();
            answer["replayed"] = true.into();
            return if *known == content {
                Ok(answer)
            } else {
                let message = "this idempotency_key was used for other content; nothing was stored";
                Err(Failure::new("idempotency-conflict", message))
            };
        }
        for (_, payload) in &new.records {
            self.rules().check_payload(payload).map_err(AppendError::from)?;
        }
        let timestamp = clock::now()?;
        let records = new.records.iter().zip(payloads).map(|((kind, _), payload)| {
            Ok(NewRecord { id: clock::record_id()?, kind: kind.clone(), timestamp: timestamp.clone(), payload })
        });
        let records = records.collect::<Result<Vec<NewRecord>, Failure>>()?;
        let (shard, writer) = (clock::shard_id()?, self.writer()?);
        let appended = match records.as_slice() {
            [single] if !new.batch => writer.append(single, shard)?,
            batch => writer.append_batch(batch, shard)?,
        };
        let name = self.config().name.to_string();
        let event = |record| MutationEvent::for_record(Some(&name), record, &timestamp);
        let events: Vec<MutationEvent> = appended.records.iter().map(event).collect();
        // DB-5.2-08, DB-5.2-11
        let recorded = log.record(&events);
        let answer = self.acknowledge(&appended, new.batch, recorded, log.left())?;
        if let Some(key) = new.key {
            self.keys().0.insert(key, (content, answer.clone()));
        }
        Ok(answer)
    }

    fn acknowledge(&self, appended: &Appended, batch: bool, recorded: bool, events: u64) -> Result<Value, Failure> {
        let limits = &self.config().limits;
        let mut answer = match appended.records.as_slice() {
            records if batch => json!({"records": records.iter().map(show).collect::<Vec<_>>()}),
            [record] => show(record),
            _ => return Err(Failure::new("internal", "the append gave no record")),
        };
        answer["audit"] = json!({"recorded": recorded});
        answer["remaining"] = json!({
            "run_bytes": limits.max_patch().get().saturating_sub(appended.patch_used.get()),
            "shards": limits.max_shards().get().saturating_sub(appended.shards.get()),
            "segment_bytes": limits.max_segment().get().saturating_sub(appended.segment_used.get()),
            "events": events,
        });
        Ok(answer)
    }
}

fn show(record: &Record) -> Value {
    json!({"id": record.id(), "sha": record.sha(), "parents": record.parents(), "timestamp": record.timestamp()})
}
