//! The memory remote of a dry run: an empty repository, or a copy of the one that was named.

use std::path::Path;

use daybook_branch::git::GitCommand;
use daybook_branch::{Remote, RemoteFault, Resolved, reference};
use daybook_core::config::Config;

/// Makes the remote at `target`. What `memory` names is read once and never written.
pub(crate) fn prepare(memory: Option<&str>, config: &Config, target: &Path) -> Result<Remote, RemoteFault> {
    let copy = Remote::new(&target.to_string_lossy(), None)?;
    let Some(memory) = memory else {
        let init = GitCommand::new("init").option("--bare").option("--quiet").option("--template=");
        succeed(init.option("--initial-branch=main").operand(target).run())?;
        return Ok(copy);
    };
    let original = Remote::new(memory, None)?;
    // Without --no-local the copy would share files with the original.
    let clone =
        original.command("clone")?.option("--bare").option("--quiet").option("--template=").option("--no-local");
    succeed(clone.operand(original.url()).operand(target).run())?;
    for branch in config.memories().iter().map(|memory| &memory.branch) {
        if copy.resolve(branch)? == Resolved::Absent {
            // In a clone the branch may be there as the one of its origin only.
            let from = format!("refs/remotes/origin/{branch}:{}", reference(branch));
            let fetch = original.command("fetch")?.within(target).option("--quiet").option("--no-tags");
            let answer = fetch.operand(original.url()).operand(from).run()?;
            if !answer.success() && !answer.stderr.contains("couldn't find remote ref") {
                return Err(RemoteFault::from_stderr(&answer.stderr));
            }
        }
    }
    Ok(copy)
}

fn succeed(answer: Result<daybook_branch::git::Answer, daybook_branch::git::GitFault>) -> Result<(), RemoteFault> {
    let answer = answer?;
    if answer.success() { Ok(()) } else { Err(RemoteFault::from_stderr(&answer.stderr)) }
}
