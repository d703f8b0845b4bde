//! See the library.

fn main() -> daybook_runner::Exit {
    daybook_maintenance_apply::run(std::env::args_os())
}
