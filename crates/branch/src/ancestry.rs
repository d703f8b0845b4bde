//! Is one commit behind another? History is fetched only when this is asked, and only as deep as needed.

use std::collections::HashSet;

use crate::fault::RemoteFault;
use crate::oid::Oid;
use crate::remote::local;
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

    /// The commit of this branch that a person means: a full object id, the beginning of one (four digits or more), or
    /// `HEAD`, `HEAD~N`: the head, or the first parent N steps before it. All of the branch's history is fetched for
    /// it. `None` where there is no such commit, or more than one.
    ///
    /// # Errors
    /// [`RemoteFault`] when history could not be fetched: that is not a "no".
    pub fn find_commit(&self, text: &str) -> Result<Option<Oid>, RemoteFault> {
        let Some(head) = self.head() else { return Ok(None) };
        if text == "HEAD" || text == head.to_string() {
            return Ok(Some(head));
        }
        if self.folder().join("shallow").exists() {
            self.download(&["--unshallow"])?;
        }
        if let Some(steps) = text.strip_prefix("HEAD~").and_then(|steps| steps.parse::<usize>().ok()) {
            return self.back(head, steps);
        }
        let is_prefix =
            (4..=64).contains(&text.len()) && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        if !is_prefix {
            return Ok(None);
        }
        let mut walk = self.repository().revwalk().map_err(local)?;
        walk.push(head.raw()).map_err(local)?;
        let mut found = None;
        for commit in walk {
            let commit = commit.map_err(local)?;
            if commit.to_string().starts_with(text) && found.replace(commit).is_some() {
                return Ok(None);
            }
        }
        Ok(found.map(Oid::from))
    }

    fn back(&self, head: Oid, steps: usize) -> Result<Option<Oid>, RemoteFault> {
        let mut commit = self.repository().find_commit(head.raw()).map_err(local)?;
        for _ in 0..steps {
            if commit.parent_count() == 0 {
                return Ok(None);
            }
            commit = commit.parent(0).map_err(local)?;
        }
        Ok(Some(commit.id().into()))
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
