//! The tables and indexes, as SQL.

/// Run on an empty database. Nothing has to survive a crash, so nothing is journalled.
pub(crate) const SET_UP: &str = "
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -65536;
    CREATE TABLE records (
        number    INTEGER PRIMARY KEY,
        ledger    TEXT NOT NULL,
        sha       TEXT NOT NULL,
        id        TEXT NOT NULL,
        type      TEXT NOT NULL,
        timestamp TEXT NOT NULL,
        parents   TEXT NOT NULL, -- a JSON array of digests
        payload   TEXT NOT NULL, -- canonical JSON
        batch     INTEGER NOT NULL,
        UNIQUE (sha, ledger)
    );
    CREATE TABLE fields (
        path   INTEGER NOT NULL,
        record INTEGER NOT NULL,
        key    BLOB NOT NULL,
        sha    TEXT NOT NULL,
        PRIMARY KEY (path, record)
    ) WITHOUT ROWID;
    CREATE INDEX fields_by_key ON fields (path, key, sha);
";

/// Run before the first query by type.
pub(crate) const BY_TYPE: &str = "CREATE INDEX IF NOT EXISTS records_by_type ON records (type, sha);";

/// Run before the first query in the order of time.
pub(crate) const BY_TIME: &str = "CREATE INDEX IF NOT EXISTS records_by_time ON records (batch, timestamp, sha);";

/// Run on a file before it is handed to its readers.
pub(crate) const COMPLETE: &str = "
    DROP TABLE fields;
    CREATE INDEX IF NOT EXISTS records_by_type ON records (type, sha);
    CREATE INDEX IF NOT EXISTS records_by_instant ON records (timestamp);
    ANALYZE;
    PRAGMA optimize;
";
