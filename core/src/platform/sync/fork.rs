//! Fork safety. The library's locks are held across `fork`, so that a child process finds all locks
//! free and all guarded state consistent.
//!
//! A child has a copy of the memory, but only the forking thread: a lock held by another thread
//! would never be released. Therefore every lock, and every other state that threads change in
//! several steps, is a *part* ([`AtFork`]) in the list of its ring (`forks.rs` of each crate). All
//! parts are prepared before a fork, and released afterwards in the parent and in the child:
//!
//! | Step | Order | Action of a [`Mutex`] |
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

#[cfg_attr(unix, path = "fork/unix.rs")]
#[cfg_attr(not(unix), path = "fork/other.rs")]
mod handlers;

use core::cell::UnsafeCell;

use super::imp::{Mutex, MutexGuard};

/// State that must be consistent while the process forks: a lock, or other state that threads
/// change in several steps.
pub trait AtFork: Sync {
    /// Makes the state consistent before a fork: takes the lock, or waits until other threads are
    /// done.
    ///
    /// # Safety
    /// [`parent`](Self::parent) or [`child`](Self::child) follows on the same thread.
    unsafe fn prepare(&'static self);

    /// Releases the state in the parent process after a fork.
    ///
    /// # Safety
    /// This thread called [`prepare`](Self::prepare) for the same fork.
    unsafe fn parent(&'static self);

    /// Releases the state in the child process, whose only thread is the calling one, and abandons
    /// the unfinished work of other threads.
    ///
    /// # Safety
    /// Same requirements as [`parent`](Self::parent).
    unsafe fn child(&'static self);
}

/// Parts of one ring, in the order of preparation.
pub type Parts = &'static [&'static dyn AtFork];

/// Rings that have parts, from the inside out.
#[derive(Clone, Copy, Debug)]
pub enum Ring {
    /// The crate `ferrite-ffi-core`.
    Core,
    /// The crate `ferrite-ffi-alloc`.
    AllocExt,
    /// The crate `ferrite-ffi-host`.
    Host,
    /// The crate `ferrite-ffi-gpu`.
    Gpu,
    /// The feature `legacy` of the crate `ferrite-ffi-capi`.
    Legacy,
}

/// Number of rings.
const RING_COUNT: usize = Ring::Legacy as usize + 1;

/// Parts of each ring. A fork takes this lock before all others; it also serialises concurrent
/// forks.
static RINGS: Mutex<[Parts; RING_COUNT]> = Mutex::new([&[]; RING_COUNT]);

/// Registers the parts of a ring. Repeating the call changes nothing.
///
/// # Threads
/// Any. Must be called before the parts are used; each ring calls it when it is loaded.
pub fn enlist(ring: Ring, parts: Parts) {
    handlers::register();
    RINGS.lock()[ring as usize] = parts;
}

/// Holds the lock across the fork.
impl<T: Send + 'static> AtFork for Mutex<T> {
    unsafe fn prepare(&'static self) {
        self.across_fork.keep(self.lock());
    }

    unsafe fn parent(&'static self) {
        // SAFETY: the caller's promise.
        drop(unsafe { self.across_fork.take() });
    }

    unsafe fn child(&'static self) {
        // SAFETY: the caller's promise.
        drop(unsafe { self.across_fork.take() });
    }
}

/// Holds all locks of the array across the fork.
impl<T: Send + 'static, const N: usize> AtFork for [Mutex<T>; N] {
    unsafe fn prepare(&'static self) {
        // SAFETY: the caller's promise.
        self.iter().for_each(|mutex| unsafe { mutex.prepare() });
    }

    unsafe fn parent(&'static self) {
        // SAFETY: the caller's promise.
        self.iter().for_each(|mutex| unsafe { mutex.parent() });
    }

    unsafe fn child(&'static self) {
        // SAFETY: the caller's promise.
        self.iter().for_each(|mutex| unsafe { mutex.child() });
    }
}

/// A mutex whose value refers to threads. After a fork, the child repairs the value before it
/// releases the lock.
pub struct Repaired<T: 'static> {
    /// The mutex, held across the fork.
    pub mutex: &'static Mutex<T>,
    /// Removes the work of other threads from the value. Takes no lock that is listed before this
    /// one.
    pub repair: fn(&mut T),
}

impl<T: Send> AtFork for Repaired<T> {
    unsafe fn prepare(&'static self) {
        // SAFETY: the caller's promise.
        unsafe { self.mutex.prepare() };
    }

    unsafe fn parent(&'static self) {
        // SAFETY: the caller's promise.
        unsafe { self.mutex.parent() };
    }

    unsafe fn child(&'static self) {
        // SAFETY: the caller's promise.
        if let Some(mut guard) = unsafe { self.mutex.across_fork.take() } {
            (self.repair)(&mut guard);
        }
    }
}

/// A part defined by functions, for state without a lock.
pub struct Hook {
    /// Makes the state consistent before a fork; see [`AtFork::prepare`].
    pub prepare: fn(),
    /// Releases the state in the parent process; see [`AtFork::parent`].
    pub parent: fn(),
    /// Releases the state in the child process; see [`AtFork::child`].
    pub child: fn(),
}

impl Hook {
    /// Creates a part that only acts in the child.
    pub const fn in_child(child: fn()) -> Self {
        Self { prepare: || (), parent: || (), child }
    }
}

impl AtFork for Hook {
    unsafe fn prepare(&'static self) {
        (self.prepare)();
    }

    unsafe fn parent(&'static self) {
        (self.parent)();
    }

    unsafe fn child(&'static self) {
        (self.child)();
    }
}

/// Storage for a mutex's guard while the process forks.
pub(super) struct AcrossFork<T: 'static>(UnsafeCell<Option<MutexGuard<'static, T>>>);

// SAFETY: only used between `prepare` and `parent` or `child`, by the forking thread, which holds
// the mutex.
unsafe impl<T> Sync for AcrossFork<T> {}
// SAFETY: a mutex that can be moved is not borrowed forever, so no guard is stored.
unsafe impl<T> Send for AcrossFork<T> {}

impl<T> AcrossFork<T> {
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    fn keep(&'static self, guard: MutexGuard<'static, T>) {
        // SAFETY: `guard` belongs to the mutex of this field, so this thread has exclusive access.
        unsafe { *self.0.get() = Some(guard) };
    }

    /// Returns the guard that was stored before the fork.
    ///
    /// # Safety
    /// This thread stored a guard here.
    unsafe fn take(&'static self) -> Option<MutexGuard<'static, T>> {
        // SAFETY: the caller's promise: the thread holds the mutex.
        unsafe { (*self.0.get()).take() }
    }
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
