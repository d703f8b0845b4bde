//! See the library.

fn main() -> daybook_runner::Exit {
    daybook_safe_outputs::run(std::env::args_os())
}
