//! Three versions of one text, merged by libgit2.

use git2::{Buf, MergeFileInput, MergeFileOptions, merge_file};

/// libgit2 could not merge.
#[derive(Debug, thiserror::Error)]
#[error("the texts could not be merged: {0}")]
pub struct MergeFault(#[from] git2::Error);

/// Merges what two sides made of one text, line by line. `None` where both changed the same lines, or where one of the
/// three is no text.
///
/// # Errors
/// [`MergeFault`] where libgit2 itself fails.
pub fn merge_texts(base: &[u8], one: &[u8], other: &[u8]) -> Result<Option<Vec<u8>>, MergeFault> {
    if [base, one, other].iter().any(|text| text.contains(&0)) {
        return Ok(None);
    }
    // The binding sets libgit2 up before most calls, but not before this one.
    drop(Buf::new());
    let (mut ancestor, mut ours, mut theirs) = (MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new());
    ancestor.content(base);
    ours.content(one);
    theirs.content(other);
    let merged = merge_file(&ancestor, &ours, &theirs, Some(&mut MergeFileOptions::new()))?;
    Ok(merged.is_automergeable().then(|| merged.content().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_other_lines_merge_and_of_the_same_do_not() {
        let merged = |base: &str, one: &str, other: &str| {
            merge_texts(base.as_bytes(), one.as_bytes(), other.as_bytes())
                .unwrap()
                .map(|text| String::from_utf8(text).unwrap())
        };
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(merged(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").as_deref(), Some("A\nb\nc\nd\nE\n"));
        assert_eq!(merged(base, "A\nb\nc\nd\ne\n", "X\nb\nc\nd\ne\n"), None);
        assert_eq!(merged("", "one\n", "two\n"), None);
        assert_eq!(merged(base, "", "a\nb\nc\nd\nE\n"), None);
        assert_eq!(merged("a\0", "a\0b", "a\0"), None);
    }
}
