//! Builds that know no backtraces: kernel libraries, whose errors the loaded library makes, and boards.
#![forbid(unsafe_code)]

use super::{Error, Site};

impl Error {
    /// Does nothing.
    #[inline(always)]
    pub(crate) fn complete_backtrace(&mut self) {}

    /// Does nothing either.
    #[inline(always)]
    pub(super) fn set_site(&self, _: Site) {}

    /// None.
    #[inline(always)]
    pub(super) fn site(&self) -> Option<Site> {
        None
    }
}
