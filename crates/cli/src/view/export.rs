//! `daybook export`: all records as JSON lines, as a database, or as a table.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use daybook_core::Record;
use daybook_core::shard::Entry;
use daybook_projection::{Projection, ProjectionFault};
use daybook_runner::{CommonArgs, Exit};

use super::output::{beside, replace, unwritable};
use crate::args::{Export, ExportForm};
use crate::shown::{self, Shown};
use crate::target::{Opened, Refusal, Scan, failed};

/// The columns of a table.
const COLUMNS: [&str; 6] = ["sha", "id", "type", "timestamp", "parents", "payload"];

pub(crate) fn run(args: &Export, common: &CommonArgs) -> Exit {
    match export(args) {
        Ok(Some(shown)) => Shown::finish(Ok(shown), common, false),
        Ok(None) => Exit::Ok,
        Err(refusal) => Shown::finish(Err(refusal), common, false),
    }
}

fn export(args: &Export) -> Result<Option<Shown>, Refusal> {
    let opened = Opened::open(&args.target)?;
    let scan = opened.ledger()?;
    let to_stdout = args.output.as_os_str() == "-";
    match args.form {
        ExportForm::Sqlite if to_stdout => {
            return Err(failed(Exit::Usage, "needs-a-file", "a database needs a file: give -o FILE"));
        }
        ExportForm::Sqlite => database(&scan, &args.output)?,
        form if to_stdout => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            return match text(&scan, form, &mut out)?.and_then(|()| out.flush()) {
                Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(unwritable(&args.output, &error)),
                _ => Ok(None),
            };
        }
        form => replace(&args.output, |out| text(&scan, form, out)?.map_err(|error| unwritable(&args.output, &error)))?,
    }
    let mut report = shown::about(&scan.ledger);
    let wrote = format!("{} records to {}", scan.ledger.len(), args.output.display());
    report.wrote(wrote.clone());
    Ok(Some(Shown::new(format!("{wrote}\n"), report)))
}

/// Every record, parents first.
fn each<T>(scan: &Scan<'_, T>, mut write: impl FnMut(&Record) -> io::Result<()>) -> Result<io::Result<()>, Refusal> {
    for sha in scan.ledger.order().map(Entry::sha) {
        if let Err(error) = write(&scan.row(&sha)?.record) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

fn text<T>(scan: &Scan<'_, T>, form: ExportForm, out: &mut impl Write) -> Result<io::Result<()>, Refusal> {
    if form == ExportForm::Csv {
        if let Err(error) = write!(out, "{}\r\n", COLUMNS.join(",")) {
            return Ok(Err(error));
        }
        return each(scan, |record| {
            let parents: Vec<String> = record.parents().iter().map(ToString::to_string).collect();
            let cells = [
                record.sha().to_string(),
                record.id().to_string(),
                record.kind().to_owned(),
                record.timestamp().to_owned(),
                parents.join(" "),
                record.payload_text().to_owned(),
            ];
            write!(out, "{}\r\n", cells.map(|cell| quoted(&cell)).join(","))
        });
    }
    each(scan, |record| {
        out.write_all(record.line())?;
        out.write_all(b"\n")
    })
}

/// A cell of a table (RFC 4180). What a spreadsheet would compute becomes text by an apostrophe.
fn quoted(cell: &str) -> String {
    let apostrophe =
        if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err() { "'" } else { "" };
    format!("\"{apostrophe}{}\"", cell.replace('"', "\"\""))
}

fn database<T>(scan: &Scan<'_, T>, path: &Path) -> Result<(), Refusal> {
    let file = beside(path)?;
    let unusable = |fault: ProjectionFault| failed(Exit::Io, "unwritable", &format!("{}: {fault}", path.display()));
    let mut projection = Projection::in_file(file.path()).map_err(unusable)?;
    let mut batch = projection.batch("ledger").map_err(unusable)?;
    for sha in scan.ledger.order().map(Entry::sha) {
        batch.add(&scan.row(&sha)?.record).map_err(unusable)?;
    }
    batch.finish().map_err(unusable)?;
    projection.finish().map_err(unusable)?;
    file.persist(path).map_err(|error| unwritable(path, &error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text_for_every_reader() {
        for (cell, expected) in [
            ("a,\"b\"\n", "\"a,\"\"b\"\"\n\""),
            ("=1+1", "\"'=1+1\""),
            ("@x", "\"'@x\""),
            ("-1.5", "\"-1.5\""),
            ("-1+cmd", "\"'-1+cmd\""),
            ("{}", "\"{}\""),
        ] {
            assert_eq!(quoted(cell), expected);
        }
    }
}
