//! The first use: may this tree be pushed? (§4.1)

use std::path::Path;

use serde::Serialize;

use crate::protocol::Frame;
use crate::tree::Tree;
use crate::{Fault, Foreign, Limits, Ran, Sandbox, Script};

/// What a validation script is told about the run, besides the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunFacts {
    /// The id of the memory.
    pub memory: String,
    /// The branch that the tree is to land on.
    pub branch: String,
    /// The id of the run, as it is told to people.
    pub id: String,
}

#[derive(Serialize)]
struct Input<'a> {
    root: &'a Path,
    files: &'a [crate::tree::TreeFile],
    run: &'a RunFacts,
}

impl Sandbox {
    /// Asks a script about a candidate tree: a folder of plain files that nobody else writes. Its answer is consent only
    /// where it is `Ok`; every fault is a refusal, [`Fault::Refused`] the one that the script itself decided.
    pub fn validate(&self, script: &Script, limits: &Limits, tree: &Path, run: &RunFacts) -> Ran<()> {
        let asked = tree.canonicalize().map_err(|_| Fault::TreeUnusable);
        let asked = asked.and_then(|root| Tree::read(&root).map(|before| (root, before)));
        let (root, before) = match asked {
            Ok(asked) => asked,
            Err(fault) => return Ran { answer: Err(fault), output: Foreign::default(), took: Default::default() },
        };
        let input = Input { root: &root, files: &before.files, run };
        let ran = self.run(script, limits, Some(&root), "validate", &input);
        let answer = ran.answer.and_then(|frame| match frame {
            Frame::Verdict(verdict) if verdict == "accept" => Ok(()),
            Frame::Verdict(verdict) if verdict == "refuse" => Err(Fault::Refused),
            _ => Err(Fault::BadAnswer),
        });
        // Whatever the script said, it said it about the tree that it was shown.
        let answer = match Tree::read(&root) {
            Ok(after) if after == before => answer,
            _ => Err(Fault::TreeChanged),
        };
        Ran { answer, output: ran.output, took: ran.took }
    }
}
