//! The second use: which segments should be compacted? (§4.2)

use daybook_core::ShardId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::Frame;
use crate::{Fault, Limits, Ran, Sandbox, Script};

/// A segment, as a selection script is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SegmentFacts {
    /// Its id.
    pub id: ShardId,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many records it holds.
    pub records: u64,
}

#[derive(Serialize)]
struct Input<'a> {
    segments: &'a [SegmentFacts],
    options: &'a Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Selection {
    sources: Vec<String>,
}

impl Sandbox {
    /// Asks a script which segments to compact. It sees no file at all. What it names is a proposal, a list of texts that
    /// the caller has still to check: the script may name what is not there, and may name it twice.
    // DB-4.2-05
    pub fn select(
        &self,
        script: &Script,
        limits: &Limits,
        segments: &[SegmentFacts],
        options: &Value,
    ) -> Ran<Vec<String>> {
        let ran = self.run(script, limits, None, "select", &Input { segments, options });
        let answer = ran.answer.and_then(|frame| match frame {
            Frame::Selection(value) => Selection::deserialize(value).map_err(|_| Fault::BadAnswer),
            _ => Err(Fault::BadAnswer),
        });
        Ran { answer: answer.map(|selection| selection.sources), output: ran.output, took: ran.took }
    }
}
