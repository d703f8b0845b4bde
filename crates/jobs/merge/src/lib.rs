//! The post-agent step: merges the transaction log and packs the staged memories.
