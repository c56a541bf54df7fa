//! The answer where nothing tells how many threads there are.
#![forbid(unsafe_code)]

/// Whether this thread is surely the only one.
#[inline(always)]
pub fn is_alone() -> bool {
    false
}

/// Does nothing: this system does not tell.
pub fn find_out() {}
