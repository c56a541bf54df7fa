//! Backtrace capture in firmware, whose errors have no backtrace, and in kernel libraries, whose
//! errors the loaded library creates: nothing is captured.
#![forbid(unsafe_code)]

use super::super::{Error, Site};

impl Error {
    /// Does nothing: this build captures no backtrace.
    #[inline(always)]
    pub(crate) fn complete_backtrace(&mut self) {}

    /// Does nothing: this build stores no site.
    #[inline(always)]
    pub(in crate::error) fn set_site(&self, _: Site) {}

    /// Returns `None`: this build stores no site.
    #[inline(always)]
    pub(in crate::error) fn site(&self) -> Option<Site> {
        None
    }
}
