//! The library's critical sections, by direct interrupt masking.

use super::interrupts::{mask, restore};

struct Sections;

critical_section::set_impl!(Sections);

// SAFETY: with interrupts masked on one core, nothing else runs; sections nest, since each restores
// the state that it found.
unsafe impl critical_section::Impl for Sections {
    unsafe fn acquire() -> usize {
        mask()
    }

    unsafe fn release(state: usize) {
        // SAFETY: `state` came from the matching `acquire`.
        unsafe { restore(state) };
    }
}
