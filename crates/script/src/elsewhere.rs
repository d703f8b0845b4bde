//! Systems without a sandbox that Daybook knows: nothing is started.

use std::ffi::OsStr;
use std::process::ExitCode;

use crate::order::{Ended, Order};
use crate::{Fault, Launcher, Limits};

pub(crate) fn run(_: &Launcher, _: &Order, _: &[u8], _: &Limits) -> Result<Ended, Fault> {
    Err(Fault::SandboxUnavailable)
}

pub(crate) fn launch(_: Option<&OsStr>) -> ExitCode {
    ExitCode::FAILURE
}
