//! Splits a source into frontmatter and prompt.

use crate::MAX_SOURCE_BYTES;
use crate::problem::{Place, Problem};

/// The two parts of a source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// The YAML between the two `---` lines; its first line is line 2 of the source.
    pub(crate) yaml: &'a str,
    /// Everything after the second `---` line.
    pub(crate) prompt: &'a str,
}

pub(crate) fn split(source: &str) -> Result<Parts<'_>, Problem> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("the source has {} bytes; allowed are {MAX_SOURCE_BYTES}", source.len());
        return Err(Problem::new("source-too-large", Place::START, message));
    }
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut lines = source.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if !is_fence(first) {
        let message = "a workflow source starts with a line ---, then its settings as YAML, then a line ---";
        return Err(Problem::new("no-frontmatter", Place::START, message));
    }
    let start = first.len();
    let mut end = start;
    for line in lines {
        if is_fence(line) {
            return Ok(Parts { yaml: &source[start..end], prompt: &source[end + line.len()..] });
        }
        end += line.len();
    }
    let message = "the frontmatter that starts here has no end";
    let hint = Some("put a line --- after the last setting".to_owned());
    Err(Problem::new("unclosed-frontmatter", Place::START, message).with_hint(hint))
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_come_out_whole() {
        let parts = split("---\na: 1\n---\n# Title\n---\nx").unwrap();
        assert_eq!(parts, Parts { yaml: "a: 1\n", prompt: "# Title\n---\nx" });
        assert_eq!(split("\u{feff}---\r\na: 1\r\n--- \r\nx").unwrap(), Parts { yaml: "a: 1\r\n", prompt: "x" });
        assert_eq!(split("---\n---").unwrap(), Parts { yaml: "", prompt: "" });
    }

    #[test]
    fn a_missing_start_or_end_is_an_error_with_its_line() {
        assert_eq!(split("# Title\n").unwrap_err().code, "no-frontmatter");
        assert_eq!(split("").unwrap_err().code, "no-frontmatter");
        let problem = split("---\na: 1\n\n# Title\n").unwrap_err();
        assert_eq!((problem.code, problem.line), ("unclosed-frontmatter", 1));
        assert_eq!(split(" ---\n---\n").unwrap_err().code, "no-frontmatter");
        assert_eq!(split(&"x".repeat(MAX_SOURCE_BYTES + 1)).unwrap_err().code, "source-too-large");
    }
}
