//! The answer where nothing tells how many threads there are.
#![forbid(unsafe_code)]

/// Whether this thread is surely the only one.
#[inline(always)]
pub fn is_alone() -> bool {
    false
}

/// There is nobody to ask.
pub fn find_out() {}
