//! The numbers of the configuration that are no bounds of a ledger, each with its range (FORMATS §9).

use crate::limits::Range;

/// Bytes of the largest ordinary file.
pub const MAX_FILE_SIZE: Range = Range { key: "max-file-size", default: 102_400, min: 1, max: 104_857_600 };
/// Ordinary files of a memory.
pub const MAX_FILE_COUNT: Range = Range { key: "max-file-count", default: 100, min: 1, max: 1000 };
/// Bytes that one run may change.
pub const MAX_PATCH_SIZE: Range = Range { key: "max-patch-size", default: 262_144, min: 1, max: 10_485_760 };
/// Seconds that a validation script may take.
pub const TIMEOUT: Range = Range { key: "timeout-seconds", default: 60, min: 1, max: 600 };
/// Fewest segments worth compacting.
pub const MIN_SEGMENTS: Range = Range { key: "min-segments", default: 32, min: 2, max: 256 };
/// Most segments of one plan.
pub const MAX_SEGMENTS: Range = Range { key: "max-segments", default: 128, min: 2, max: 256 };
/// Reported appends of one run.
pub const MUTATIONS: Range = Range { key: "max", default: 1000, min: 0, max: 1000 };
/// Requests for compaction of one run.
pub const REQUESTS: Range = Range { key: "max", default: 1, min: 0, max: 10 };
