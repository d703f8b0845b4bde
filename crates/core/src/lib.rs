//! Canonical records, shards and the record DAG of a Daybook ledger.
