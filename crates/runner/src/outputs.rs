//! Step outputs: values that later steps and jobs read and that later steps cannot change.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Sets the step output `name`, by the file that `GITHUB_OUTPUT` names. Outside Actions nothing is written, and the
/// answer is `false`.
///
/// # Errors
///
/// The name is not one (`InvalidInput`), or the file cannot be written.
pub fn set(name: &str, value: &str) -> io::Result<bool> {
    let text = heredoc(name, value)?;
    let Some(path) = std::env::var_os("GITHUB_OUTPUT").filter(|path| !path.is_empty()) else {
        return Ok(false);
    };
    std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())?;
    Ok(true)
}

/// Reads a file of step outputs, as a runner does; of several values for one name the last one counts. Lines that set
/// nothing are passed over.
#[must_use]
pub fn parse(text: &str) -> BTreeMap<String, String> {
    let mut outputs = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((name, delimiter)) = line.split_once("<<") {
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != delimiter).collect();
            outputs.insert(name.to_owned(), value.join("\n"));
        } else if let Some((name, value)) = line.split_once('=') {
            outputs.insert(name.to_owned(), value.to_owned());
        }
    }
    outputs
}

/// The text that sets an output: a heredoc whose delimiter does not occur in the value, so that no value can set a
/// second output.
fn heredoc(name: &str, value: &str) -> io::Result<String> {
    let mut bytes = name.bytes();
    let starts_well = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    if !starts_well || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an output name holds letters, digits, _ and -"));
    }
    let mut delimiter = String::from("DAYBOOK_END");
    while value.contains(&delimiter) {
        delimiter.push('_');
    }
    Ok(format!("{name}<<{delimiter}\n{value}\n{delimiter}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_close_its_heredoc() {
        let text = heredoc("verdict", "clean\nDAYBOOK_END\nverdict<<X\nthreat\nX").unwrap();
        let delimiter = text.lines().next().unwrap().strip_prefix("verdict<<").unwrap();
        let closing = text.lines().skip(1).position(|line| line == delimiter).unwrap();
        assert_eq!(closing, text.lines().count() - 2, "the only closing line is the last one");
    }

    #[test]
    fn what_is_set_is_read_back() {
        let values = ["", "one", "two\nlines", "DAYBOOK_END", "x=y<<z"];
        let names = ["a", "b", "c", "d", "e"];
        let text: String = names.iter().zip(values).map(|(name, value)| heredoc(name, value).unwrap()).collect();
        assert_eq!(parse(&text), names.iter().zip(values).map(|(n, v)| (n.to_string(), v.to_owned())).collect());
    }

    #[test]
    fn names_are_checked() {
        assert!(heredoc("base_triage-2", "x").is_ok());
        for name in ["", "2a", "a=b", "a\nb", "a<<b", "ä"] {
            assert!(heredoc(name, "x").is_err(), "{name:?}");
        }
    }
}
