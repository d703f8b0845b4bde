//! `daybook explain`: what the code of a diagnostic means, and what to do.
//!
//! The words are those of `docs/diagnostics.md`, which a test holds to the codes in the sources.

use daybook_compiler::did_you_mean;
use daybook_runner::{CommonArgs, Exit, Format, MAX_TEXT, Report, Severity, plain};
use serde_json::json;

use crate::args::Explain;
use crate::shown::print;

const PAGE: &str = include_str!("../../../docs/diagnostics.md");

/// What stands between an example and the advice.
const ADVICE: &str = "What to do: ";

/// The section of one code.
struct Section<'p> {
    code: &'p str,
    /// The heading under which it stands.
    group: &'p str,
    example: &'p str,
    meaning: String,
    advice: String,
}

pub(crate) fn run(args: &Explain, common: &CommonArgs) -> Exit {
    let sections = sections(PAGE);
    let Some(asked) = args.code.as_deref().map(code_in) else { return list(&sections, common) };
    let Some(section) = sections.iter().find(|section| section.code.eq_ignore_ascii_case(asked)) else {
        return unknown(asked, &sections, common);
    };
    if common.format() == Format::Json {
        let mut report = Report::new(Exit::Ok);
        report.member("code", section.code).member("group", section.group).member("example", section.example);
        report.member("meaning", section.meaning.clone()).member("advice", section.advice.clone());
        return report.emit(common);
    }
    let Section { code, example, meaning, advice, .. } = section;
    print(&format!("{code}\n\n  {}\n\n{meaning}\n\n{ADVICE}{advice}\n", example.replace('\n', "\n  ")), false)
}

/// Takes the code out of a pasted line, such as `error[shard-tampered]: …` or `warning  log-missing: …`.
fn code_in(text: &str) -> &str {
    if let Some((code, _)) = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
        return code.trim();
    }
    let before = text.split(':').next().unwrap_or_default();
    before.split_whitespace().next_back().unwrap_or(text)
}

fn list(sections: &[Section<'_>], common: &CommonArgs) -> Exit {
    if common.format() == Format::Json {
        let codes = sections.iter().map(|section| json!({"code": section.code, "group": section.group}));
        let mut report = Report::new(Exit::Ok);
        report.count("codes", sections.len() as u64).member("codes", codes.collect::<Vec<_>>());
        return report.emit(common);
    }
    let mut text = String::new();
    let mut group = "";
    for section in sections {
        if section.group != group {
            let gap = if group.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}\n", section.group));
            group = section.group;
        }
        text.push_str(&format!("  {}\n", section.code));
    }
    print(&text, false)
}

fn unknown(asked: &str, sections: &[Section<'_>], common: &CommonArgs) -> Exit {
    let mut report = Report::new(Exit::Usage);
    let message = format!("no diagnostic is called {:?}", plain(asked, MAX_TEXT));
    let hint = did_you_mean(asked, sections.iter().map(|section| section.code));
    let hint = hint.unwrap_or_else(|| "daybook explain lists all codes".to_owned());
    report.diagnose(Severity::Error, "unknown-code", &message, json!({ "hint": hint }));
    report.emit(common)
}

fn sections(page: &str) -> Vec<Section<'_>> {
    let mut found = Vec::new();
    for part in page.split("\n## ").skip(1) {
        let group = part.lines().next().unwrap_or_default();
        for section in part.split("\n### ").skip(1) {
            let (code, rest) = section.split_once('\n').unwrap_or((section, ""));
            let (example, words) =
                rest.trim_start().trim_start_matches("```text\n").split_once("\n```\n").unwrap_or(("", rest));
            let (meaning, advice) = words.split_once(ADVICE).unwrap_or((words, ""));
            found.push(Section {
                code,
                group,
                example,
                meaning: without_links(meaning),
                advice: without_links(advice),
            });
        }
    }
    found
}

/// Writes `[words](page.md)` as `words (docs/page.md)`.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.trim();
    while let Some((before, words, target, after)) = link(rest) {
        plain.push_str(&format!("{before}{words} (docs/{target})"));
        rest = after;
    }
    plain + rest
}

fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (head, tail) = text.split_once("](")?;
    let (before, words) = head.rsplit_once('[')?;
    let (target, after) = tail.split_once(')')?;
    Some((before, words, target, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_all_its_parts_and_no_markup() {
        let sections = sections(PAGE);
        assert!(sections.len() > 300, "{}", sections.len());
        for section in &sections {
            let parts = [section.group, section.code, section.example, &section.meaning, &section.advice];
            assert!(parts.iter().all(|part| !part.is_empty()), "{}", section.code);
            assert!(!section.meaning.contains("](") && !section.advice.contains("]("), "{}", section.code);
        }
        let purge = sections.iter().find(|section| section.code == "credential").unwrap();
        assert!(purge.advice.contains("purge (docs/purge.md)"), "{}", purge.advice);
    }

    #[test]
    fn a_pasted_line_is_understood() {
        assert_eq!(code_in("error[shard-tampered]: 1 in memory"), "shard-tampered");
        assert_eq!(code_in("  warning  log-missing: the log is missing"), "log-missing");
        assert_eq!(code_in(" shard-tampered "), "shard-tampered");
        assert_eq!(code_in("::"), "::");
    }
}
