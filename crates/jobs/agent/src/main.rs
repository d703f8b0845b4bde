//! See the library.

fn main() -> daybook_runner::Exit {
    daybook_agent::run(std::env::args_os())
}
