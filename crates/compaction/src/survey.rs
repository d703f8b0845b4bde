//! A look at every shard of a ledger, in bounded memory.

use daybook_core::ShardId;

use crate::facts::Facts;
use crate::plan::MAX_SOURCE_BYTES;

/// Looks at shards, one at a time, and keeps the bytes of as many as a plan may have.
///
/// `shards` are their ids and sizes; `read` gives `None` for one that nothing can be read of.
///
/// # Errors
/// The first of `read`.
pub fn survey<E>(
    shards: impl IntoIterator<Item = (ShardId, u64)>,
    mut read: impl FnMut(ShardId) -> Result<Option<Vec<u8>>, E>,
) -> Result<Vec<Facts<'static>>, E> {
    let mut kept = 0_u64;
    shards
        .into_iter()
        .map(|(id, size)| {
            let Some(bytes) = read(id)? else { return Ok(Facts::unreadable(id, size)) };
            let facts = Facts::of(id, bytes);
            let with_it = kept.saturating_add(facts.bytes());
            if with_it > MAX_SOURCE_BYTES {
                return Ok(facts.without_bytes());
            }
            kept = with_it;
            Ok(facts)
        })
        .collect()
}
