//! No filter: where the tables of the dynamic linker are unknown, it is asked for every name.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

/// A filter that there is none of.
pub(super) enum NameFilter {}

impl NameFilter {
    /// None.
    ///
    /// # Safety
    /// Any handle will do.
    pub(super) unsafe fn of(_handle: NonNull<c_void>) -> Option<NameFilter> {
        None
    }

    /// Whether `dlsym` surely does not find the name.
    pub(super) fn lacks(&self, _name: &CStr) -> bool {
        match *self {}
    }
}
