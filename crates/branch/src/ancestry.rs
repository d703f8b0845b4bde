//! Is one commit behind another? History is fetched only when this is asked, and only as deep as needed.

use std::collections::HashSet;

use crate::fault::RemoteFault;
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
        while !self.reaches(head, base) {
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

    /// Walks the history that is here; a commit that is not here ends it.
    fn reaches(&self, head: Oid, base: Oid) -> bool {
        let (mut seen, mut next) = (HashSet::from([head.raw()]), vec![head.raw()]);
        while let Some(id) = next.pop() {
            // The parent of a shallow commit is named and not here: what is named only is not reached yet.
            let Ok(commit) = self.repository().find_commit(id) else { continue };
            if id == base.raw() {
                return true;
            }
            next.extend(commit.parent_ids().filter(|parent| seen.insert(*parent)));
        }
        false
    }
}
