//! Bounds of a ledger (§7), converted from configuration once.

use std::fmt;

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident, $suffix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(u64);

        impl $name {
            /// The plain number, in this unit.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!("{}", $suffix), self.0)
            }
        }
    };
}

unit!(
    /// A size in bytes.
    Bytes,
    " bytes"
);
unit!(
    /// A size in units of 1,024 bytes, as configuration spells it.
    KiB,
    " KiB"
);
unit!(
    /// A number of things.
    Count,
    ""
);

impl Bytes {
    /// A size in bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The size of something in memory.
    #[must_use]
    pub fn of_len(len: usize) -> Self {
        Self(u64::try_from(len).unwrap_or(u64::MAX))
    }
}

impl Count {
    /// A number of things.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }
}

impl From<KiB> for Bytes {
    fn from(size: KiB) -> Self {
        // Every KiB comes from a range check far below the overflow.
        Self(size.0.saturating_mul(1024))
    }
}

/// One row of the limit table in FORMATS §4: configuration key, default, least and greatest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The configuration key.
    pub key: &'static str,
    /// The value where the key is absent.
    pub default: u64,
    /// The least value allowed.
    pub min: u64,
    /// The greatest value allowed.
    pub max: u64,
}

/// `max-shards`, a count.
pub const MAX_SHARDS: Range = Range { key: "max-shards", default: 1024, min: 1, max: 1024 };
/// `max-segment-kb`, in KiB.
pub const MAX_SEGMENT: Range = Range { key: "max-segment-kb", default: 100, min: 1, max: 10_240 };
/// `max-record-kb`, in KiB; also at most the segment size.
pub const MAX_RECORD: Range = Range { key: "max-record-kb", default: 32, min: 1, max: 32 };
/// `max-patch-kb`, in KiB.
pub const MAX_PATCH: Range = Range { key: "max-patch-kb", default: 256, min: 1, max: 10_240 };

/// No shard above this size is read, whatever a ledger's own segment limit is: a limit that was lowered must not
/// hide what was written under the higher one.
pub const READ_SHARD_BYTES: Bytes = Bytes(MAX_SEGMENT.max * 1024);

/// A configured value lies outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitFault {
    /// Outside the fixed range of its key.
    #[error("{key} is {value}; allowed is {min} to {max}")]
    OutOfRange {
        /// The configuration key.
        key: &'static str,
        /// What was configured.
        value: u64,
        /// The least value allowed.
        min: u64,
        /// The greatest value allowed.
        max: u64,
    },
    /// A record could never fit into a segment.
    #[error("max-record-kb is {record}, more than max-segment-kb ({segment})")]
    RecordAboveSegment {
        /// The record limit in KiB.
        record: u64,
        /// The segment limit in KiB.
        segment: u64,
    },
}

/// Values as configured; `None` takes the default. Sizes in KiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Configured {
    /// `max-shards`
    pub max_shards: Option<u64>,
    /// `max-segment-kb`
    pub max_segment_kb: Option<u64>,
    /// `max-record-kb`
    pub max_record_kb: Option<u64>,
    /// `max-patch-kb`
    pub max_patch_kb: Option<u64>,
}

/// The checked bounds of one ledger.
#[expect(clippy::struct_field_names, reason = "named as the configuration keys are")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    max_shards: Count,
    max_segment: KiB,
    max_record: KiB,
    max_patch: KiB,
}

impl Limits {
    /// The only constructor (§7): a value outside its range is an error that names the key.
    ///
    /// # Errors
    /// [`LimitFault`] for the first value that is out of range.
    ///
    /// ```
    /// use daybook_core::limits::{Bytes, Configured, Limits};
    /// let limits = Limits::new(Configured { max_segment_kb: Some(200), ..Configured::default() })?;
    /// assert_eq!(limits.max_segment(), Bytes::new(204_800));
    /// assert!(Limits::new(Configured { max_record_kb: Some(33), ..Configured::default() }).is_err());
    /// # Ok::<(), daybook_core::limits::LimitFault>(())
    /// ```
    // DB-7-01, DB-7-02
    pub fn new(configured: Configured) -> Result<Self, LimitFault> {
        let limits = Self {
            max_shards: Count(in_range(MAX_SHARDS, configured.max_shards)?),
            max_segment: KiB(in_range(MAX_SEGMENT, configured.max_segment_kb)?),
            max_record: KiB(in_range(MAX_RECORD, configured.max_record_kb)?),
            max_patch: KiB(in_range(MAX_PATCH, configured.max_patch_kb)?),
        };
        if limits.max_record <= limits.max_segment {
            return Ok(limits);
        }
        // A small segment with the record limit left alone means records as large as the segment.
        if configured.max_record_kb.is_none() {
            return Ok(Self { max_record: limits.max_segment, ..limits });
        }
        Err(LimitFault::RecordAboveSegment { record: limits.max_record.0, segment: limits.max_segment.0 })
    }

    /// Most shards that are read or written.
    #[must_use]
    pub const fn max_shards(&self) -> Count {
        self.max_shards
    }

    /// Most bytes a writer puts into one shard.
    #[must_use]
    pub fn max_segment(&self) -> Bytes {
        self.max_segment.into()
    }

    /// Most bytes of one stored line, its newline included.
    #[must_use]
    pub fn max_record(&self) -> Bytes {
        self.max_record.into()
    }

    /// Most bytes of new records in one run.
    #[must_use]
    pub fn max_patch(&self) -> Bytes {
        self.max_patch.into()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_shards: Count(MAX_SHARDS.default),
            max_segment: KiB(MAX_SEGMENT.default),
            max_record: KiB(MAX_RECORD.default),
            max_patch: KiB(MAX_PATCH.default),
        }
    }
}

// DB-7-03, DB-9-16
fn in_range(range: Range, value: Option<u64>) -> Result<u64, LimitFault> {
    let value = value.unwrap_or(range.default);
    if (range.min..=range.max).contains(&value) {
        Ok(value)
    } else {
        Err(LimitFault::OutOfRange { key: range.key, value, min: range.min, max: range.max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // DB-7-01, DB-7-02, DB-7-03, DB-9-16, DB-10-05, DB-10-12
    #[test]
    fn every_edge_of_every_range() {
        let set = |key: &str, value: u64| {
            let some = Some(value);
            Limits::new(match key {
                "max-shards" => Configured { max_shards: some, ..Configured::default() },
                "max-segment-kb" => Configured { max_segment_kb: some, ..Configured::default() },
                "max-record-kb" => Configured { max_record_kb: some, ..Configured::default() },
                _ => Configured { max_patch_kb: some, ..Configured::default() },
            })
        };
        for range in [MAX_SHARDS, MAX_SEGMENT, MAX_RECORD, MAX_PATCH] {
            assert!(set(range.key, range.min).is_ok(), "{range:?}");
            assert!(set(range.key, range.max).is_ok(), "{range:?}");
            for wrong in [range.min - 1, range.max + 1, u64::MAX] {
                let message = set(range.key, wrong).unwrap_err().to_string();
                assert!(message.starts_with(range.key), "{message}");
            }
        }
    }

    // DB-7-02, DB-7-03
    #[test]
    fn a_record_fits_its_segment() {
        let small = Configured { max_segment_kb: Some(4), ..Configured::default() };
        assert_eq!(Limits::new(small).unwrap().max_record(), Bytes::new(4096));
        assert_eq!(
            Limits::new(Configured { max_record_kb: Some(5), ..small }),
            Err(LimitFault::RecordAboveSegment { record: 5, segment: 4 })
        );
    }

    #[test]
    fn the_default_is_what_an_empty_configuration_means() {
        assert_eq!(Limits::new(Configured::default()), Ok(Limits::default()));
    }
}
