//! The state that every thread has for itself: its raised error, its queue of objects to destroy, and what
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

/// Objects whose last reference is gone while another object is being destroyed, so that nesting never
/// recurses.
pub struct ReleaseQueue {
    /// The first object to destroy, or null; how they are linked is up to the release path.
    pub head: Cell<*mut TVMFFIObject>,
    /// Whether somebody is draining the queue.
    pub active: Cell<bool>,
}

impl ReleaseQueue {
    const fn new() -> Self {
        Self { head: Cell::new(ptr::null_mut()), active: Cell::new(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without std the other tests use the same queue and slot at the same time.
    #[cfg(feature = "std")]
    #[test]
    fn the_queue_keeps_what_is_put_there() {
        release_queue(|queue| {
            assert!(!queue.active.get());
            queue.active.set(true);
        });
        assert!(release_queue(|queue| queue.active.replace(false)));
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
