//! Is one commit behind another? History is fetched only when this is asked, and only as deep as needed.

use crate::fault::RemoteFault;
use crate::git::GitCommand;
use crate::oid::Oid;
use crate::snapshot::Snapshot;

/// How history is deepened, one step after the other, until the answer is known.
const STEPS: &[&str] = &["--deepen=64", "--deepen=1024", "--unshallow"];

impl Snapshot {
    /// Whether `base` is the head or one of its ancestors. An absent branch has none.
    ///
    /// # Errors
    /// [`RemoteFault`] when history could not be fetched: that is not a "no".
    pub fn is_ancestor(&self, base: Oid) -> Result<bool, RemoteFault> {
        let Some(head) = self.head() else { return Ok(false) };
        if base.format() != head.format() {
            return Ok(false);
        }
        let mut steps = STEPS.iter();
        while !self.reaches(head, base)? {
            // Where the history is complete, a commit that is not found is not there.
            if !self.folder().join("shallow").exists() {
                return Ok(false);
            }
            match steps.next() {
                Some(step) => self.download(&[step])?,
                None => return Ok(false),
            };
        }
        Ok(true)
    }

    fn reaches(&self, head: Oid, base: Oid) -> Result<bool, RemoteFault> {
        if base == head {
            return Ok(true);
        }
        let command = GitCommand::new("merge-base").within(self.folder()).option("--is-ancestor");
        let answer = command.operand(base.to_string()).operand(head.to_string()).run()?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            // 128 is also git's answer for a commit that this repository does not have yet.
            Some(128) if self.repository().find_commit(base.raw()).is_err() => Ok(false),
            _ => Err(RemoteFault::from_stderr(&answer.stderr)),
        }
    }
}
