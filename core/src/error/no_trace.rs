//! Builds that know no backtraces: kernel libraries, whose errors the loaded library makes, and boards.
#![forbid(unsafe_code)]

use super::Error;

impl Error {
    /// Does nothing.
    #[inline(always)]
    pub(crate) fn complete_backtrace(&self) {}
}
