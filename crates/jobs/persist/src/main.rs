//! See the library.

fn main() {}
