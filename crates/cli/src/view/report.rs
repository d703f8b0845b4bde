//! `daybook report`: everything on one page.

use daybook_runner::{CommonArgs, Exit};

use crate::args::ReportPage;
use crate::shown::Shown;
use crate::target::{Refusal, failed};

pub(crate) fn run(args: &ReportPage, common: &CommonArgs) -> Exit {
    Shown::finish(report(args), common, false)
}

fn report(args: &ReportPage) -> Result<Shown, Refusal> {
    Err(failed(Exit::Usage, "unwritable", &args.html.display().to_string()))
}
