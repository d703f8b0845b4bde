//! The memory branch, write half: build a commit, push it under an expected head.
