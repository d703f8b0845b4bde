//! What is configured of the ledger that is shown.

use daybook_core::config::{Config, LedgerConfig};
use daybook_runner::{ConfigArgs, Exit};
use daybook_view::status::Configured;

use crate::args::{Limits, Target};
use crate::target::{Refusal, failed};

/// The limits of a compiled configuration, or the defaults.
pub(crate) fn configured(args: &Limits, target: &Target) -> Result<Configured, Refusal> {
    if args.config.is_none() {
        return Ok(Configured::default());
    }
    let config = ConfigArgs { config: args.config.clone() };
    let config = config.load().map_err(|error| failed(Exit::Usage, error.code(), &error.to_string()))?;
    let ledger = chosen(&config, args.ledger.as_deref(), target.branch.as_deref()).ok_or_else(|| {
        failed(Exit::Usage, "ledger-unknown", "the configuration has no such ledger, or several: give --ledger")
    })?;
    Ok(Configured {
        limits: ledger.limits,
        compaction: ledger.compaction.clone(),
        memory: config.memory_of(ledger).cloned(),
    })
}

/// The ledger with this name, the one on this branch, or the only one.
fn chosen<'c>(config: &'c Config, name: Option<&str>, branch: Option<&str>) -> Option<&'c LedgerConfig> {
    if let Some(name) = name {
        return config.ledger(name);
    }
    let on_branch =
        |ledger: &&LedgerConfig| config.memory_of(ledger).is_some_and(|memory| Some(memory.branch.as_str()) == branch);
    match config.ledgers() {
        [only] => Some(only),
        several => several.iter().find(on_branch),
    }
}
