//! The job as a process of its own against real bare repositories.

mod hostile;
mod land;
mod support;
