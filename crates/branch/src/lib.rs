//! The memory branch, read half: fetch, resolve, tree and blobs.
