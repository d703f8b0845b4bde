//! What has to hold before a job acts on what a run left: a verdict, and that these are the bytes it is about (DESIGN
//! §3).

use std::collections::BTreeMap;

use daybook_core::Digest;
use daybook_core::detection::{Detection, Verdict};

use crate::{Report, Stop, plain};

/// Longest part of an argument that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// What detection said; flatten it into the arguments of a job that acts on it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct GateArgs {
    /// What detection decided; without it nothing is done
    #[arg(long, value_name = "V", env = "DAYBOOK_VERDICT")]
    pub verdict: Option<String>,
    /// The digest of a file that detection examined, such as `triage.tar=sha256:…` and `baseline.json=sha256:…`
    #[arg(long, value_name = "NAME=SHA256", env = "DAYBOOK_EXPECT")]
    pub expect: Vec<String>,
}

/// A verdict that lets a run pass, and the digests of the bytes that it is about.
#[derive(Clone, Debug)]
pub struct Gate {
    verdict: Verdict,
    expected: BTreeMap<String, Digest>,
}

impl GateArgs {
    /// Checks the verdict and the spelling of the digests; no file is looked at. A suspicious run passes with a
    /// warning, where the workflow does not refuse such runs.
    ///
    /// # Errors
    ///
    /// [`Exit::Refused`] for a threat, for a suspicious run where those are refused, and for a verdict that is missing or none: not having run is not having passed.
    /// [`Exit::Usage`] for digests that cannot be read.
    pub fn open(&self, detection: &Detection, report: &mut Report) -> Result<Gate, Stop> {
        let verdict = passing(self.verdict.as_deref().unwrap_or_default())?;
        let expected = expectations(&self.expect)?;
        if verdict == Verdict::Suspicious {
            if detection.refuses_suspicious {
                let message = "detection calls this run suspicious, and the workflow refuses such runs";
                return Err(Stop::refused("verdict-suspicious", message));
            }
            report.warning("verdict-suspicious", "detection calls this run suspicious; what is sound is kept");
        }
        report.read(format!("the verdict {}", verdict.name()));
        Ok(Gate { verdict, expected })
    }
}

impl Gate {
    /// The verdict; never [`Verdict::Threat`].
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The digest that detection found for a file; `None` where it examined none of that name.
    #[must_use]
    pub fn expected(&self, name: &str) -> Option<&Digest> {
        self.expected.get(name)
    }

    /// Whether the bytes of a file are those that detection examined.
    ///
    /// # Errors
    ///
    /// [`Exit::Refused`] for other bytes, and for a file that nothing was said of.
    // DB-B-02
    pub fn check(&self, name: &str, found: Digest) -> Result<(), Stop> {
        match self.expected(name) {
            Some(expected) if *expected == found => Ok(()),
            Some(_) => Err(Stop::refused("expect-mismatch", format!("{name} has other bytes than detection examined"))),
            None => {
                let message = format!("{name} is here, but no digest says that it was examined");
                Err(Stop::refused("expect-missing", message))
            }
        }
    }
}

/// The `NAME=VALUE` pairs of a repeated option; one occurrence may hold several, separated by commas or white space.
/// `None` stands for a word without `=`.
pub fn pairs(values: &[String]) -> impl Iterator<Item = Option<(&str, &str)>> {
    let words = values.iter().flat_map(|value| value.split([',', ' ', '\t', '\r', '\n']));
    words.filter(|word| !word.is_empty()).map(|word| word.split_once('='))
}

fn passing(word: &str) -> Result<Verdict, Stop> {
    match Verdict::from_name(word) {
        Some(Verdict::Threat) => Err(Stop::refused("verdict-threat", "detection calls this run a threat")),
        Some(verdict) => Ok(verdict),
        None if word.is_empty() => {
            Err(Stop::refused("verdict-missing", "there is no verdict; detection has to run first"))
        }
        None => {
            let message = format!("{} is no verdict; allowed are clean, suspicious and threat", plain(word, MAX_SHOWN));
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
            return Err(Stop::usage(
                "expect-invalid",
                format!("two digests are expected of {}", plain(name, MAX_SHOWN)),
            ));
        }
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    fn open(verdict: Option<&str>, expect: &[&str]) -> Result<Gate, Stop> {
        let expect = expect.iter().map(|text| (*text).to_owned()).collect();
        GateArgs { verdict: verdict.map(str::to_owned), expect }.open(&Detection::default(), &mut Report::new(Exit::Ok))
    }

    #[test]
    fn only_a_verdict_that_was_said_and_is_no_threat_opens_it() {
        for (verdict, code) in [
            (None, "verdict-missing"),
            (Some(""), "verdict-missing"),
            (Some("threat"), "verdict-threat"),
            (Some("Clean"), "verdict-unknown"),
            (Some("clean "), "verdict-unknown"),
        ] {
            let fault = open(verdict, &[]).unwrap_err();
            assert_eq!((fault.exit, fault.code), (Exit::Refused, code), "{verdict:?}");
        }
        assert_eq!(open(Some("clean"), &[]).unwrap().verdict(), Verdict::Clean);
        let mut report = Report::new(Exit::Ok);
        GateArgs { verdict: Some("suspicious".to_owned()), expect: Vec::new() }
            .open(&Detection::default(), &mut report)
            .unwrap();
        assert_eq!(report.to_json()["diagnostics"][0]["code"], "verdict-suspicious");
    }

    #[test]
    fn bytes_pass_under_their_own_digest_only() {
        let digest = Digest::of(b"x");
        let bare = digest.to_string().trim_start_matches("sha256:").to_owned();
        let gate = open(Some("clean"), &[&format!("a={digest} b={bare}"), ""]).unwrap();
        assert_eq!((gate.check("a", digest), gate.check("b", digest)), (Ok(()), Ok(())));
        assert_eq!(gate.check("a", Digest::of(b"y")).unwrap_err().code, "expect-mismatch");
        assert_eq!(gate.check("c", digest).unwrap_err().code, "expect-missing");
        let other = Digest::of(b"y");
        for wrong in ["a", "a=", "a=sha256:", &format!("a={digest},a={other}"), &format!("a={}", bare.to_uppercase())] {
            let fault = open(Some("clean"), &[wrong]).unwrap_err();
            assert_eq!((fault.exit, fault.code), (Exit::Usage, "expect-invalid"), "{wrong}");
        }
    }
}
