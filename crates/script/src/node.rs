//! Which Node runs, and with which options.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use crate::Fault;

/// The oldest major version: the first with the permission model.
pub const OLDEST: u32 = 20;

/// A version of Node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeVersion {
    major: u32,
    minor: u32,
    patch: u32,
}

/// Options of every version. The permission model is the second layer, behind what the kernel refuses.
const ALWAYS: [&str; 5] = [
    "--no-addons",
    "--no-warnings",
    "--input-type=commonjs",
    // Node's default file of OpenSSL cannot be read in the sandbox, and that would be fatal.
    "--openssl-config=/dev/null",
    // One thread for the compiler and the collector, so that little of the memory goes to stacks.
    "--v8-pool-size=1",
];

/// An option of some versions: from the first, up to but not including the second.
struct Since((u32, u32), (u32, u32), &'static str);

const BY_VERSION: [Since; 5] = [
    Since((20, 0), (22, 13), "--experimental-permission"),
    Since((22, 13), (23, 0), "--permission"),
    Since((23, 0), (23, 5), "--experimental-permission"),
    Since((23, 5), (u32::MAX, 0), "--permission"),
    // This module writes files past the permission model.
    Since((22, 5), (u32::MAX, 0), "--no-experimental-sqlite"),
];

/// From this version on, V8 maps a range for code at its start that counts as memory and stays empty.
const MAPS_CODE_RANGE: (u32, u32) = (23, 0);
const CODE_RANGE_BYTES: u64 = 512 * 1024 * 1024;

impl NodeVersion {
    /// Reads what `node --version` prints.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim_end().strip_prefix('v')?.splitn(3, '.');
        let mut number = || parts.next()?.parse().ok();
        Some(Self { major: number()?, minor: number()?, patch: number()? })
    }

    pub(crate) const fn is_supported(self) -> bool {
        self.major >= OLDEST
    }

    /// The options that this version is started with, besides those that a run adds.
    pub(crate) fn options(self) -> impl Iterator<Item = &'static str> {
        let at = (self.major, self.minor);
        let has = move |since: &Since| since.0 <= at && at < since.1;
        ALWAYS.into_iter().chain(BY_VERSION.into_iter().filter(has).map(|since| since.2))
    }

    /// What this version maps at its start and leaves empty, in bytes.
    pub(crate) fn reserved_bytes(self) -> u64 {
        if (self.major, self.minor) >= MAPS_CODE_RANGE { CODE_RANGE_BYTES } else { 0 }
    }
}

impl fmt::Display for NodeVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Finds the Node binary: the one that was named, or the first on the PATH.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf, Fault> {
    let found = match named {
        Some(path) => Some(path.to_owned()),
        None => on_path(&env::var_os("PATH").unwrap_or_default()),
    };
    let binary = found.and_then(|path| path.canonicalize().ok()).ok_or(Fault::NodeMissing)?;
    if is_program(&binary) { Ok(binary) } else { Err(Fault::NodeMissing) }
}

/// Relative entries of the PATH are left out: they would be looked up in a folder that somebody else may write.
fn on_path(path: &OsStr) -> Option<PathBuf> {
    let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join("node")).find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    let is_executable = |metadata: &fs::Metadata| {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            metadata.permissions().mode() & 0o111 != 0
        }
        #[cfg(not(unix))]
        {
            metadata.is_file()
        }
    };
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Vec<&'static str> {
        NodeVersion::parse(text).unwrap().options().skip(ALWAYS.len()).collect()
    }

    #[test]
    fn each_version_gets_the_options_that_it_has() {
        let sqlite = "--no-experimental-sqlite";
        assert_eq!(options("v20.20.2\n"), ["--experimental-permission"]);
        assert_eq!(options("v22.4.0"), ["--experimental-permission"]);
        assert_eq!(options("v22.12.0"), ["--experimental-permission", sqlite]);
        assert_eq!(options("v22.13.0"), ["--permission", sqlite]);
        assert_eq!(options("v23.4.9"), ["--experimental-permission", sqlite]);
        assert_eq!(options("v24.0.0"), ["--permission", sqlite]);
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in ["", "20.1.1", "v20", "v20.1", "v20.1.x", "v20.1.1-pre", "v-1.0.0", "v1.1.1.1"] {
            assert_eq!(NodeVersion::parse(text), None, "{text:?}");
        }
        assert!(!NodeVersion::parse("v19.9.9").unwrap().is_supported());
        assert!(NodeVersion::parse("v20.0.0").unwrap().is_supported());
    }
}
