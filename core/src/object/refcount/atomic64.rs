//! Strong and weak count in one 64-bit atomic.
#![forbid(unsafe_code)]

use core::ptr;

use super::{INITIAL, Release, contended};
use crate::platform::sync::atomic::{AtomicU64, Ordering};
use crate::platform::sync::{is_single_threaded, single_instruction};

const STRONG_ONE: u64 = 1;
const WEAK_ONE: u64 = 1 << 32;
const STRONG_MASK: u64 = WEAK_ONE - 1;

/// Count word of an object.
#[repr(transparent)]
pub struct Counts(pub(super) AtomicU64);

impl Counts {
    #[inline]
    fn add(&self, change: u64) {
        if is_single_threaded() {
            single_instruction::add(&self.0, change);
        } else {
            // Relaxed: the caller already has a reference, so no other writes need to be visible.
            self.0.fetch_add(change, Ordering::Relaxed);
        }
    }

    #[inline]
    pub fn retain(&self) {
        self.add(STRONG_ONE);
    }

    #[inline]
    pub fn retain_masked(&self) {
        self.retain();
    }

    #[inline]
    pub fn release_relaxed(&self, half: usize) -> u32 {
        let shift = 32 * half;
        ((self.0.fetch_sub(1 << shift, Ordering::Relaxed) >> shift) as u32).wrapping_sub(1)
    }

    #[inline]
    pub fn release(&self) -> Release {
        match self.0.load(Ordering::Acquire) {
            INITIAL => self.release_only(),
            _ if is_single_threaded() => self.release_single_threaded(),
            _ => match self.0.fetch_sub(STRONG_ONE, Ordering::Release) {
                before if is_last(before) => self.last(before),
                _ => Release::Alive,
            },
        }
    }

    #[inline]
    pub fn try_release_shared(&self) -> bool {
        let is_last_one = is_last(self.0.load(Ordering::Relaxed));
        if is_last_one || !is_single_threaded() {
            return false;
        }
        // A signal handler may have released the other references meanwhile.
        let was_last = is_last(single_instruction::fetch_add(&self.0, STRONG_ONE.wrapping_neg()));
        if was_last {
            single_instruction::add(&self.0, STRONG_ONE);
        }
        !was_last
    }

    #[inline]
    pub fn release_contended(&self, single_threaded: bool) -> Release {
        let address = ptr::from_ref(self).addr();
        if !single_threaded && contended::is_contended(address) {
            let before = self.0.fetch_sub(STRONG_ONE, Ordering::Release);
            if !is_last(before) {
                return Release::Alive;
            }
            contended::forget(address);
            return self.last(before);
        }
        let seen = self.0.load(Ordering::Acquire);
        if seen == INITIAL {
            return self.release_only();
        }
        if single_threaded {
            return self.release_single_threaded();
        }
        let before = self.0.fetch_sub(STRONG_ONE, Ordering::Release);
        if before != seen {
            contended::remember(address);
        }
        if is_last(before) { self.last(before) } else { Release::Alive }
    }

    /// Releases the only reference after a load has seen that it is the only one, which is how most
    /// objects end. Needs no read-modify-write, since no other owner or signal handler can change
    /// the word between the load and the store. The load's Acquire pairs with the Release of
    /// earlier owners.
    #[inline(always)]
    fn release_only(&self) -> Release {
        self.0.store(WEAK_ONE, Ordering::Relaxed);
        Release::Both
    }

    /// Releases a reference in a single-threaded process. Signal handlers may have changed the word
    /// since it was read.
    #[inline(always)]
    fn release_single_threaded(&self) -> Release {
        let before = single_instruction::fetch_add(&self.0, STRONG_ONE.wrapping_neg());
        if is_last(before) { self.last(before) } else { Release::Alive }
    }

    /// Returns the state of an object after the release of its last strong reference; `before` is
    /// the previous count word.
    #[inline(always)]
    fn last(&self, before: u64) -> Release {
        // A load in place of a fence: as strong here, since it reads from the release sequence of
        // the word, and thread sanitizers understand it.
        let _ = self.0.load(Ordering::Acquire);
        if before == INITIAL { Release::Both } else { Release::StrongOnly }
    }

    #[inline]
    pub fn retain_weak(&self) {
        self.add(WEAK_ONE);
    }

    #[inline]
    pub fn release_weak(&self) -> bool {
        let change = WEAK_ONE.wrapping_neg();
        let before = match is_single_threaded() {
            true => single_instruction::fetch_add(&self.0, change),
            false => self.0.fetch_add(change, Ordering::Release),
        };
        if before != WEAK_ONE {
            return false;
        }
        let _ = self.0.load(Ordering::Acquire);
        true
    }

    #[inline]
    pub fn try_upgrade(&self) -> bool {
        let mut seen = self.0.load(Ordering::Relaxed);
        while seen & STRONG_MASK != 0 {
            let more = seen + STRONG_ONE;
            match self.0.compare_exchange_weak(seen, more, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    #[inline]
    pub fn is_unique(&self) -> bool {
        self.0.load(Ordering::Acquire) == INITIAL
    }

    #[inline]
    pub fn strong_count(&self) -> u32 {
        (self.0.load(Ordering::Relaxed) & STRONG_MASK) as u32
    }

    #[inline]
    pub fn weak_count(&self) -> u32 {
        (self.0.load(Ordering::Relaxed) >> 32) as u32
    }
}

/// Returns `true` if the strong reference subtracted from `before` was the last. Not a method of
/// [`Counts`]: if it was not the last, other owners may have freed the object meanwhile, and even
/// passing a reference to freed memory would be undefined behaviour.
#[inline(always)]
const fn is_last(before: u64) -> bool {
    before & STRONG_MASK == STRONG_ONE
}
