//! Strong and weak reference counts: the 64-bit word at the start of an object's header.
//!
//! The low half of the word counts strong references, the high half weak ones; all strong
//! references together hold one weak reference. C and C++ clients change the same word inline, so
//! its layout and meaning belong to the ABI.
//!
//! | File | Chosen for targets with | Counts |
//! |---|---|---|
//! | `atomic64.rs` | 64-bit atomics | one atomic word |
//! | `split32.rs` | 32-bit atomics only | an atomic half each |
//! | `masked.rs` | no compare-and-swap | plain halves, changed with interrupts masked |
//!
//! A half that passes 2^32 - 1 wraps, as upstream's does. It takes 2^32 references that are never
//! released, and checking would cost every [`retain`].
//!
//! # Upstream
//! `Object::IncRef`, `DecRef`, `TryPromoteWeakPtr` and their relatives in `object.h`.

#[cfg(target_has_atomic = "64")]
mod atomic64;
#[cfg(target_has_atomic = "64")]
mod contended;
#[cfg(target_has_atomic = "64")]
use atomic64::Counts;

#[cfg(all(target_has_atomic = "32", not(target_has_atomic = "64")))]
mod split32;
#[cfg(all(target_has_atomic = "32", not(target_has_atomic = "64")))]
use split32::Counts;

#[cfg(not(target_has_atomic = "32"))]
mod masked;
#[cfg(not(target_has_atomic = "32"))]
use masked::Counts;

// All implementations are compiled for the tests, which run one body over all three.
#[cfg(all(test, not(target_has_atomic = "32")))]
compile_error!("the unit tests compare all three implementations and need a host");
#[cfg(all(test, target_has_atomic = "32"))]
mod masked;
#[cfg(all(test, target_has_atomic = "64"))]
mod split32;

mod state;

use crate::abi::TVMFFIObject;

pub use state::{INITIAL, Release};

const _: () = assert!(size_of::<Counts>() == 8 && align_of::<Counts>() <= 8);

/// Borrows the count word of an object.
///
/// # Safety
/// `object` must be the header of an object whose memory is not freed before the end of `'a`.
unsafe fn counts<'a>(object: *mut TVMFFIObject) -> &'a Counts {
    // SAFETY: the word is the header's first field, 8 bytes with the layout of `Counts`; it is only
    // changed atomically (or masked), which `Counts` allows for. Objects are at multiples of 8
    // (ABI).
    unsafe { &*(&raw const (*object).combined_ref_count).cast::<Counts>() }
}

/// Adds a strong reference.
///
/// # Safety
/// `object` must be alive: the caller has a strong reference, or borrows one.
#[inline]
pub unsafe fn retain(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.retain();
}

/// Releases a strong reference. All uses of the object by earlier owners happen before a return
/// that reports its end.
///
/// # Safety
/// The caller transfers a strong reference, and must act on the result as [`Release`] requires.
#[inline]
pub unsafe fn release(object: *mut TVMFFIObject) -> Release {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.release()
}

/// The fast path of [`release`]: releases a strong reference if the process is single-threaded and
/// other strong references remain. Otherwise returns `false` and changes nothing.
///
/// # Safety
/// The caller must own a strong reference.
#[inline]
#[must_use]
pub unsafe fn try_release_shared(object: *mut TVMFFIObject) -> bool {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.try_release_shared()
}

/// Releases a strong reference like [`release`], and stays fast if several threads count the same
/// object concurrently. `single_threaded` is the result of
/// [`is_single_threaded`](crate::platform::sync::is_single_threaded).
///
/// # Safety
/// Same requirements as [`release`].
#[inline]
pub unsafe fn release_contended(object: *mut TVMFFIObject, single_threaded: bool) -> Release {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.release_contended(single_threaded)
}

/// Adds a strong reference in a critical section, for programs on one core.
///
/// # Safety
/// Same requirements as [`retain`].
#[inline]
pub unsafe fn retain_masked(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.retain_masked();
}

/// Releases a strong reference (`half` is 0) or a weak one (`half` is 1). Returns the number of
/// remaining references of that kind. Uses relaxed ordering, for programs on one core whose only
/// concurrency is interrupts.
///
/// # Safety
/// The caller transfers a reference of this kind, and destroys the content, or frees the memory,
/// when none remains.
#[inline]
pub unsafe fn release_relaxed(object: *mut TVMFFIObject, half: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.release_relaxed(half)
}

/// Adds a weak reference.
///
/// # Safety
/// The caller must have a reference of either kind, or borrow one.
#[inline]
pub unsafe fn retain_weak(object: *mut TVMFFIObject) {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.retain_weak();
}

/// Releases a weak reference; returns `true` if it was the last of either kind and the caller must
/// free the memory.
///
/// # Safety
/// The caller transfers a weak reference.
#[inline]
#[must_use]
pub unsafe fn release_weak(object: *mut TVMFFIObject) -> bool {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.release_weak()
}

/// Adds a strong reference unless none remains. Returns `true` if it was added. An object without
/// strong references is never revived.
///
/// # Safety
/// The caller must have a weak reference, or borrow one.
#[inline]
#[must_use]
pub unsafe fn try_upgrade(object: *mut TVMFFIObject) -> bool {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.try_upgrade()
}

/// Returns `true` if the caller's strong reference is the only reference, strong or weak, so that
/// the object may be changed in place. All uses by earlier owners happen before a return of `true`.
///
/// # Safety
/// The caller must have a strong reference.
#[inline]
pub unsafe fn is_unique(object: *mut TVMFFIObject) -> bool {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.is_unique()
}

/// Returns the number of strong references. Other threads may change it at any time.
///
/// # Safety
/// The caller must have a reference of either kind, or borrow one.
#[inline]
pub unsafe fn strong_count(object: *mut TVMFFIObject) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.strong_count()
}

/// Returns the number of weak references; all strong references together count as one. Other
/// threads may change it at any time.
///
/// # Safety
/// The caller must have a reference of either kind, or borrow one.
#[inline]
pub unsafe fn weak_count(object: *mut TVMFFIObject) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { counts(object) }.weak_count()
}

#[cfg(all(test, not(loom)))]
mod limit_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::sync::is_single_threaded;
    use core::cell::UnsafeCell;
    use std::boxed::Box;
    use std::sync::Barrier;
    use std::vec::Vec;

    /// A count word aligned to 8 as in objects, which 32-bit x86 does not guarantee for a `u64`.
    #[repr(align(8))]
    struct Word(UnsafeCell<u64>);

    /// A count word shared by threads.
    struct Block(*mut Word);

    // SAFETY: `Counts` may be used by several threads.
    unsafe impl Sync for Block {}

    impl Block {
        fn new() -> Self {
            Self(Box::into_raw(Box::new(Word(UnsafeCell::new(INITIAL)))))
        }

        /// # Safety
        /// The word must no longer be used.
        unsafe fn free(&self) {
            // SAFETY: it came from `Box`; the caller's promise.
            drop(unsafe { Box::from_raw(self.0) });
        }

        fn word(&self) -> *mut u64 {
            // SAFETY: the word is alive while a reference exists; only its address is taken.
            unsafe { (&raw const (*self.0).0).cast_mut().cast() }
        }
    }

    /// Runs the same tests on each implementation, on a word with the ABI's layout.
    macro_rules! test_counts {
        ($name:ident, $on_threads:ident, $counts:ty) => {
            /// Several threads own references, and the last owner frees the memory: no other may
            /// access it after releasing its own.
            #[test]
            fn $on_threads() {
                // SAFETY: each thread holds a reference until it releases it.
                let counts = |block: &Block| unsafe { &*block.word().cast::<$counts>() };
                let free_if = |block: &Block, is_over: bool| {
                    if is_over {
                        // SAFETY: the last reference is released.
                        unsafe { block.free() };
                    }
                };
                let end = |block: &Block, left: Release| {
                    let is_over = || counts(block).release_weak();
                    free_if(
                        block,
                        left == Release::Both || left == Release::StrongOnly && is_over(),
                    );
                };
                let blocks: Vec<Block> = (0..30).map(|_| Block::new()).collect();
                blocks.iter().for_each(|block| {
                    counts(block).retain();
                    counts(block).retain_weak();
                });
                let together = Barrier::new(3);
                let each = |give_up: fn(&$counts) -> Release| {
                    for block in &blocks {
                        together.wait();
                        end(block, give_up(counts(block)));
                    }
                };
                std::thread::scope(|scope| {
                    scope.spawn(|| each(|counts| counts.release()));
                    scope.spawn(|| each(|counts| counts.release_contended(is_single_threaded())));
                    scope.spawn(|| {
                        for block in &blocks {
                            together.wait();
                            free_if(block, counts(block).release_weak());
                        }
                    });
                });
            }

            #[test]
            fn $name() {
                let Word(word) = &Word(UnsafeCell::new(INITIAL));
                // SAFETY: the word is 8 bytes, aligned, and only used here.
                let counts = unsafe { &*word.get().cast::<$counts>() };
                // SAFETY: no one else uses the word meanwhile.
                let bits = || unsafe { word.get().read() };

                assert!(counts.is_unique());
                counts.retain();
                assert!(counts.try_release_shared() || counts.release() == Release::Alive);
                assert!(!counts.try_release_shared(), "the last one takes more");
                assert_eq!(bits(), INITIAL);
                counts.retain();
                assert_eq!((bits(), counts.is_unique()), (0x1_0000_0002, false));
                counts.retain_weak();
                assert_eq!((counts.strong_count(), counts.weak_count()), (2, 2));
                assert_eq!(counts.release(), Release::Alive);
                assert!(!counts.is_unique());
                assert!(counts.try_upgrade());
                assert_eq!((bits(), counts.release()), (0x2_0000_0002, Release::Alive));

                assert_eq!(counts.release(), Release::StrongOnly);
                assert_eq!(bits(), 0x2_0000_0000);
                assert!(!counts.try_upgrade());
                assert!(!counts.release_weak());
                assert!(counts.release_weak());

                // SAFETY: as above.
                unsafe { word.get().write(INITIAL) };
                assert_eq!((counts.release(), counts.strong_count()), (Release::Both, 0));

                // SAFETY: as above.
                unsafe { word.get().write(INITIAL) };
                counts.retain();
                assert_eq!(
                    (
                        counts.release_contended(is_single_threaded()),
                        counts.release_contended(is_single_threaded())
                    ),
                    (Release::Alive, Release::Both)
                );

                // SAFETY: as above.
                unsafe { word.get().write(INITIAL) };
                counts.retain_masked();
                assert_eq!(counts.release_relaxed(0), 1);
                assert_eq!(counts.release_relaxed(0), 0);
                assert_eq!((bits(), counts.release_relaxed(1)), (0x1_0000_0000, 0));
                assert_eq!(bits(), 0);
            }
        };
    }

    #[cfg(target_has_atomic = "64")]
    #[test]
    fn a_busy_object_is_forgotten_when_it_dies() {
        for (last, weak) in [(Release::Both, 0), (Release::StrongOnly, 1)] {
            let Word(word) = &Word(UnsafeCell::new(INITIAL));
            // SAFETY: the word is 8 bytes, aligned, and only used here.
            let counts = unsafe { &*word.get().cast::<atomic64::Counts>() };
            (0..weak).for_each(|_| counts.retain_weak());
            contended::remember(word.get().addr());
            counts.retain();
            assert_eq!(counts.release_contended(is_single_threaded()), Release::Alive);
            assert!(contended::is_contended(word.get().addr()));
            assert_eq!(counts.release_contended(is_single_threaded()), last);
            assert!(!contended::is_contended(word.get().addr()));
        }
    }

    #[cfg(target_has_atomic = "64")]
    test_counts!(one_atomic_word_counts, threads_end_one_atomic_word, atomic64::Counts);
    test_counts!(two_atomic_halves_count, threads_end_two_atomic_halves, split32::Counts);
    test_counts!(masked_halves_count, threads_end_masked_halves, masked::Counts);
}
