//! Files as they were examined: what is said of a file is said of the bytes under its digest.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use daybook_core::{Digest, Hasher};
use daybook_runner::files;

/// The digests of everything that was examined, by name.
#[derive(Debug, Default)]
pub(crate) struct Examined(BTreeMap<String, Digest>);

impl Examined {
    /// Reads a file whole, up to `bound` bytes, and notes its digest; `None` where it is missing, larger, or no file.
    pub(crate) fn read(&mut self, path: &Path, name: &str, bound: u64) -> Option<Vec<u8>> {
        let content = files::read(path, bound).ok().filter(|content| !content.more)?;
        self.0.insert(name.to_owned(), Digest::of(&content.bytes));
        Some(content.bytes)
    }

    /// Hands a file to `look` as a stream, and notes the digest of all its bytes, read or not.
    pub(crate) fn stream<T>(
        &mut self,
        path: &Path,
        name: &str,
        look: impl FnOnce(&mut dyn Read) -> T,
    ) -> io::Result<T> {
        let mut file =
            Hashing { inner: io::BufReader::new(files::open(path).map_err(io::Error::other)?), hasher: Hasher::new() };
        let result = look(&mut file);
        io::copy(&mut file, &mut io::sink())?;
        self.0.insert(name.to_owned(), file.hasher.finish());
        Ok(result)
    }

    /// The pairs `NAME=sha256:…`, separated by spaces: what later jobs take as `--expect`.
    pub(crate) fn expectations(&self) -> String {
        self.0.iter().map(|(name, digest)| format!("{name}={digest}")).collect::<Vec<_>>().join(" ")
    }

    /// Each name with its digest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.0.iter().map(|(name, digest)| (name.as_str(), digest))
    }
}

struct Hashing<R> {
    inner: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
