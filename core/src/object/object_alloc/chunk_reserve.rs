//! A reserve of free chunks for objects created later.
//!
//! It prefers chunks at high addresses: C libraries return the top of their heap to the system when
//! it is free, and would have to request it again for the next document.

use core::ptr::{self, NonNull};

use crate::platform::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A fixed number of slots for free chunks of one size.
pub(super) struct ChunkReserve {
    waiting: [AtomicPtr<u8>; SLOTS],
    /// Index of the slot to try next, modulo [`SLOTS`].
    next: AtomicUsize,
}

/// Number of slots.
pub(super) const SLOTS: usize = 8;

impl ChunkReserve {
    /// Creates an empty reserve from null pointers and a zero.
    pub(super) const fn new(waiting: [AtomicPtr<u8>; SLOTS], next: AtomicUsize) -> Self {
        Self { waiting, next }
    }

    /// Takes a chunk from the next slot. Returns `None` if that slot is empty, even if another slot
    /// has a chunk.
    pub(super) fn take(&self) -> Option<NonNull<u8>> {
        let place = self.next.fetch_sub(1, Ordering::Relaxed).wrapping_sub(1);
        self.exchange(place, ptr::null_mut())
    }

    /// Stores a chunk in the next slot. If the slot is occupied, keeps the chunk at the higher
    /// address and returns the other.
    pub(super) fn put(&self, chunk: NonNull<u8>) -> Option<NonNull<u8>> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let other = self.exchange(place, chunk.as_ptr())?;
        if other < chunk { Some(other) } else { self.exchange(place, other.as_ptr()) }
    }

    /// Atomically exchanges the chunk in a slot, so that each chunk has one owner.
    fn exchange(&self, place: usize, chunk: *mut u8) -> Option<NonNull<u8>> {
        NonNull::new(self.waiting.get(place % SLOTS)?.swap(chunk, Ordering::AcqRel))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn empty() -> ChunkReserve {
        ChunkReserve::new([const { AtomicPtr::new(ptr::null_mut()) }; SLOTS], AtomicUsize::new(0))
    }

    #[test]
    fn the_highest_ones_wait() {
        let reserve = empty();
        let mut blocks = [0u8; 3 * SLOTS];
        let start = NonNull::from(&mut blocks).cast::<u8>();
        let place_of = |chunk: NonNull<u8>| chunk.addr().get() - start.addr().get();
        // SAFETY: each pointer is within the array.
        let chunk = |place: usize| unsafe { start.add(place) };
        // Ascending addresses replace all earlier chunks; descending ones are all returned.
        let upwards: Vec<_> =
            (SLOTS..3 * SLOTS).filter_map(|place| reserve.put(chunk(place))).collect();
        assert!(upwards.into_iter().map(place_of).eq(SLOTS..2 * SLOTS));
        let downwards: Vec<_> =
            (0..SLOTS).rev().filter_map(|place| reserve.put(chunk(place))).collect();
        assert!(downwards.into_iter().map(place_of).eq((0..SLOTS).rev()));
        let mut left: Vec<_> =
            (0..2 * SLOTS).filter_map(|_| reserve.take()).map(place_of).collect();
        left.sort_unstable();
        assert!(left.into_iter().eq(2 * SLOTS..3 * SLOTS));
    }

    #[test]
    fn nobody_shares_a_chunk() {
        let reserve = &empty();
        let mut blocks = [const { AtomicUsize::new(0) }; 2 * SLOTS];
        for block in &mut blocks {
            let chunk = NonNull::from(block).cast();
            assert!(reserve.put(chunk).is_none_or(|other| other != chunk));
        }
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..if cfg!(miri) { 50 } else { 5_000 } {
                        let Some(mut chunk) = reserve.take() else { continue };
                        loop {
                            // SAFETY: the chunks of this test are counters, which outlive the
                            // threads.
                            let users = unsafe { chunk.cast::<AtomicUsize>().as_ref() };
                            assert_eq!(users.fetch_add(1, Ordering::Relaxed), 0);
                            users.fetch_sub(1, Ordering::Relaxed);
                            match reserve.put(chunk) {
                                Some(other) => chunk = other,
                                None => break,
                            }
                        }
                    }
                });
            }
        });
    }
}
