//! Where shards are read from: a branch at one commit, or a folder. One at a time, so that memory stays bounded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;

use crate::ids::ShardId;

/// The shards of one ledger as they are now.
pub trait Shards {
    /// Why nothing could be said of a shard. That is never taken for an absence.
    type Fault;

    /// Reads a shard of at most `max` bytes.
    ///
    /// # Errors
    /// Where the shard may be there and could not be looked at.
    fn shard(&self, id: ShardId, max: u64) -> Result<Found<'_>, Self::Fault>;
}

/// What there is under a shard's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<'a> {
    /// Nothing.
    Absent,
    /// Something else than a regular file of the size asked for.
    Unusable,
    /// The shard.
    Bytes(Cow<'a, [u8]>),
}

impl Shards for BTreeMap<ShardId, Vec<u8>> {
    type Fault = Infallible;

    fn shard(&self, id: ShardId, max: u64) -> Result<Found<'_>, Infallible> {
        Ok(match self.get(&id) {
            None => Found::Absent,
            Some(bytes) if u64::try_from(bytes.len()).is_ok_and(|len| len <= max) => Found::Bytes(Cow::Borrowed(bytes)),
            Some(_) => Found::Unusable,
        })
    }
}
