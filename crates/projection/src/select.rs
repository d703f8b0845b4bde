//! From a query to a statement: its text is made of fixed pieces, every value is a parameter.
//!
//! Rows come in order straight from an index wherever that is possible: from the keys of one path where a filter asks
//! for a single key, else from the keys where few records meet a filter, else from the digests.

use daybook_core::query::Query;
use daybook_core::query::key::{self, Keys};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::paths::Paths;
use crate::row::{Page, Place, Row};
use crate::{ProjectionFault, schema};

/// A filter that no more records meet than this is worth starting from, although what it gives has to be sorted.
const FEW: i64 = 2000;

/// In which order rows come, and from where on.
#[derive(Debug)]
pub(crate) enum Sequence<'a> {
    /// By digest, after the query's cursor.
    BySha,
    /// By time, the last ones.
    Latest,
    /// By time, after a place.
    Since(&'a Place),
}

/// A filter as the tables know it.
struct Test {
    path: i64,
    keys: Keys,
}

/// A statement in the making: text and parameters grow together.
#[derive(Default)]
struct Statement {
    text: String,
    parameters: Vec<Value>,
}

impl Statement {
    fn push(&mut self, text: &str, parameters: impl IntoIterator<Item = Value>) -> &mut Self {
        self.text.push_str(text);
        self.parameters.extend(parameters);
        self
    }

    /// That the key in `column` is one of `keys`.
    fn push_keys(&mut self, column: &str, keys: &Keys) {
        let blob = |key: &Vec<u8>| Value::Blob(key.clone());
        match keys {
            Keys::OneOf(keys) => {
                let marks = vec!["?"; keys.len()].join(", ");
                self.push(&format!(" AND {column} IN ({marks})"), keys.iter().map(blob));
            }
            Keys::Range { from, to } => {
                self.push(&format!(" AND {column} >= ? AND {column} < ?"), [blob(from), blob(to)]);
            }
            Keys::Present | Keys::Absent => {}
        }
    }

    /// That the record `r` passes a test.
    fn push_test(&mut self, test: &Test) {
        let not = if test.keys == Keys::Absent { "NOT " } else { "" };
        let text = format!(" AND {not}EXISTS (SELECT 1 FROM fields AS f WHERE f.path = ? AND f.record = r.number");
        self.push(&text, [test.path.into()]).push_keys("f.key", &test.keys);
        self.push(")", []);
    }
}

/// Runs a query.
pub(crate) fn run(
    database: &Connection,
    paths: &Paths,
    query: &Query,
    sequence: &Sequence<'_>,
) -> Result<Page, ProjectionFault> {
    let tests: Vec<Test> = query
        .filters()
        .iter()
        .map(|filter| Test { path: paths.number(&filter.path), keys: key::meeting(&filter.condition) })
        .collect();
    let mut statement = Statement::default();
    statement.push(&format!("SELECT {} FROM ", Row::COLUMNS), []);
    let start = if matches!(sequence, Sequence::BySha) { starting_test(database, &tests)? } else { None };
    let after = query.after().map(|sha| sha.to_string()).unwrap_or_default();
    let order = match (sequence, start) {
        (Sequence::BySha, Some(start)) => {
            let test = tests.get(start).map(|test| (test.path, &test.keys));
            let (path, keys) = test.unwrap_or((0, &Keys::Absent));
            statement.push(
                "fields AS d INDEXED BY fields_by_key CROSS JOIN records AS r ON r.number = d.record \
                 WHERE d.path = ? AND d.sha > ?",
                [path.into(), after.into()],
            );
            statement.push_keys("d.key", keys);
            "d.sha"
        }
        (Sequence::BySha, None) => {
            if query.kind().is_some() {
                database.execute_batch(schema::BY_TYPE)?;
            }
            statement.push("records AS r WHERE r.sha > ?", [after.into()]);
            "r.sha"
        }
        (Sequence::Latest, _) => {
            statement.push("records AS r WHERE 1", []);
            "r.batch DESC, r.timestamp DESC, r.sha DESC"
        }
        (Sequence::Since(place), _) => {
            let place = [place.batch.into(), place.timestamp.clone().into(), place.sha.clone().into()];
            statement.push("records AS r WHERE (r.batch, r.timestamp, r.sha) > (?, ?, ?)", place);
            "r.batch, r.timestamp, r.sha"
        }
    };
    if let Some(kind) = query.kind() {
        statement.push(" AND r.type = ?", [kind.to_owned().into()]);
    }
    for (_, test) in tests.iter().enumerate().filter(|(number, _)| Some(*number) != start) {
        statement.push_test(test);
    }
    // One more than a page, to know whether there is more.
    let limit = i64::try_from(query.limit()).unwrap_or(i64::MAX);
    statement.push(&format!(" ORDER BY {order} LIMIT ?"), [limit.saturating_add(1).into()]);

    let mut prepared = database.prepare_cached(&statement.text)?;
    let rows = prepared.query_map(params_from_iter(statement.parameters), Row::read)?;
    let mut rows = rows.collect::<rusqlite::Result<Vec<Row>>>()?;
    let more = rows.len() > query.limit();
    rows.truncate(query.limit());
    if matches!(sequence, Sequence::Latest) {
        rows.reverse();
    }
    Ok(Page { rows, more })
}

/// The test whose keys the statement starts from; `None` where it starts from the records themselves.
fn starting_test(database: &Connection, tests: &[Test]) -> Result<Option<usize>, ProjectionFault> {
    if let Some(single) = tests.iter().position(|test| matches!(&test.keys, Keys::OneOf(keys) if keys.len() == 1)) {
        return Ok(Some(single));
    }
    for (number, test) in tests.iter().enumerate() {
        if matches!(test.keys, Keys::OneOf(_) | Keys::Range { .. }) && meets_few(database, test)? {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

fn meets_few(database: &Connection, test: &Test) -> Result<bool, ProjectionFault> {
    let mut statement = Statement::default();
    statement.push("SELECT count(*) FROM (SELECT 1 FROM fields AS d WHERE d.path = ?", [test.path.into()]);
    statement.push_keys("d.key", &test.keys);
    statement.push(" LIMIT ?)", [(FEW + 1).into()]);
    let mut prepared = database.prepare_cached(&statement.text)?;
    let count: i64 = prepared.query_row(params_from_iter(statement.parameters), |row| row.get(0))?;
    Ok(count <= FEW)
}
