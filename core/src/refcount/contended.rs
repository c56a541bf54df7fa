//! Contended objects: a small cache of addresses whose count words several threads change at once.
//!
//! A release first loads the count, since an only reference needs no atomic step. If another processor owns the cache
//! line, that load costs a second transfer of the line, which is gone again before the atomic step. Objects seen to be
//! contended are therefore remembered, one per slot of a small table whose cache lines are written only when they
//! change, and skip the load.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering};

/// The address of an object. Aligned as objects are, so that address bits select slots.
#[repr(align(16))]
struct Place(AtomicUsize);

static PLACES: [Place; 16] = [const { Place(AtomicUsize::new(0)) }; 16];

#[inline(always)]
fn place(address: usize) -> &'static AtomicUsize {
    &PLACES[address / align_of::<Place>() % PLACES.len()].0
}

/// Returns `true` if the object at this address is remembered as contended.
#[inline(always)]
pub(super) fn is_contended(address: usize) -> bool {
    place(address).load(Ordering::Relaxed) == address
}

/// Remembers the object at this address as contended.
#[cold]
pub(super) fn remember(address: usize) {
    place(address).store(address, Ordering::Relaxed);
}

/// Forgets the object at this address, which is being destroyed.
#[cold]
pub(super) fn forget(address: usize) {
    // An object that has taken the slot meanwhile is forgotten, too, until it is seen again.
    place(address).store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_remembers_one_object() {
        let (first, second) = (1 << 20, (1 << 20) + (1 << 12));
        remember(first);
        assert!(is_contended(first) && !is_contended(second));
        remember(second);
        assert!(is_contended(second) && !is_contended(first));
        forget(second);
        assert!(!is_contended(second));
    }
}
