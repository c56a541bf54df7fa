//! Non-atomic counts, changed in a critical section, for cores without compare-and-swap.
//!
//! C clients on such a core change the word with non-atomic instructions. They must mask
//! interrupts, too, if an interrupt handler uses the same object.
#![forbid(unsafe_code)]

use super::Release;
use crate::platform::sync::critical;
use core::cell::Cell;

/// Count word of an object: strong and weak count, laid out as the halves of a 64-bit word.
#[repr(C)]
pub struct Counts {
    #[cfg(target_endian = "little")]
    strong: Cell<u32>,
    weak: Cell<u32>,
    #[cfg(target_endian = "big")]
    strong: Cell<u32>,
}

impl Counts {
    #[inline]
    pub fn retain(&self) {
        critical(|| add(&self.strong, 1));
    }

    #[inline]
    pub fn retain_masked(&self) {
        add(&self.strong, 1);
    }

    #[inline]
    pub fn release_relaxed(&self, half: usize) -> u32 {
        let half = if half == 0 { &self.strong } else { &self.weak };
        critical(|| add(half, u32::MAX))
    }

    #[inline]
    pub fn release(&self) -> Release {
        critical(|| match (add(&self.strong, u32::MAX), self.weak.get()) {
            (0, 1) => Release::Both,
            (0, _) => Release::StrongOnly,
            _ => Release::Alive,
        })
    }

    #[inline]
    pub fn try_release_shared(&self) -> bool {
        false
    }

    #[inline]
    pub fn release_contended(&self, _single_threaded: bool) -> Release {
        self.release()
    }

    #[inline]
    pub fn retain_weak(&self) {
        critical(|| add(&self.weak, 1));
    }

    #[inline]
    pub fn release_weak(&self) -> bool {
        critical(|| add(&self.weak, u32::MAX)) == 0
    }

    #[inline]
    pub fn try_upgrade(&self) -> bool {
        critical(|| self.strong.get() != 0 && add(&self.strong, 1) != 0)
    }

    #[inline]
    pub fn is_unique(&self) -> bool {
        critical(|| self.strong.get() == 1 && self.weak.get() == 1)
    }

    #[inline]
    pub fn strong_count(&self) -> u32 {
        critical(|| self.strong.get())
    }

    #[inline]
    pub fn weak_count(&self) -> u32 {
        critical(|| self.weak.get())
    }
}

/// Adds `difference` with wrap-around and returns the new count; adding `u32::MAX` subtracts one.
fn add(count: &Cell<u32>, difference: u32) -> u32 {
    count.set(count.get().wrapping_add(difference));
    count.get()
}
