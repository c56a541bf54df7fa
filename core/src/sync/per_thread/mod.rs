//! The state that every thread has for itself: its raised error, what the library keeps, and what
//! other crates declare by [`per_thread!`](crate::per_thread).
//!
//! With std all are thread-local. Without it there is one of each, shared by the whole program and reached
//! under a lock; the closures that get it are therefore short and call nothing that locks, allocates or runs
//! code of a user.

use crate::abi::TVMFFIObject;
use core::cell::Cell;

#[cfg(feature = "std")]
#[path = "std.rs"]
mod imp;
#[cfg(not(feature = "std"))]
#[path = "bare.rs"]
mod imp;

pub use imp::*;

/// The queue of objects that lost their last reference while a thread was destroying others; null when it destroys
/// none. They wait so that destruction never nests deeply. How they are linked is up to the release path.
pub type Dying = Cell<*mut TVMFFIObject>;

#[cfg(test)]
mod tests {
    use super::*;

    // Without std the other tests use the same values at the same time.
    #[cfg(feature = "std")]
    #[test]
    fn what_was_asked_before_is_told() {
        assert!(!swap_asking_for_error(true));
        assert!(swap_asking_for_error(false));
        assert!(!swap_asking_for_error(false));
    }

    #[cfg(feature = "std")]
    #[test]
    fn the_raised_slot_starts_empty() {
        assert!(with_raised(|slot| slot.get()).is_null());
    }

    #[test]
    fn declared_values_are_each_threads_own() {
        crate::per_thread!(static COUNT: u32 = 0);
        let count = || {
            with(&COUNT, |count| {
                *count += 1;
                *count
            })
        };
        assert_eq!((count(), count()), (Some(1), Some(2)));
        let other = std::thread::spawn(count).join();
        assert_eq!(other.ok(), Some(Some(if cfg!(feature = "std") { 1 } else { 3 })));
    }
}
