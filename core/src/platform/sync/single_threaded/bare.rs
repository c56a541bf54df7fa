//! Detection of single-threaded processes on systems without a flag for it: every process counts as
//! multi-threaded.
#![forbid(unsafe_code)]

/// Returns `false`: the number of threads is unknown.
#[inline(always)]
pub fn is_single_threaded() -> bool {
    false
}

/// Does nothing: this system has no flag.
pub fn find_thread_flag() {}
