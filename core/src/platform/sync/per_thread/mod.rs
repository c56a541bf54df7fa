//! Per-thread state: the queue of dying objects, and values that other crates declare with
//! [`per_thread!`](crate::per_thread).
//!
//! With std the state is thread-local. Without it there is one instance, shared by the whole
//! program and accessed under a lock; closures that access it must therefore be short, and must not
//! take locks, allocate or run user callbacks.

use crate::abi::TVMFFIObject;
use core::cell::Cell;

#[cfg(feature = "std")]
#[path = "std.rs"]
mod imp;
#[cfg(not(feature = "std"))]
#[path = "bare.rs"]
mod imp;

pub use imp::*;

/// Queue of objects that lost their last reference while their thread was destroying other objects.
/// Null if the thread destroys none. The queue bounds the depth of nested destructions.
/// `release.rs` defines its links.
pub(crate) type Dying = Cell<*mut TVMFFIObject>;

#[cfg(test)]
mod tests {
    use super::*;

    // Without std, other tests use the same values concurrently.
    #[cfg(feature = "std")]
    #[test]
    fn what_was_asked_before_is_told() {
        assert!(!swap_asking_for_error(true));
        assert!(swap_asking_for_error(false));
        assert!(!swap_asking_for_error(false));
    }

    #[cfg(feature = "std")]
    #[test]
    fn values_are_dropped_when_their_thread_ends() {
        use std::sync::mpsc::{Sender, channel};
        use std::vec::Vec;

        struct Told(Option<Sender<u8>>, u8);

        impl Drop for Told {
            fn drop(&mut self) {
                let is_destroyed = with(&FIRST, |_| ()).is_none();
                self.0.as_ref().map(|sender| sender.send(self.1 + u8::from(is_destroyed) * 10));
            }
        }

        crate::per_thread!(static FIRST: Told = Told(None, 1));
        crate::per_thread!(static SECOND: Told = Told(None, 2));
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            with(&FIRST, |told| told.0 = Some(sender.clone()));
            with(&SECOND, |told| told.0 = Some(sender));
        });
        assert!(thread.join().is_ok());
        // The last one first; a value is not used while it is dropped.
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [2, 11]);
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
