//! Each count in a 32-bit atomic of its own, where there are no wider ones.
//!
//! The halves cannot be read together, which matters to [`Counts::is_unique`] only: between its two loads another
//! thread could make a weak reference, drop its strong one, upgrade and drop the weak one. New weak references are
//! therefore made under the crate's lock, which `is_unique` takes as well. The weak half is read first. When it says
//! that there is no weak reference, none can appear while the lock is held, so nobody can upgrade; when the strong
//! half then says one, that one is the caller's.
#![forbid(unsafe_code)]

use super::Release;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::critical;

/// The word of an object, its low half first in memory on little-endian cores.
#[repr(transparent)]
pub struct Counts(pub(super) [AtomicU32; 2]);

const STRONG: usize = if cfg!(target_endian = "little") { 0 } else { 1 };
const WEAK: usize = 1 - STRONG;

impl Counts {
    #[inline]
    pub fn retain(&self) {
        // Relaxed: the caller has the object already, so nothing needs to be seen.
        self.0[STRONG].fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub fn retain_masked(&self) {
        // Tests run this on threads of a host, which count outside of critical sections, too.
        if !cfg!(target_os = "none") {
            return self.retain();
        }
        self.0[STRONG].store(self.0[STRONG].load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    #[inline]
    pub fn release_relaxed(&self, half: usize) -> u32 {
        self.0[half ^ STRONG].fetch_sub(1, Ordering::Relaxed).wrapping_sub(1)
    }

    #[inline]
    pub fn release(&self) -> Release {
        if self.0[STRONG].fetch_sub(1, Ordering::Release) != 1 {
            return Release::Alive;
        }
        // No strong reference comes back from here on. Acquire pairs with the Release of owners before; a load in
        // place of a fence, since thread sanitizers understand it.
        let _ = self.0[STRONG].load(Ordering::Acquire);
        // One: only the reference that the strong ones held, and nobody is left to make another.
        if self.0[WEAK].load(Ordering::Acquire) == 1 { Release::Both } else { Release::StrongOnly }
    }

    #[inline]
    pub fn try_release_shared(&self) -> bool {
        false
    }

    #[inline]
    pub fn release_contended(&self, _alone: bool) -> Release {
        self.release()
    }

    #[inline]
    pub fn retain_weak(&self) {
        critical(|| self.0[WEAK].fetch_add(1, Ordering::Relaxed));
    }

    #[inline]
    pub fn release_weak(&self) -> bool {
        if self.0[WEAK].fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        let _ = self.0[WEAK].load(Ordering::Acquire);
        true
    }

    #[inline]
    pub fn try_upgrade(&self) -> bool {
        let mut seen = self.0[STRONG].load(Ordering::Relaxed);
        while seen != 0 {
            let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
            match self.0[STRONG].compare_exchange_weak(seen, seen.wrapping_add(1), acquire, relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    #[inline]
    pub fn is_unique(&self) -> bool {
        // Shared objects, the ones that callers copy anyway, need no lock.
        self.0[STRONG].load(Ordering::Relaxed) == 1 && critical(|| self.is_unique_locked())
    }

    fn is_unique_locked(&self) -> bool {
        self.0[WEAK].load(Ordering::Acquire) == 1 && self.0[STRONG].load(Ordering::Acquire) == 1
    }

    #[inline]
    pub fn strong_count(&self) -> u32 {
        self.0[STRONG].load(Ordering::Relaxed)
    }

    #[inline]
    pub fn weak_count(&self) -> u32 {
        self.0[WEAK].load(Ordering::Relaxed)
    }
}
