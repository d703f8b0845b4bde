//! See the library.

fn main() -> daybook_runner::Exit {
    daybook_merge::run(std::env::args_os())
}
