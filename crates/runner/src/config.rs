//! The compiled configuration as a binary receives it (FORMATS §9).

use std::io::Read;
use std::path::PathBuf;

use daybook_core::config::{Config, ConfigFault, MAX_CONFIG_BYTES};

/// Where the configuration comes from; flatten it into the binary's own arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConfigArgs {
    /// File with the compiled configuration; without it, its text is taken from the variable `DAYBOOK_CONFIG`
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Why there is no configuration. No message names a path.
#[derive(Debug)]
pub enum ConfigError {
    /// Neither the option nor the variable is there.
    Missing,
    /// The file cannot be read.
    Unreadable(std::io::Error),
    /// What was read is refused.
    Fault(ConfigFault),
}

impl ConfigError {
    /// The code of the diagnostic.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "config-missing",
            Self::Unreadable(_) => "config-unreadable",
            Self::Fault(_) => "config-invalid",
        }
    }
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => formatter.write_str("no configuration: give --config FILE or set DAYBOOK_CONFIG"),
            Self::Unreadable(_) => formatter.write_str("the configuration file cannot be read"),
            Self::Fault(fault) => fault.fmt(formatter),
        }
    }
}

impl std::error::Error for ConfigError {}

impl ConfigArgs {
    /// Reads and checks the configuration; the option wins over the variable.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] says what is missing or refused.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let text = match (&self.config, std::env::var_os("DAYBOOK_CONFIG").filter(|text| !text.is_empty())) {
            (Some(path), _) => {
                let mut text = Vec::new();
                // One byte over the bound is enough for the parser to refuse it.
                let bound = MAX_CONFIG_BYTES as u64 + 1;
                let file = std::fs::File::open(path).map_err(ConfigError::Unreadable)?;
                file.take(bound).read_to_end(&mut text).map_err(ConfigError::Unreadable)?;
                text
            }
            (None, Some(text)) => text.into_encoded_bytes(),
            (None, None) => return Err(ConfigError::Missing),
        };
        Config::parse(&text).map_err(ConfigError::Fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_file_is_told_without_its_path() {
        let args = ConfigArgs { config: Some(PathBuf::from("/no/such/secret-place")) };
        let error = args.load().unwrap_err();
        assert_eq!(error.code(), "config-unreadable");
        assert!(!error.to_string().contains("secret-place"));
    }

    #[test]
    fn a_file_over_the_bound_is_refused_without_reading_it_whole() {
        let args = ConfigArgs { config: Some(PathBuf::from("/dev/zero")) };
        assert!(matches!(args.load(), Err(ConfigError::Fault(ConfigFault::TooLarge { .. }))));
    }
}
