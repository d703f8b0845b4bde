//! Which staged records are kept, in which order, and in which shards. The same input always gives the same answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use daybook_core::segment::{PERSIST_METADATA, Segment};
use daybook_core::{Digest, Limits, Record};
use daybook_runner::{Exit, Stop};
use uuid::Uuid;

use crate::head::Head;
use crate::refusals::Refusals;

/// The new records that stand on known ground, every parent before its children.
#[derive(Debug)]
pub(crate) struct Selection<'a> {
    pub(crate) records: Vec<&'a Record>,
    pub(crate) refusals: Refusals,
    /// Bytes of this run's records that are on the branch already: they count against the patch limit.
    landed_bytes: u64,
}

/// Picks the records that are not on the branch, whose ids nobody else has, and whose parents are known (§6).
// DB-5.2-13, DB-8-09
pub(crate) fn select<'a>(head: &Head, staged: impl Iterator<Item = &'a Record>) -> Selection<'a> {
    let mut new: BTreeMap<Digest, &Record> = BTreeMap::new();
    let mut landed: BTreeMap<Digest, u64> = BTreeMap::new();
    for record in staged {
        if head.contains(&record.sha()) {
            landed.insert(record.sha(), record.stored_size().get());
        } else {
            new.insert(record.sha(), record);
        }
    }
    let mut refusals = Refusals::default();
    let mut users: HashMap<Uuid, u32> = HashMap::new();
    for record in new.values() {
        *users.entry(record.id().uuid()).or_default() += 1;
    }
    // DB-8-06
    // Of two records with one id neither can prove that it is the right one.
    new.retain(|_, record| {
        let id = record.id().uuid();
        let unique = !head.uses(id) && users.get(&id) == Some(&1);
        if !unique {
            refusals.add_record("duplicate-id-conflict", record.id());
        }
        unique
    });
    let records = arrange(head, &mut new);
    for record in new.values() {
        refusals.add_record("missing-parent", record.id());
    }
    Selection { records, refusals, landed_bytes: landed.values().sum() }
}

/// Takes out, layer by layer in ascending SHA, what has all its parents on the branch or in an earlier layer (FORMATS
/// §3). What stays names a parent that is nowhere.
fn arrange<'a>(head: &Head, new: &mut BTreeMap<Digest, &'a Record>) -> Vec<&'a Record> {
    let mut waiting: HashMap<Digest, usize> = HashMap::new();
    let mut children: HashMap<Digest, Vec<Digest>> = HashMap::new();
    let mut layer: BTreeSet<Digest> = BTreeSet::new();
    for (sha, record) in new.iter() {
        let open: Vec<&Digest> = record.parents().iter().filter(|parent| !head.contains(parent)).collect();
        if open.is_empty() {
            layer.insert(*sha);
        }
        waiting.insert(*sha, open.len());
        for parent in open {
            children.entry(*parent).or_default().push(*sha);
        }
    }
    let mut order = Vec::new();
    while !layer.is_empty() {
        let mut next = BTreeSet::new();
        for sha in layer {
            order.extend(new.remove(&sha));
            for child in children.remove(&sha).unwrap_or_default() {
                let left = waiting.entry(child).or_default();
                *left = left.saturating_sub(1);
                if *left == 0 {
                    next.insert(child);
                }
            }
        }
        layer = next;
    }
    order
}

/// What one commit writes.
#[derive(Debug, Default)]
pub(crate) struct Packing<'a> {
    pub(crate) kept: Vec<&'a Record>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) refusals: Refusals,
}

/// Fills shards in order up to `max-segment`, and stops where `max-patch` or the shard bound is reached: what comes
/// after may name what came before, so only a leading part can be kept (FORMATS §4).
// DB-2-08, DB-9-06, DB-B-06
pub(crate) fn pack<'a>(head: &Head, selection: &Selection<'a>, limits: &Limits) -> Result<Packing<'a>, Stop> {
    let mut patch = selection.landed_bytes;
    let mut room = limits.max_shards().get().saturating_sub(head.shard_count());
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    let mut filled = 0;
    let mut refusals = Refusals::default();
    let mut kept = Vec::new();
    for record in &selection.records {
        let size = record.stored_size().get();
        if patch + size > limits.max_patch().get() {
            refuse_rest(&mut refusals, "over-patch", selection, kept.len());
            break;
        }
        if groups.is_empty() || filled + size > limits.max_segment().get() {
            if room == 0 {
                refuse_rest(&mut refusals, "shard-bound", selection, kept.len());
                break;
            }
            room -= 1;
            filled = 0;
            groups.push(Vec::new());
        }
        if let Some(group) = groups.last_mut() {
            group.push(record);
        }
        filled += size;
        patch += size;
        kept.push(*record);
    }
    let mut segments = Vec::new();
    for group in groups {
        let segment = Segment::build(PERSIST_METADATA, group, limits.max_segment());
        let segment = segment.map_err(|fault| {
            Stop::new(Exit::Internal, "segment-not-built", format!("a shard could not be built: {fault}"))
        })?;
        // Its records are new, so whatever has its name on the branch is not it; a shard is never replaced.
        if head.names(segment.id()) {
            let message = format!("the branch has something else under the name of shard {}", segment.id());
            return Err(Stop::refused("shard-occupied", message));
        }
        segments.push(segment);
    }
    Ok(Packing { kept, segments, refusals })
}

fn refuse_rest(refusals: &mut Refusals, code: &'static str, selection: &Selection<'_>, kept: usize) {
    for record in selection.records.iter().skip(kept) {
        refusals.add_record(code, record.id());
    }
}

/// The heads after the kept records: those that no record names as parent, ascending.
pub(crate) fn heads_after(head: &Head, kept: &[&Record]) -> Vec<Digest> {
    let named: BTreeSet<&Digest> = kept.iter().flat_map(|record| record.parents()).collect();
    let all = head.heads().iter().copied().chain(kept.iter().map(|record| record.sha()));
    let heads: BTreeSet<Digest> = all.filter(|sha| !named.contains(sha)).collect();
    heads.into_iter().collect()
}
