//! The restore step as its own process against real remotes.

mod machine;
mod support;
mod trees;
mod web;
