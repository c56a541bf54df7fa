//! A small cache of contended objects: the addresses of objects whose count words several threads
//! change concurrently.
//!
//! A release usually loads the count first, since the only reference to an object can be released
//! without an atomic operation. Under contention that load costs a second transfer of the cache
//! line, because another processor takes the line before the atomic operation. For contended
//! objects the load is therefore skipped. They are stored one per slot of a small table, which is
//! written only when a slot changes.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering};

/// A slot with the address of one object. Aligned like objects, so that bits of the address select
/// the slot.
#[repr(align(16))]
struct Place(AtomicUsize);

static PLACES: [Place; 16] = [const { Place(AtomicUsize::new(0)) }; 16];

#[inline(always)]
fn place(address: usize) -> &'static AtomicUsize {
    &PLACES[address / align_of::<Place>() % PLACES.len()].0
}

/// Returns `true` if the object at this address is in the cache of contended objects.
#[inline(always)]
pub(super) fn is_contended(address: usize) -> bool {
    place(address).load(Ordering::Relaxed) == address
}

/// Adds the object at this address to the cache of contended objects.
#[cold]
pub(super) fn remember(address: usize) {
    place(address).store(address, Ordering::Relaxed);
}

/// Removes the object at this address, which is being destroyed, from the cache.
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
