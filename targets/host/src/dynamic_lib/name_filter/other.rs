//! Disabled name filter, for systems where the layout of the dynamic linker's tables is unknown:
//! `dlsym` performs every lookup.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

/// Uninhabited type of filters: there are none on this system.
pub(in super::super) enum NameFilter {}

impl NameFilter {
    /// Returns `None`: there is no filter.
    ///
    /// # Safety
    /// There are no requirements.
    pub(in super::super) unsafe fn of(_handle: NonNull<c_void>) -> Option<NameFilter> {
        None
    }

    /// Unreachable, since there is no filter.
    pub(in super::super) fn lacks(&self, _name: &CStr) -> bool {
        match *self {}
    }
}
