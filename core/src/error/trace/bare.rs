//! Errors without backtraces: those of firmware, and of kernel libraries, whose errors the loaded library makes.
#![forbid(unsafe_code)]

use super::super::{Error, Site};

impl Error {
    /// Does nothing.
    #[inline(always)]
    pub(crate) fn complete_backtrace(&mut self) {}

    /// Does nothing either.
    #[inline(always)]
    pub(in crate::error) fn set_site(&self, _: Site) {}

    /// None.
    #[inline(always)]
    pub(in crate::error) fn site(&self) -> Option<Site> {
        None
    }
}
