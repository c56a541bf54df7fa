//! Strong and weak count in one 32-bit atomic each, for targets without 64-bit atomics.
//!
//! The halves cannot be read atomically together, which matters only to [`Counts::is_unique`]:
//! between its two loads another thread could make a weak reference, drop its strong one, upgrade
//! and drop the weak one. New weak references are therefore made under the crate's lock, which
//! `is_unique` takes as well. The weak half is read first. If it shows no weak reference, none can
//! appear while the lock is held, so no thread can upgrade; if the strong half then shows one
//! reference, it is the caller's.
#![forbid(unsafe_code)]

use super::Release;
use crate::platform::sync::atomic::{AtomicU32, Ordering};
use crate::platform::sync::critical;

/// Count word of an object: two atomic halves in the memory order of a 64-bit word.
#[repr(transparent)]
pub struct Counts(pub(super) [AtomicU32; 2]);

const STRONG: usize = if cfg!(target_endian = "little") { 0 } else { 1 };
const WEAK: usize = 1 - STRONG;

impl Counts {
    #[inline]
    pub fn retain(&self) {
        // Relaxed: the caller already has a reference, so no other writes need to be visible.
        self.0[STRONG].fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub fn retain_masked(&self) {
        // Tests run this on host threads, which also count outside of critical sections.
        if !cfg!(target_os = "none") {
            return self.retain();
        }
        self.0[STRONG]
            .store(self.0[STRONG].load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
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
        // No strong reference can appear from here on. Acquire pairs with the Release of earlier
        // owners; a load in place of a fence, since thread sanitizers understand it.
        let _ = self.0[STRONG].load(Ordering::Acquire);
        // One: only the weak reference held by the strong ones remains, and no owner is left to
        // make another.
        if self.0[WEAK].load(Ordering::Acquire) == 1 { Release::Both } else { Release::StrongOnly }
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
            match self.0[STRONG].compare_exchange_weak(seen, seen.wrapping_add(1), acquire, relaxed)
            {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    #[inline]
    pub fn is_unique(&self) -> bool {
        // The common case of a shared object, which the caller copies, needs no lock.
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
