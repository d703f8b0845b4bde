//! Keeping a ledger's projection up with its folder.

use std::collections::HashMap;

use daybook_core::shard::Entry;
use daybook_core::{Record, ShardId};
use daybook_projection::{Batch, Page, Projection, ProjectionFault, Row};
use daybook_store::{FolderIndex, ShardFolder, Writer};

use super::query::{Asked, Mark, Sequence};

/// Records up to which a shard's lines are read one by one, instead of the shard as a whole.
const FEW: usize = 8;

/// A projection and what of the folder is in it.
#[derive(Debug)]
pub(crate) struct Projected {
    projection: Projection,
    /// Tells its marks from those of another one.
    name: String,
    ledger: String,
    generation: u64,
    taken: HashMap<ShardId, usize>,
}

impl Projected {
    /// Takes an empty projection for a ledger.
    pub(crate) fn new(projection: Projection, ledger: &str, index: &FolderIndex) -> Self {
        let name = uuid::Uuid::new_v4().simple().to_string();
        Self { projection, name, ledger: ledger.to_owned(), generation: index.generation(), taken: HashMap::new() }
    }

    /// The projection in `slot` with everything that the writer's index knows; a new one where there is none, or where
    /// what is in it may no longer be in the folder.
    pub(super) fn current<'a>(
        slot: &'a mut Option<Self>,
        ledger: &str,
        writer: &Writer,
    ) -> Result<&'a mut Self, ProjectionFault> {
        let index = writer.index();
        let projected = match slot.take().filter(|known| known.generation == index.generation()) {
            Some(known) => known,
            None => Self::new(Projection::temporary()?, ledger, index),
        };
        let projected = slot.insert(projected);
        projected.extend(writer.folder(), index)?;
        Ok(projected)
    }

    /// A page and the mark behind it; `None` where the call's mark is not of this projection.
    pub(super) fn answer(&mut self, asked: &Asked) -> Result<Option<(Page, String)>, ProjectionFault> {
        let (page, from) = match &asked.sequence {
            Sequence::BySha => (self.projection.page(&asked.query)?, None),
            Sequence::Latest => (self.projection.latest(&asked.query)?, None),
            Sequence::Since(mark) if mark.projection == self.name => {
                (self.projection.since(&asked.query, &mark.place)?, Some(mark.place.clone()))
            }
            Sequence::Since(_) => return Ok(None),
        };
        let place = page.rows.last().map(Row::place).or(from).unwrap_or_default();
        Ok(Some((page, Mark { projection: self.name.clone(), place }.to_text())))
    }

    /// The projection alone.
    pub(crate) fn into_projection(self) -> Projection {
        self.projection
    }

    /// Adds what came into the folder.
    pub(crate) fn extend(&mut self, folder: &ShardFolder, index: &FolderIndex) -> Result<(), ProjectionFault> {
        let Self { projection, ledger, taken, .. } = self;
        let known = |shard: &ShardId| taken.get(shard).copied().unwrap_or(0);
        let grown: Vec<(ShardId, &[Entry])> = index
            .entries()
            .filter_map(|(shard, entries)| Some((shard, entries.get(known(&shard)..)?)))
            .filter(|(_, fresh)| !fresh.is_empty())
            .collect();
        if grown.is_empty() {
            return Ok(());
        }
        let mut batch = projection.batch(ledger)?;
        for (shard, fresh) in grown {
            // A shard that cannot be read now is tried again with the next query.
            if add(&mut batch, folder, shard, fresh)? {
                *taken.entry(shard).or_default() += fresh.len();
            }
        }
        batch.finish()
    }
}

/// Adds records of one shard; whether it could be read.
fn add(
    batch: &mut Batch<'_>,
    folder: &ShardFolder,
    shard: ShardId,
    entries: &[Entry],
) -> Result<bool, ProjectionFault> {
    if entries.len() <= FEW {
        for entry in entries {
            let Ok(line) = folder.read_line(entry.location()) else { return Ok(false) };
            add_line(batch, entry, &line)?;
        }
        return Ok(true);
    }
    let Ok(bytes) = folder.read(shard) else { return Ok(false) };
    for entry in entries {
        add_line(batch, entry, entry.location().line_of(&bytes).unwrap_or_default())?;
    }
    Ok(true)
}

/// Adds a line that still is the record it was when it was scanned.
fn add_line(batch: &mut Batch<'_>, entry: &Entry, line: &[u8]) -> Result<(), ProjectionFault> {
    match Record::parse(line) {
        Ok(record) if record.sha() == entry.sha() => batch.add(&record),
        _ => Ok(()),
    }
}
