//! Writes a staged memory.

use std::io::{self, Write};

use daybook_core::MemoryPath;
use tar::{Builder, EntryType, Header};

use super::{FILES, MANIFEST, MAX_REFUSED, Manifest, Refused};

/// Longest path text that a manifest keeps, in characters.
const MAX_SHOWN: usize = 1024;

/// A tar under construction. The same files give the same bytes, whenever and by whomever they are packed.
pub struct Writer<W: Write> {
    tar: Builder<W>,
    memory: String,
    last: Option<MemoryPath>,
    entries: u64,
    bytes: u64,
    refused: Vec<Refused>,
    refused_unnamed: bool,
}

impl<W: Write> Writer<W> {
    /// Starts the tar of one memory.
    pub fn new(out: W, memory: &str) -> Self {
        Self {
            tar: Builder::new(out),
            memory: memory.to_owned(),
            last: None,
            entries: 0,
            bytes: 0,
            refused: Vec::new(),
            refused_unnamed: false,
        }
    }

    /// Adds a file.
    ///
    /// # Errors
    ///
    /// The stream cannot be written, or the path does not come after the one before (`InvalidInput`).
    pub fn add(&mut self, path: &MemoryPath, content: &[u8]) -> io::Result<()> {
        if self.last.as_ref().is_some_and(|last| last >= path) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "files are added in ascending order of their paths",
            ));
        }
        self.append(&format!("{FILES}{path}"), content)?;
        self.entries += 1;
        self.bytes += content.len() as u64;
        self.last = Some(path.clone());
        Ok(())
    }

    /// Notes that a file or folder was not taken along, and why.
    pub fn refuse(&mut self, path: &str, reason: &str) {
        if self.refused.len() < MAX_REFUSED {
            let path = path.chars().take(MAX_SHOWN).collect();
            self.refused.push(Refused { path, reason: reason.to_owned() });
        } else {
            self.refused_unnamed = true;
        }
    }

    /// Ends the tar. `complete` says that every file was either added or refused; a tar that could not name all that
    /// it refused is never complete.
    ///
    /// # Errors
    ///
    /// The stream cannot be written.
    pub fn finish(mut self, complete: bool) -> io::Result<(W, Manifest)> {
        let complete = complete && !self.refused_unnamed;
        self.refused.sort_by(|left, right| left.path.cmp(&right.path));
        let refused = std::mem::take(&mut self.refused);
        let manifest = Manifest::new(&self.memory, complete, self.entries, self.bytes, refused);
        self.append(MANIFEST, &manifest.to_bytes()?)?;
        Ok((self.tar.into_inner()?, manifest))
    }

    fn append(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(content.len() as u64);
        self.tar.append_data(&mut header, name, content)
    }
}
