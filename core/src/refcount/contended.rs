//! Objects that several threads were seen to count at once.
//!
//! A count is looked at before it is given up, since an only reference needs no atomic step. Where another processor has the
//! word that means to wait for it twice, as it is away again before the step. So the objects of which that was seen are
//! remembered: one for each of a few places, in memory that is written only when they change.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering};

/// The address of an object. Aligned as objects are, so that address bits are offsets of places.
#[repr(align(16))]
struct Place(AtomicUsize);

static PLACES: [Place; 16] = [const { Place(AtomicUsize::new(0)) }; 16];

#[inline(always)]
fn place(address: usize) -> &'static AtomicUsize {
    &PLACES[address / align_of::<Place>() % PLACES.len()].0
}

/// Whether the object at this address is one of them.
#[inline(always)]
pub(super) fn is_contended(address: usize) -> bool {
    place(address).load(Ordering::Relaxed) == address
}

/// Remembers the object at this address.
#[cold]
pub(super) fn remember(address: usize) {
    place(address).store(address, Ordering::Relaxed);
}

/// Forgets the object at this address, which is dead.
#[cold]
pub(super) fn forget(address: usize) {
    // Another one that took the place meanwhile is forgotten, too: it will be seen again.
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
