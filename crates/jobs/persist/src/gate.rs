//! What has to hold before anything that was staged is looked at: a verdict, that these are the bytes it is about, and
//! a baseline that belongs to them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};

use daybook_branch::Oid;
use daybook_core::baseline::{self, Baseline, MemoryBaseline};
use daybook_core::config::Config;
use daybook_core::{Digest, Hasher};
use daybook_runner::{Report, Stop, pairs};

use crate::args::Args;

/// The name under which detection examined the baseline.
const BASELINE: &str = "baseline.json";

/// A run that may be persisted.
#[derive(Debug)]
pub(crate) struct Gate {
    baseline: Baseline,
    bases: BTreeMap<String, Option<Oid>>,
    staged: PathBuf,
    detection: daybook_runner::Gate,
}

impl Gate {
    /// Checks the verdict, the baseline and the bases. No staged memory is opened yet.
    pub(crate) fn open(args: &Args, config: &Config, report: &mut Report) -> Result<Self, Stop> {
        let detection = args.gate.open(config.detection(), report)?;
        let bases = bases(&args.base)?;
        let baseline = read_baseline(&args.baseline, &detection)?;
        for memory in config.memories() {
            let id = memory.id.as_str();
            let known = baseline.memory(id);
            let known = known.filter(|known| known.branch == memory.branch.as_str()).ok_or_else(|| {
                Stop::refused("baseline-mismatch", format!("the baseline does not know memory {id} with its branch"))
            })?;
            let base =
                bases.get(id).ok_or_else(|| Stop::usage("base-missing", format!("no --base for memory {id}")))?;
            if base.map(|base| base.to_string()).unwrap_or_default() != known.base {
                let message = format!("memory {id} was restored from another commit than its baseline says");
                return Err(Stop::refused("base-mismatch", message));
            }
        }
        Ok(Self { baseline, bases, staged: args.staged.clone(), detection })
    }

    /// The state of a memory when it was restored.
    pub(crate) fn baseline(&self, memory: &str) -> Option<&MemoryBaseline> {
        self.baseline.memory(memory)
    }

    /// The commit that a memory was restored from.
    pub(crate) fn base(&self, memory: &str) -> Option<Oid> {
        self.bases.get(memory).copied().flatten()
    }

    /// Opens the tar of a memory, after its bytes were found to be those that detection examined. `None` where nothing
    /// was staged and nothing was examined.
    pub(crate) fn tar(&self, memory: &str) -> Result<Option<File>, Stop> {
        let name = format!("{memory}.tar");
        let unreadable = |_| Stop::io("staged-unreadable", format!("{name} cannot be read"));
        let mut file = match File::open(self.staged.join(&name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match self.detection.expected(&name) {
                    None => Ok(None),
                    Some(_) => Err(Stop::refused("expect-mismatch", format!("{name} was examined and is not here"))),
                };
            }
            Err(error) => return Err(unreadable(error)),
        };
        let digest = digest_of(&mut file).map_err(unreadable)?;
        self.detection.check(&name, digest)?;
        file.rewind().map_err(unreadable)?;
        Ok(Some(file))
    }
}

fn bases(values: &[String]) -> Result<BTreeMap<String, Option<Oid>>, Stop> {
    let invalid =
        || Stop::usage("base-invalid", "--base wants ID=OID with a full object id, or ID= for an absent branch");
    let mut bases = BTreeMap::new();
    for pair in pairs(values) {
        let (id, text) = pair.ok_or_else(invalid)?;
        let base = if text.is_empty() { None } else { Some(text.parse::<Oid>().map_err(|_| invalid())?) };
        if bases.insert(id.to_owned(), base).is_some_and(|before| before != base) {
            return Err(invalid());
        }
    }
    Ok(bases)
}

fn read_baseline(path: &Path, detection: &daybook_runner::Gate) -> Result<Baseline, Stop> {
    let mut text = Vec::new();
    let bound = baseline::MAX_BYTES as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(bound).read_to_end(&mut text));
    read.map_err(|_| Stop::refused("baseline-missing", "there is no baseline; restore has to run first"))?;
    detection.check(BASELINE, Digest::of(&text))?;
    Baseline::parse(&text).map_err(|fault| Stop::refused("baseline-invalid", fault.to_string()))
}

fn digest_of(file: &mut File) -> io::Result<Digest> {
    let mut hasher = Hasher::new();
    let mut chunk = vec![0_u8; 256 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.finish()),
            got => hasher.update(&chunk[..got]),
        }
    }
}
