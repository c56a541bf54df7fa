//! Fork safety. The library's locks are held across `fork`, so that a child process finds all locks
//! free and all guarded state consistent.
//!
//! A child has a copy of the memory, but only the forking thread: a lock held by another thread
//! would never be released. Therefore every lock, and every other state that threads change in
//! several steps, is a *part* ([`AtFork`]) in the list of its ring (`forks.rs` of each crate). All
//! parts are prepared before a fork, and released afterwards in the parent and in the child:
//!
//! | Step | Order | Action of a [`Mutex`](super::Mutex) |
//! |---|---|---|
//! | `prepare` | rings from the outside in, parts as listed | waits for the lock and keeps it |
//! | `parent`, `child` | the reverse | releases it |
//!
//! # Order
//! A lock may be taken while locks listed before it are held, but not while locks listed after it
//! are held, so that a fork and a thread cannot deadlock. Code of an outer ring may hold its locks
//! when it calls inward; inner rings hold none when they call outward. No lock is held while user
//! callbacks run, so a fork never waits for one. Initialisations by user callbacks, such as handles
//! initialised once, hold no lock: the child abandons those of the parent's other threads.
//!
//! # Fork handlers of other libraries
//! Handlers that are registered after the library's run before them when the process forks, and
//! after them in parent and child, so these handlers may use the library. The library therefore
//! registers its handlers when it is loaded, but after those of the memory allocator, whose locks
//! are taken while the library's are held.
//!
//! `_Fork`, `vfork` and raw system calls run no handlers; their children may only do what signal
//! handlers may. Systems without forks, such as Windows, have parts, too, which nothing prepares.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod handlers;
mod parts;

pub use parts::{AtFork, Hook, Parts, Repaired, Ring};

/// Registers the parts of a ring. Repeating the call changes nothing.
///
/// # Threads
/// Any. Must be called before the parts are used; each ring calls it when it is loaded.
pub fn enlist(ring: Ring, parts: Parts) {
    handlers::register();
    parts::RINGS.lock()[ring as usize] = parts;
}

/// Registers a function to run when the library or program that contains it is loaded: before
/// `main`, and before the constructors of dependent libraries. Has no effect on object formats
/// without constructors; call the function on first use there.
#[macro_export]
macro_rules! at_load {
    ($function:path) => {
        const _: () = {
            extern "C" fn run() {
                $function();
            }
            #[used]
            #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
            #[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
            static CONSTRUCTOR: extern "C" fn() = run;
        };
    };
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::platform::sync::Mutex;
    use std::thread;
    use std::time::Duration;

    /// Runs `meanwhile` while a part is prepared.
    fn during_fork(part: &'static dyn AtFork, meanwhile: impl FnOnce()) {
        // SAFETY: one follows the other on this thread.
        unsafe {
            part.prepare();
            meanwhile();
            part.parent();
        }
    }

    #[test]
    fn a_lock_is_held_until_the_fork_is_over() {
        static LOCK: Mutex<u32> = Mutex::new(0);
        let waiting = thread::scope(|scope| {
            let mut waiting = None;
            during_fork(&LOCK, || {
                let other = scope.spawn(|| *LOCK.lock() += 1);
                thread::sleep(Duration::from_millis(5));
                assert!(!other.is_finished());
                waiting = Some(other);
            });
            waiting.map(|other| other.join().is_ok())
        });
        assert_eq!((waiting, *LOCK.lock()), (Some(true), 1));
    }

    #[test]
    fn the_child_repairs_a_value() {
        static LOCK: Mutex<u32> = Mutex::new(7);
        static PART: Repaired<u32> = Repaired { mutex: &LOCK, repair: |value| *value = 0 };
        during_fork(&PART, || ());
        assert_eq!(*LOCK.lock(), 7);
        // SAFETY: one follows the other on this thread.
        unsafe {
            PART.prepare();
            PART.child();
        }
        assert_eq!(*LOCK.lock(), 0);
    }
}
