//! What has to hold before anything that was staged is looked at: a verdict, and that these are the bytes it is about.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};

use daybook_branch::Oid;
use daybook_core::baseline::{self, Baseline, MemoryBaseline};
use daybook_core::config::Config;
use daybook_core::detection::{Detection, Verdict};
use daybook_core::{Digest, Hasher};
use daybook_runner::{Report, plain};

use crate::args::{Args, pairs};
use crate::stop::Stop;

/// The name under which detection examined the baseline.
const BASELINE: &str = "baseline.json";

/// Longest part of an argument that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// A run that may be persisted.
#[derive(Debug)]
pub(crate) struct Gate {
    baseline: Baseline,
    bases: BTreeMap<String, Option<Oid>>,
    staged: PathBuf,
    expected: BTreeMap<String, Digest>,
}

impl Gate {
    /// Checks the verdict, the baseline and the bases. No staged memory is opened yet.
    pub(crate) fn open(args: &Args, config: &Config, report: &mut Report) -> Result<Self, Stop> {
        check_verdict(args.verdict.as_deref().unwrap_or_default(), config.detection(), report)?;
        let expected = expectations(&args.expect)?;
        let bases = bases(&args.base)?;
        let baseline = read_baseline(&args.baseline, &expected)?;
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
        report.read(format!("the verdict {}", args.verdict.as_deref().unwrap_or_default()));
        Ok(Self { baseline, bases, staged: args.staged.clone(), expected })
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
        let expected = self.expected.get(&name);
        let unreadable = |_| Stop::new(daybook_runner::Exit::Io, "staged-unreadable", format!("{name} cannot be read"));
        let mut file = match File::open(self.staged.join(&name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match expected {
                    None => Ok(None),
                    Some(_) => Err(Stop::refused("expect-mismatch", format!("{name} was examined and is not here"))),
                };
            }
            Err(error) => return Err(unreadable(error)),
        };
        let digest = digest_of(&mut file).map_err(unreadable)?;
        expect(&name, expected, digest)?;
        file.rewind().map_err(unreadable)?;
        Ok(Some(file))
    }
}

/// DESIGN §3: not having run is not having passed.
fn check_verdict(verdict: &str, detection: &Detection, report: &mut Report) -> Result<(), Stop> {
    match Verdict::from_name(verdict) {
        Some(Verdict::Clean) => Ok(()),
        Some(Verdict::Suspicious) if detection.refuses_suspicious => Err(Stop::refused(
            "verdict-suspicious",
            "detection calls this run suspicious, and the workflow refuses such",
        )),
        Some(Verdict::Suspicious) => {
            report.warning("verdict-suspicious", "detection calls this run suspicious; what is sound is kept");
            Ok(())
        }
        Some(Verdict::Threat) => Err(Stop::refused("verdict-threat", "detection calls this run a threat")),
        None if verdict.is_empty() => {
            Err(Stop::refused("verdict-missing", "there is no verdict; detection has to run first"))
        }
        None => {
            let shown = plain(verdict, MAX_SHOWN);
            let message = format!("{shown} is no verdict; allowed are clean, suspicious and threat");
            Err(Stop::refused("verdict-unknown", message))
        }
    }
}

fn expectations(values: &[String]) -> Result<BTreeMap<String, Digest>, Stop> {
    let mut expected = BTreeMap::new();
    for pair in pairs(values) {
        let parsed = pair.and_then(|(name, text)| {
            let text = if text.contains(':') { text.to_owned() } else { format!("sha256:{text}") };
            Some((name, Digest::from_text(text.as_bytes())?))
        });
        let Some((name, digest)) = parsed else {
            return Err(Stop::usage("expect-invalid", "--expect wants NAME=SHA256 with 64 lower-case digits"));
        };
        if expected.insert(name.to_owned(), digest).is_some_and(|before| before != digest) {
            let message = format!("two digests are expected of {}", plain(name, MAX_SHOWN));
            return Err(Stop::usage("expect-invalid", message));
        }
    }
    Ok(expected)
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

fn read_baseline(path: &Path, expected: &BTreeMap<String, Digest>) -> Result<Baseline, Stop> {
    let mut text = Vec::new();
    let bound = baseline::MAX_BYTES as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(bound).read_to_end(&mut text));
    read.map_err(|_| Stop::refused("baseline-missing", "there is no baseline; restore has to run first"))?;
    expect(BASELINE, expected.get(BASELINE), Digest::of(&text))?;
    Baseline::parse(&text).map_err(|fault| Stop::refused("baseline-invalid", fault.to_string()))
}

fn expect(name: &str, expected: Option<&Digest>, found: Digest) -> Result<(), Stop> {
    match expected {
        Some(expected) if *expected == found => Ok(()),
        Some(_) => Err(Stop::refused("expect-mismatch", format!("{name} has other bytes than detection examined"))),
        None => {
            Err(Stop::refused("expect-missing", format!("{name} is here, but no digest says that it was examined")))
        }
    }
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
