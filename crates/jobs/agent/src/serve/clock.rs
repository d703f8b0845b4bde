//! The clock and the source of identities of a serving process.

use std::time::{SystemTime, UNIX_EPOCH};

use daybook_core::{RecordId, ShardId, timestamp};

use super::failure::Failure;

/// The present instant in canonical form.
pub(super) fn now() -> Result<String, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| Failure::clock())?;
    i64::try_from(since.as_millis()).ok().and_then(timestamp::from_unix_millis).ok_or_else(Failure::clock)
}

/// A fresh record identity.
pub(super) fn record_id() -> Result<RecordId, Failure> {
    RecordId::new(uuid::Uuid::new_v4()).ok_or_else(Failure::clock)
}

/// A fresh shard identity.
pub(super) fn shard_id() -> Result<ShardId, Failure> {
    ShardId::new(uuid::Uuid::new_v4()).ok_or_else(Failure::clock)
}
