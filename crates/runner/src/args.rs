//! Arguments that every binary takes, and one way to parse a command line.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;

use clap::Parser;
use clap::error::ErrorKind;

use crate::{Exit, Format, Report};

/// Options that every binary has; flatten it into the binary's own arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CommonArgs {
    /// Form of the report on standard output [default: github inside Actions, human elsewhere]
    #[arg(long, value_enum, env = "DAYBOOK_FORMAT", global = true)]
    pub format: Option<Format>,

    /// When to colour
    #[arg(long, value_enum, default_value = "auto", env = "DAYBOOK_COLOR", global = true)]
    pub color: Color,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl CommonArgs {
    /// The form to print in.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(Format::by_environment)
    }

    /// Whether standard output is coloured: `--color`, then `NO_COLOR`, then the terminal.
    #[must_use]
    pub fn coloured(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stdout().is_terminal()
            }
        }
    }
}

/// Parses a command line; `args` starts with the program's name, as `std::env::args_os` gives it.
///
/// # Errors
///
/// The exit that the process must end with. Help and version are printed on standard output and end with [`Exit::Ok`];
/// everything else ends with [`Exit::Usage`], told on standard error, and as one JSON document on standard output
/// where `--format json` was among the arguments.
pub fn parse_args<A: Parser>(args: impl IntoIterator<Item = OsString>) -> Result<A, Exit> {
    let args: Vec<OsString> = args.into_iter().collect();
    A::try_parse_from(&args).map_err(|error| {
        // A closed terminal is no reason to change the exit code.
        let _ = error.print();
        if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
            return Exit::Ok;
        }
        if asks_for_json(&args) {
            let message = error.to_string();
            let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let mut report = Report::new(Exit::Usage);
            report.error("usage", first);
            return report.emit_as(Format::Json);
        }
        Exit::Usage
    })
}

fn asks_for_json(args: &[OsString]) -> bool {
    let pairs = args.iter().zip(args.iter().skip(1));
    args.iter().any(|arg| arg == "--format=json")
        || pairs.into_iter().any(|(name, value)| name == "--format" && value == "json")
        || std::env::var_os("DAYBOOK_FORMAT").as_deref() == Some(OsStr::new("json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    #[command(name = "probe", version)]
    struct Probe {
        #[arg(long)]
        config: String,
        #[command(flatten)]
        common: CommonArgs,
    }

    fn parse(args: &[&str]) -> Result<Probe, Exit> {
        parse_args(args.iter().map(OsString::from))
    }

    #[test]
    fn help_and_version_are_successes_and_mistakes_are_usage() {
        assert_eq!(parse(&["probe", "--help"]).unwrap_err(), Exit::Ok);
        assert_eq!(parse(&["probe", "--version"]).unwrap_err(), Exit::Ok);
        assert_eq!(parse(&["probe"]).unwrap_err(), Exit::Usage);
        assert_eq!(parse(&["probe", "--config", "f", "--nonsense"]).unwrap_err(), Exit::Usage);
        assert_eq!(parse(&["probe", "--config", "f", "--format", "xml"]).unwrap_err(), Exit::Usage);
    }

    #[test]
    fn the_format_is_taken_from_the_command_line() {
        let probe = parse(&["probe", "--config", "f", "--format", "json"]).unwrap();
        assert_eq!(probe.common.format(), Format::Json);
        assert_eq!(probe.config, "f");
        assert!(asks_for_json(&["probe".into(), "--format".into(), "json".into()]));
        assert!(!asks_for_json(&["probe".into(), "json".into(), "--format".into()]));
    }
}
