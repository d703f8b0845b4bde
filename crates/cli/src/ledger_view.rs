//! A ledger as it is on a branch.

use daybook_branch::{Entry, EntryKind, ReadFault, Snapshot, TreeBounds};
use daybook_core::diagnostic::Detail;
use daybook_core::limits::{Count, MAX_SHARDS, READ_SHARD_BYTES};
use daybook_core::{Ledger, Record, ShardId};
use daybook_store::Progress;

/// Where shards are in a memory.
const SHARDS: &[u8] = b"ledger/shards/";

/// A reconstructed ledger of a snapshot, and the shards to read records from.
pub(crate) struct LedgerView {
    pub(crate) ledger: Ledger,
    shards: Vec<(ShardId, Vec<u8>)>,
}

impl LedgerView {
    /// Reads every shard of the snapshot's tree, up to the bound on shards.
    pub(crate) fn of(snapshot: &Snapshot, progress: impl Fn(Progress)) -> Result<Self, ReadFault> {
        let mut entries = snapshot.entries(TreeBounds::default())?;
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        let mut builder = Ledger::builder(Count::new(MAX_SHARDS.default));
        let mut named = Vec::new();
        for entry in entries.iter().filter(|entry| entry.path.starts_with(SHARDS)) {
            match (shard_of(entry), entry.kind) {
                (None, _) | (_, EntryKind::BadName) => builder.add_file_fault(None, Detail::BadName),
                (Some(shard), EntryKind::File | EntryKind::Executable) => named.push((shard, entry)),
                (Some(shard), _) => builder.add_file_fault(Some(shard), Detail::NotRegular),
            }
        }
        let bound = usize::try_from(MAX_SHARDS.default).unwrap_or(usize::MAX);
        if named.len() > bound {
            builder.add_file_fault(None, Detail::ShardBound);
            named.truncate(bound);
        }
        let of = named.len();
        let mut shards = Vec::with_capacity(of);
        for (number, (shard, entry)) in named.into_iter().enumerate() {
            match snapshot.content(entry, READ_SHARD_BYTES.get()) {
                Ok(bytes) => {
                    builder.add_shard(shard, &bytes);
                    shards.push((shard, bytes));
                }
                Err(ReadFault::TooLarge { .. }) => builder.add_file_fault(Some(shard), Detail::Oversized),
                Err(fault) => return Err(fault),
            }
            progress(Progress { shards: number + 1, of });
        }
        Ok(Self { ledger: builder.finish(), shards })
    }

    /// Every record, in the order of the ledger.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.ledger.order().filter_map(|entry| {
            let location = entry.location();
            let (_, bytes) = self.shards.iter().find(|(shard, _)| *shard == location.shard)?;
            Record::parse(location.line_of(bytes)?).ok()
        })
    }
}

fn shard_of(entry: &Entry) -> Option<ShardId> {
    std::str::from_utf8(&entry.path).ok().and_then(ShardId::from_path)
}
