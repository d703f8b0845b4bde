//! The people's Daybook command.

fn main() {}
