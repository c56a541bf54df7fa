//! The state that every thread has for itself: its raised error, what the library keeps, and what
//! other crates declare by [`per_thread!`](crate::per_thread).
//!
//! With std all are thread-local. Without it there is one of each, shared by the whole program and reached
//! under a lock; the closures that get it are therefore short and call nothing that locks, allocates or runs
//! code of a user.

use crate::abi::TVMFFIObject;
use core::cell::Cell;
use core::ptr;

#[cfg(feature = "std")]
#[path = "thread_local.rs"]
mod imp;
#[cfg(not(feature = "std"))]
#[path = "shared.rs"]
mod imp;

pub use imp::*;

/// What the library itself keeps for each thread.
pub struct ThreadState {
    /// The objects whose last reference is gone while another one is being destroyed, so that nesting never recurses: null when none
    /// is being destroyed, else the first of a queue. What ends the queue and links it is up to the release path.
    pub dying: Cell<*mut TVMFFIObject>,
    /// Whether a custom allocator is being asked for an error object.
    pub asking_for_error: Cell<bool>,
}

impl ThreadState {
    const fn new() -> Self {
        Self { dying: Cell::new(ptr::null_mut()), asking_for_error: Cell::new(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without std the other tests use the same state and slot at the same time.
    #[cfg(feature = "std")]
    #[test]
    fn the_state_keeps_what_is_put_there() {
        state(|state| {
            assert!(!state.asking_for_error.get());
            state.asking_for_error.set(true);
        });
        assert!(state(|state| state.asking_for_error.replace(false)));
    }

    #[cfg(feature = "std")]
    #[test]
    fn the_raised_slot_starts_empty() {
        assert_eq!(with_raised(|slot| slot.get()), Some(ptr::null_mut()));
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
