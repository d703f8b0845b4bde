//! Files that a source names.

/// Reads files beside a source, for schemas and scripts.
pub trait Files {
    /// The text of a file, its name relative to the folder of the source.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, for people.
    fn read(&self, name: &str) -> Result<String, String>;
}

/// No file can be read.
#[derive(Debug, Clone, Copy)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<String, String> {
        Err("no files are read here".to_owned())
    }
}
