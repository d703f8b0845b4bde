//! The job as a process of its own, on files that an honest run, or a hostile one, left.

mod dispatch;
mod handle;
mod property;
mod refuse;
mod support;
mod tls;
