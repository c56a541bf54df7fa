//! The critical sections of the library.

#[cfg(not(feature = "minimal"))]
use super::hooks::{FerritePlatformLock as lock, FerritePlatformUnlock as unlock};
#[cfg(feature = "minimal")]
use super::interrupts::{mask as lock, restore as unlock};

struct Sections;

critical_section::set_impl!(Sections);

// SAFETY: what the hooks promise is what this trait asks for: a section keeps everybody else out, and may lie within another.
unsafe impl critical_section::Impl for Sections {
    unsafe fn acquire() -> usize {
        lock()
    }

    unsafe fn release(state: usize) {
        // SAFETY: the caller passes what the matching `acquire` gave.
        unsafe { unlock(state) };
    }
}
