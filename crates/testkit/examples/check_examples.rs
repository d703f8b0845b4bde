//! Holds each example of the page of diagnostics to what programs said while the tests ran:
//! `DAYBOOK_SAID=FOLDER cargo test --workspace`, then `cargo run -p daybook-testkit --example check_examples FOLDER`.

use std::path::PathBuf;
use std::process::ExitCode;

use daybook_testkit::codes::{self, NOT_PROVOKED, PAGE};
use daybook_testkit::{said, vectors};

fn main() -> ExitCode {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("the folder with what was said"));
    let said = said::read(&folder).expect("what was said");
    let page = std::fs::read_to_string(vectors::repository().join(PAGE)).expect("the page");
    let excused = NOT_PROVOKED.map(|(code, _)| code);
    let (mut shown, mut wrong) = (0, 0);
    for code in excused.iter().filter(|code| said.contains_key(**code)) {
        wrong += 1;
        println!("{code}: a program said this, so that it needs no excuse");
    }
    for code in codes::in_page(&page).into_iter().filter(|code| !excused.contains(code)) {
        let example = codes::example(&page, code).unwrap_or_default();
        let messages = said.get(code).cloned().unwrap_or_default();
        if said::shows(example, &messages) {
            shown += 1;
            continue;
        }
        wrong += 1;
        println!("{code}: no program said this while the tests ran: {example}");
        for message in messages.iter().take(3) {
            println!("    it said: {message}");
        }
    }
    println!("{shown} examples of {PAGE} are what programs said, {wrong} are not, {} are excused", excused.len());
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
