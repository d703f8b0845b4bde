//! Pipes that close, pagers, widths: on a real terminal where it takes one.

use std::process::Command;

use crate::support::{DAYBOOK, reference};

/// Runs a command line on a terminal of 24 rows and 72 columns.
fn on_terminal(line: &str, settings: &[(&str, &str)]) -> String {
    let sized = format!("stty rows 24 cols 72; {line}");
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &sized, "/dev/null"]).stdin(std::process::Stdio::null());
    command
        .env_remove("PAGER")
        .env_remove("DAYBOOK_PAGER")
        .env_remove("LESS")
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR");
    command.env_remove("GITHUB_ACTIONS").env("TERM", "xterm").env("SHELL", "/bin/sh").envs(settings.iter().copied());
    let output = command.output().expect("the program `script` of util-linux is needed");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")
}

#[test]
fn a_reader_that_leaves_is_no_fault() {
    let reference = reference();
    for command in [
        "log",
        "log --limit 0 --oneline",
        "query",
        "verify",
        "status",
        "explain",
        "export -o -",
        "log --limit 0 --format json",
    ] {
        let target = if command == "explain" { "" } else { &reference };
        let script = format!("{{ '{DAYBOOK}' {command} {target}; echo \"exit $?\" >&2; }} | head -n 1 | wc -l");
        // A shell that lets its children see a closed pipe as an error, not as a signal.
        let output = Command::new("bash").args(["-c", &script]).env_remove("GITHUB_ACTIONS").output().expect("bash");
        let (out, talk) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!((out.trim(), talk.trim()), ("1", "exit 0"), "{command}");
    }
}

#[test]
fn long_text_goes_through_the_pager_and_short_text_does_not() {
    let (reference, pager) = (reference(), "sed 's/^/paged: /'");
    let log = |rest: &str, settings: &[(&str, &str)]| {
        on_terminal(&format!("'{DAYBOOK}' log {reference} --oneline {rest}"), settings)
    };
    let long = log("--limit 50", &[("PAGER", pager)]);
    assert!(long.lines().count() == 51 && long.lines().all(|line| line.starts_with("paged: ")), "{long}");
    for (rest, settings) in [
        ("--limit 5", vec![("PAGER", pager)]),
        ("--limit 50 --no-pager", vec![("PAGER", pager)]),
        ("--limit 50", vec![("PAGER", pager), ("DAYBOOK_PAGER", "")]),
        ("--limit 50", vec![("PAGER", "/no/such/pager 2>/dev/null")]),
    ] {
        let text = log(rest, &settings);
        assert!(!text.contains("paged: ") && text.matches("ldg-").count() >= 5, "{rest} {settings:?}: {text}");
    }
    let own = log("--limit 50", &[("PAGER", "false"), ("DAYBOOK_PAGER", pager)]);
    assert!(own.contains("paged: "));
    let json = log("--limit 50 --format json", &[("PAGER", pager)]);
    assert!(!json.contains("paged: "));
}

#[test]
fn lines_fit_the_terminal_and_colours_follow_it() {
    let command = format!("'{DAYBOOK}' log {} --oneline --limit 9 --no-pager", reference());
    let text = on_terminal(&command, &[("NO_COLOR", "1")]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'));
    assert!(on_terminal(&command, &[]).contains("\u{1b}[33mldg-"));
    let wide = on_terminal(&command, &[("NO_COLOR", "1"), ("COLUMNS", "160")]);
    assert!(wide.lines().take(9).all(|line| line.chars().count() > 120), "{wide}");
}
