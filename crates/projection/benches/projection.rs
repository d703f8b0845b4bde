//! The projection against bare SQLite doing the same: both run in turns, the median of each pair counts.
//!
//! `cargo bench -p daybook-projection`; a number as argument sets how many records there are.

use std::hint::black_box;
use std::time::{Duration, Instant};

use daybook_core::query::Query;
use daybook_core::{Record, json};
use daybook_projection::Projection;
use daybook_testkit::ledgers::{Shape, shards};
use rusqlite::{Connection, params};

const RECORDS: usize = 100_000;
const BUILDS: usize = 5;
const PAGES: usize = 300;

const BARE: &str = "
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;
    CREATE TABLE records (number INTEGER PRIMARY KEY, ledger TEXT NOT NULL, sha TEXT NOT NULL, id TEXT NOT NULL,
        type TEXT NOT NULL, timestamp TEXT NOT NULL, parents TEXT NOT NULL, payload TEXT NOT NULL,
        batch INTEGER NOT NULL, UNIQUE (sha, ledger));";
const PAGE: &str = "SELECT r.sha, r.id, r.type, r.timestamp, r.parents, r.payload, r.batch FROM records AS r \
    WHERE r.sha > ? ORDER BY r.sha LIMIT ?";

/// The columns of one row.
type Columns = [String; 6];

fn columns(record: &Record) -> Columns {
    let parents: Vec<String> = record.parents().iter().map(|parent| format!("\"{parent}\"")).collect();
    [
        record.sha().to_string(),
        record.id().to_string(),
        record.kind().to_owned(),
        record.timestamp().to_owned(),
        format!("[{}]", parents.join(",")),
        record.payload_text().to_owned(),
    ]
}

fn bare(rows: &[Columns]) -> Connection {
    let database = Connection::open("").expect("a database");
    database.execute_batch(BARE).expect("tables");
    database.execute_batch("BEGIN").expect("a transaction");
    {
        let mut insert = database
            .prepare(
                "INSERT INTO records (ledger, sha, id, type, timestamp, parents, payload, batch) \
                      VALUES ('triage', ?, ?, ?, ?, ?, ?, 1)",
            )
            .expect("a statement");
        for [sha, id, kind, timestamp, parents, payload] in rows {
            insert.execute(params![sha, id, kind, timestamp, parents, payload]).expect("a row");
        }
    }
    database.execute_batch("COMMIT").expect("a commit");
    database
}

fn projected(lines: &[&[u8]], query: &Query) -> Projection {
    let mut projection = Projection::temporary().expect("a database");
    let mut batch = projection.batch("triage").expect("a batch");
    for line in lines {
        batch.add(&Record::parse(line).expect("a record")).expect("a row");
    }
    batch.finish().expect("a commit");
    black_box(projection.page(query).expect("a page"));
    projection
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = run();
    (start.elapsed(), result)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn report(what: &str, ours: Vec<Duration>, bare: Vec<Duration>, allowed: f64) {
    let (ours, bare) = (median(ours), median(bare));
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("| {what} | {ours:.2?} | {bare:.2?} | {ratio:.2} | {allowed} |");
}

fn main() {
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(RECORDS);
    let shards = shards(Shape::new(count, 64, true), 1);
    let lines: Vec<&[u8]> = shards
        .iter()
        .flat_map(|(_, bytes)| bytes.split(|byte| *byte == b'\n'))
        .filter(|line| !line.is_empty())
        .collect();
    let rows: Vec<Columns> = lines.iter().map(|line| columns(&Record::parse(line).expect("a record"))).collect();
    let plain = Query::default();
    let filtered =
        Query::parse(&json::parse(br#"{"where":{"payload.issue":{"eq":77}}}"#).expect("JSON")).expect("a query");

    println!("{count} records\n\n| | projection | bare SQLite | ratio | allowed |\n|---|---|---|---|---|");
    for (what, query) in [("first query", &plain), ("first query, one filter", &filtered)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..BUILDS {
            ours.push(timed(|| projected(&lines, query)).0);
            theirs.push(timed(|| bare(&rows)).0);
        }
        report(what, ours, theirs, 3.0);
    }

    let (database, mut projection) = (bare(&rows), projected(&lines, &plain));
    let mut statement = database.prepare(PAGE).expect("a statement");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut query = plain.clone();
    for _ in 0..PAGES {
        let (time, page) = timed(|| projection.page(&query).expect("a page"));
        ours.push(time);
        let after = query.after().map(|sha| sha.to_string()).unwrap_or_default();
        let (time, bytes) = timed(|| {
            let mut rows = statement.query(params![after, 101]).expect("rows");
            let mut bytes = 0;
            while let Some(row) = rows.next().expect("a row") {
                for column in 0..6 {
                    bytes += row.get_ref(column).and_then(|cell| Ok(cell.as_str()?.len())).expect("text");
                }
            }
            bytes
        });
        black_box(bytes);
        theirs.push(time);
        query = match page.rows.last() {
            Some(last) if page.more => query.continued(last.sha.parse().expect("a digest")),
            _ => plain.clone(),
        };
    }
    report("a later page of 100", ours, theirs, 2.0);
}
