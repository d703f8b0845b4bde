//! Completions and manual pages, made from the command line's own definition.

use std::io;
use std::path::Path;

use clap::CommandFactory as _;
use daybook_runner::{CommonArgs, Exit, Report};

use crate::args::{Args, Completions, Man};
use crate::shown::print;

/// Prints the completions of a shell.
pub(crate) fn completions(args: &Completions) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "daybook", &mut text);
    print(&String::from_utf8_lossy(&text), false)
}

/// Writes one page for the program and one for each of its commands.
pub(crate) fn man(args: &Man, common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Ok);
    match pages(&args.dir) {
        Ok(pages) => report.count("pages", pages).wrote(format!("{pages} pages to {}", args.dir.display())),
        Err(error) => report.set_exit(Exit::Io).error("unwritable", &format!("{}: {error}", args.dir.display())),
    };
    report.emit(common)
}

fn pages(dir: &Path) -> io::Result<u64> {
    std::fs::create_dir_all(dir)?;
    let program = Args::command();
    let mut written = 0;
    let mut write = |command: clap::Command, name: String| -> io::Result<()> {
        let mut text = Vec::new();
        clap_mangen::Man::new(command.display_name(&name)).title(&name).render(&mut text)?;
        std::fs::write(dir.join(format!("{name}.1")), text)?;
        written += 1;
        Ok(())
    };
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        write(command.clone(), format!("daybook-{}", command.get_name()))?;
    }
    write(program.clone(), "daybook".to_owned())?;
    Ok(written)
}
