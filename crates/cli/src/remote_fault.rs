//! How a remote that gave no answer is told to a person.

use daybook_branch::RemoteFault;
use daybook_runner::Exit;

/// The exit for a fault, by who can do something about it.
pub(crate) fn exit_of(fault: &RemoteFault) -> Exit {
    fault.kind().exit()
}

/// The fault with git's own words in one line; the person who runs this command owns the machine that it is about.
pub(crate) fn told(fault: &RemoteFault) -> String {
    let text = fault.private();
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
