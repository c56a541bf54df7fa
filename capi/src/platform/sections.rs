//! The library's critical sections, by the platform hooks.

use super::hooks::{FerritePlatformLock as lock, FerritePlatformUnlock as unlock};

struct Sections;

critical_section::set_impl!(Sections);

// SAFETY: the hooks promise what this trait requires: a section excludes all other execution, and
// sections may nest.
unsafe impl critical_section::Impl for Sections {
    unsafe fn acquire() -> usize {
        lock()
    }

    unsafe fn release(state: usize) {
        // SAFETY: `state` came from the matching `acquire`.
        unsafe { unlock(state) };
    }
}
