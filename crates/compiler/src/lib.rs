//! Workflow source to checked configuration.
