//! Scripts, friendly and hostile, in the real sandbox, on every Node that is to be tested.

mod answers;
mod document;
mod hostile;
mod selection;
mod start;
mod support;
mod wall;
