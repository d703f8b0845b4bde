//! Conventions of a GitHub runner: inputs, outputs, summary, annotations, exit codes.
