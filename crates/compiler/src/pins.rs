//! The pins file: which commits and which release a compiled workflow runs.
//!
//! It is only ever read. What is recorded there wins over what this version of the compiler knows, so that compiling
//! never lowers a pin.

use std::collections::BTreeMap;

use daybook_core::Digest;
use daybook_workflow::PinnedAction;
use serde::Deserialize;

/// Largest pins file, in bytes.
pub const MAX_PINS_BYTES: usize = 256 * 1024;

/// Stands for a commit of Daybook that its user has yet to name.
pub const PLACEHOLDER_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Actions that compiled workflows use themselves.
const KNOWN: [(&str, &str, &str); 3] = [
    (CHECKOUT, "de0fac2e4500dabe0009e67214ff5f5447ce83dd", "v6.0.2"),
    (UPLOAD, "b7c566a772e6b6bfb58ed0dc250532a479d7789f", "v6.0.0"),
    (DOWNLOAD, "37930b1c2abaa49bbe596cd826c3c89aef350131", "v7.0.0"),
];

/// What a server of one's own has: its artifact service takes the third version only, and its runners may be older.
const KNOWN_GHES: [(&str, &str, &str); 3] = [
    (CHECKOUT, "11d5960a326750d5838078e36cf38b85af677262", "v4.4.0"),
    (UPLOAD, "c6a366c94c3e0affe28c06c8df20a878f24da3cf", "v3.2.2"),
    (DOWNLOAD, "a9bc5e6ef2cb54c177f32aa5726adaa15e7e2d59", "v3.1.0"),
];

pub(crate) const CHECKOUT: &str = "actions/checkout";
pub(crate) const UPLOAD: &str = "actions/upload-artifact";
pub(crate) const DOWNLOAD: &str = "actions/download-artifact";

/// Platforms that releases are made for.
pub(crate) const PLATFORMS: [&str; 4] = ["linux-x64", "linux-arm64", "macos-x64", "macos-arm64"];

/// The variable that a platform's digest reaches its step by.
pub(crate) fn digest_variable(platform: &str) -> String {
    format!("DAYBOOK_SHA256_{}", platform.to_ascii_uppercase().replace('-', "_"))
}

/// Where the binaries of a compiled workflow come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tools {
    /// Archives of a release, one for each platform, each bound by its digest.
    Release {
        /// `owner/repository` on the server that the workflow runs on.
        repository: String,
        /// The tag of the release.
        tag: String,
        /// Platform and digest of its archive.
        archives: BTreeMap<String, Digest>,
    },
    /// Built in the run, once, from a commit.
    Source {
        /// `owner/repository` on the server that the workflow runs on.
        repository: String,
        /// The full commit.
        commit: String,
    },
}

/// What is pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pins {
    actions: BTreeMap<String, PinnedAction>,
    tools: Option<Tools>,
}

impl Default for Pins {
    fn default() -> Self {
        Self::knowing(&KNOWN)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    version: u64,
    #[serde(default)]
    server: Server,
    daybook: Option<WireTools>,
    #[serde(default)]
    actions: BTreeMap<String, WireAction>,
}

/// What kind of server the workflows run on.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Server {
    #[default]
    Github,
    /// GitHub Enterprise Server.
    Ghes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireTools {
    repository: String,
    commit: Option<String>,
    tag: Option<String>,
    #[serde(default)]
    archives: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireAction {
    commit: String,
    version: String,
}

impl Pins {
    fn knowing(known: &[(&str, &str, &str)]) -> Self {
        let known = known.iter().filter_map(|(name, commit, version)| PinnedAction::new(name, commit, version).ok());
        Self { actions: known.map(|action| (action.name().to_owned(), action)).collect(), tools: None }
    }

    /// Reads a pins file.
    ///
    /// ```
    /// use daybook_compiler::Pins;
    ///
    /// let text = r#"{"version":1,"daybook":{"repository":"o/daybook","commit":"0123456789abcdef0123456789abcdef01234567"}}"#;
    /// assert!(Pins::parse(text.as_bytes()).is_ok());
    /// assert!(Pins::parse(br#"{"version":1,"actions":{"a/b":{"commit":"main","version":"v1"}}}"#).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong, for people.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        if text.len() > MAX_PINS_BYTES {
            return Err(format!("the pins file has {} bytes; allowed are {MAX_PINS_BYTES}", text.len()));
        }
        let wire: Wire =
            serde_json::from_slice(text).map_err(|fault| format!("the pins file is not valid: {fault}"))?;
        if wire.version != 1 {
            return Err(format!("the pins file has version {}; allowed is 1", wire.version));
        }
        let mut pins = Self::knowing(match wire.server {
            Server::Github => &KNOWN,
            Server::Ghes => &KNOWN_GHES,
        });
        for (name, action) in wire.actions {
            let action = PinnedAction::new(&name, &action.commit, &action.version)
                .map_err(|fault| format!("actions: {fault}"))?;
            pins.actions.insert(name, action);
        }
        pins.tools = wire.daybook.map(tools).transpose()?;
        Ok(pins)
    }

    /// The pin of an action that a source names with a version, such as `actions/setup-node@v6`, or with its commit.
    pub(crate) fn resolve(&self, name: &str, reference: &str) -> Result<&PinnedAction, String> {
        let action = self.actions.get(name).ok_or_else(|| format!("the pins file has no commit for {name}"))?;
        let numbers = reference.trim_start_matches('v').split('.');
        let same = numbers.zip(action.version_numbers()).all(|(text, number)| text.parse() == Ok(number));
        if reference == action.commit() || (reference.starts_with('v') && same) {
            return Ok(action);
        }
        Err(format!("the pins file has {name} at {} ({}), not at {reference}", action.version(), action.commit()))
    }

    pub(crate) fn action(&self, name: &str) -> Option<&PinnedAction> {
        self.actions.get(name)
    }

    /// Whether Daybook itself is pinned at a commit that does not exist, as `daybook init` writes it where it knows none.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        matches!(&self.tools, Some(Tools::Source { commit, .. }) if commit == PLACEHOLDER_COMMIT)
    }

    pub(crate) fn tools(&self) -> Option<&Tools> {
        self.tools.as_ref()
    }
}

fn tools(wire: WireTools) -> Result<Tools, String> {
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    if wire.repository.split('/').count() != 2 || !wire.repository.split('/').all(part) {
        return Err(format!("daybook.repository is {:?}; allowed is owner/repository", wire.repository));
    }
    match (wire.tag, wire.commit) {
        (Some(tag), None) if part(&tag) => {
            let mut archives = BTreeMap::new();
            for (platform, digest) in wire.archives {
                if !PLATFORMS.contains(&platform.as_str()) {
                    return Err(format!("daybook.archives has {platform:?}; allowed are {}", PLATFORMS.join(", ")));
                }
                let digest = digest.parse().map_err(|_| format!("daybook.archives.{platform} is no digest"))?;
                archives.insert(platform, digest);
            }
            if archives.is_empty() {
                return Err("daybook.archives is empty; a release is bound by the digests of its archives".to_owned());
            }
            Ok(Tools::Release { repository: wire.repository, tag, archives })
        }
        (None, Some(commit)) if wire.archives.is_empty() => {
            PinnedAction::new(&wire.repository, &commit, "v0").map_err(|fault| format!("daybook.commit: {fault}"))?;
            Ok(Tools::Source { repository: wire.repository, commit })
        }
        _ => Err("daybook needs either a tag with archives or a commit".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn what_is_recorded_wins() {
        let text =
            format!(r#"{{"version":1,"actions":{{"actions/checkout":{{"commit":"{COMMIT}","version":"v9.1.0"}}}}}}"#);
        let pins = Pins::parse(text.as_bytes()).unwrap();
        assert_eq!(pins.action(CHECKOUT).unwrap().version(), "v9.1.0");
        assert!(pins.resolve(CHECKOUT, "v9").is_ok() && pins.resolve(CHECKOUT, COMMIT).is_ok());
        assert!(pins.resolve(CHECKOUT, "v9.2").is_err() && pins.resolve(CHECKOUT, "main").is_err());
        assert!(pins.resolve("a/b", "v1").is_err());
        assert_eq!(Pins::default().actions.len(), KNOWN.len());
        let ghes = Pins::parse(br#"{"version":1,"server":"ghes"}"#).unwrap();
        assert_eq!(ghes.action(UPLOAD).unwrap().version_numbers()[0], 3);
        assert!(Pins::parse(br#"{"version":1,"server":"gitlab"}"#).is_err());
    }

    #[test]
    fn tools_are_bound_by_digests_or_a_commit() {
        let tools = |daybook: &str| Pins::parse(format!(r#"{{"version":1,"daybook":{daybook}}}"#).as_bytes());
        let digest = format!("sha256:{}", "a".repeat(64));
        assert!(tools(&format!(r#"{{"repository":"o/d","tag":"v1","archives":{{"linux-x64":"{digest}"}}}}"#)).is_ok());
        for wrong in [
            r#"{"repository":"o/d"}"#.to_owned(),
            r#"{"repository":"o/d","tag":"v1"}"#.to_owned(),
            r#"{"repository":"o/d","commit":"main"}"#.to_owned(),
            format!(r#"{{"repository":"o/../d","commit":"{COMMIT}"}}"#),
            format!(r#"{{"repository":"o/d","tag":"v1","archives":{{"windows":"{digest}"}}}}"#),
            r#"{"repository":"o/d","tag":"v1","archives":{"linux-x64":"abc"}}"#.to_owned(),
            format!(r#"{{"repository":"o/d","tag":"v1","commit":"{COMMIT}"}}"#),
        ] {
            assert!(tools(&wrong).is_err(), "{wrong}");
        }
    }
}
