//! See the library.

fn main() -> daybook_runner::Exit {
    daybook_persist::run(std::env::args_os())
}
