//! A ledger as it is on a branch.

use daybook_branch::{Entry, EntryKind, Oid, ReadFault, Snapshot, TreeBounds};
use daybook_core::diagnostic::Detail;
use daybook_core::limits::{Count, MAX_SHARDS, READ_SHARD_BYTES};
use daybook_core::shard::{Location, ShardScan};
use daybook_core::{CheckedLine, Ledger, Record, ShardId};
use daybook_store::Progress;

/// Where shards are in a memory.
const SHARDS: &[u8] = b"ledger/shards/";

/// A reconstructed ledger of a snapshot, and the shards to read records from.
pub(crate) struct LedgerView {
    pub(crate) ledger: Ledger,
    /// In the order of their names.
    shards: Vec<(ShardId, Vec<u8>)>,
}

impl LedgerView {
    /// Reads every shard of a commit's tree, up to the bound on shards; nothing where there is no commit.
    pub(crate) fn of(snapshot: &Snapshot, commit: Option<Oid>, progress: impl Fn(Progress)) -> Result<Self, ReadFault> {
        Self::noting(snapshot, commit, progress, |_| ()).map(|(view, _)| view)
    }

    /// As [`LedgerView::of`], and collects what `note` makes of each record, shard by shard, line by line.
    pub(crate) fn noting<T>(
        snapshot: &Snapshot,
        commit: Option<Oid>,
        progress: impl Fn(Progress),
        note: impl Fn(&CheckedLine<'_>) -> T,
    ) -> Result<(Self, Vec<T>), ReadFault> {
        let mut entries = commit.map_or(Ok(Vec::new()), |commit| snapshot.entries_at(commit, TreeBounds::default()))?;
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
        let mut notes = Vec::new();
        for (number, (shard, entry)) in named.into_iter().enumerate() {
            match snapshot.content(entry, READ_SHARD_BYTES.get()) {
                Ok(bytes) => {
                    builder.add_scan(ShardScan::noting(shard, &bytes, |line| notes.push(note(line))));
                    shards.push((shard, bytes));
                }
                Err(ReadFault::TooLarge { .. }) => builder.add_file_fault(Some(shard), Detail::Oversized),
                Err(fault) => return Err(fault),
            }
            progress(Progress { shards: number + 1, of });
        }
        shards.sort_unstable_by_key(|(shard, _)| *shard);
        Ok((Self { ledger: builder.finish(), shards }, notes))
    }

    /// Every record, in the order of the ledger.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.ledger.order().filter_map(|entry| self.record(entry.location()))
    }

    /// The record at a place.
    pub(crate) fn record(&self, location: Location) -> Option<Record> {
        Record::parse(location.line_of(self.shard(location.shard)?)?).ok()
    }

    /// The bytes of a shard.
    pub(crate) fn shard(&self, shard: ShardId) -> Option<&[u8]> {
        let place = self.shards.binary_search_by_key(&shard, |(shard, _)| *shard).ok()?;
        self.shards.get(place).map(|(_, bytes)| bytes.as_slice())
    }

    /// The shards that could be read, in the order of their names.
    pub(crate) fn shard_ids(&self) -> impl Iterator<Item = ShardId> + '_ {
        self.shards.iter().map(|(shard, _)| *shard)
    }
}

fn shard_of(entry: &Entry) -> Option<ShardId> {
    std::str::from_utf8(&entry.path).ok().and_then(ShardId::from_path)
}
