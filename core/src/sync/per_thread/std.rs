//! Per-thread state in std's thread-local storage.

extern crate std;

use super::Dying;
use crate::abi::TVMFFIObject;
use core::cell::{Cell, RefCell};
use core::ptr;

/// Owns the error that its thread raised last, and releases it when the thread ends.
struct RaisedSlot(Cell<*mut TVMFFIObject>);

impl Drop for RaisedSlot {
    fn drop(&mut self) {
        let error = self.0.replace(ptr::null_mut());
        if !error.is_null() {
            // SAFETY: the slot owned one strong reference to the error, which it no longer names.
            unsafe { crate::release::release_object(error) };
        }
    }
}

std::thread_local! {
    // Without a destructor, so that it still works while other thread-local values are being destroyed.
    static DYING: Dying = const { Cell::new(ptr::null_mut()) };
    static ASKS: Cell<bool> = const { Cell::new(false) };
    static RAISED_AT_EXIT: Cell<*mut TVMFFIObject> = const { Cell::new(ptr::null_mut()) };
    static RAISED: RaisedSlot = const { RaisedSlot(Cell::new(ptr::null_mut())) };
}

/// The queue of a process with one thread, which is found at once.
struct SingleThreadQueue(Dying);

// SAFETY: a thread gets it while it is the only one, and keeps it until the destruction ends. Threads that start meanwhile are
// not alone, nor does glibc call any so later, not even in a child of `fork`: they use their own.
unsafe impl Sync for SingleThreadQueue {}

static SINGLE_THREAD_QUEUE: SingleThreadQueue = SingleThreadQueue(Cell::new(ptr::null_mut()));

/// A queue of dying objects, for what dies with one of them.
pub struct Queue(*const Dying);

/// This thread's queue of dying objects.
#[inline]
pub fn dying() -> Queue {
    Queue(DYING.with(ptr::from_ref))
}

/// The queue of a single-threaded process. When it starts others, what dies from then on goes to [`dying`].
#[inline]
pub fn dying_single_threaded() -> Queue {
    Queue(&raw const SINGLE_THREAD_QUEUE.0)
}

impl Queue {
    /// Lends the queue.
    #[inline]
    pub fn with<R>(&self, body: impl FnOnce(&Dying) -> R) -> R {
        // SAFETY: a static, or a thread-local without a destructor of the thread that asked for it, where a pointer stays.
        body(unsafe { &*self.0 })
    }
}

/// Says whether this thread is asking a custom allocator for an error object; gives what was said before.
#[inline]
pub fn swap_asking_for_error(asks: bool) -> bool {
    ASKS.replace(asks)
}

/// Lends the slot of this thread's raised error, which owns a strong reference unless null.
///
/// Destructors of other thread-local values, and handlers of the process's exit, run after the slot is gone. They get one
/// that nobody empties in the end: an error that is still there when the thread is gone is lost.
#[inline]
pub fn with_raised<R>(body: impl FnOnce(&Cell<*mut TVMFFIObject>) -> R) -> R {
    let slot = RAISED.try_with(|slot| ptr::from_ref(&slot.0)).unwrap_or_else(|_| exit_slot());
    // SAFETY: either lives in the thread's own storage; the first is destroyed in the end only, by no caller of this.
    body(unsafe { &*slot })
}

/// The slot that there is when [`RAISED`] is gone.
#[cold]
#[inline(never)]
fn exit_slot() -> *const Cell<*mut TVMFFIObject> {
    RAISED_AT_EXIT.with(ptr::from_ref)
}

#[doc(hidden)]
pub use core::cell::RefCell as __RefCell;
#[doc(hidden)]
pub use std::thread_local as __thread_local;

/// A value of [`per_thread!`](crate::per_thread); dropped when its thread ends.
pub type PerThread<T> = std::thread::LocalKey<RefCell<T>>;

/// Declares a value that every thread has for itself: `per_thread!(static COUNT: u32 = 0);`, initialised by a
/// constant.
#[macro_export]
macro_rules! per_thread {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $initial:expr) => {
        $crate::sync::per_thread::__thread_local! {
            $(#[$meta])*
            static $name: $crate::sync::per_thread::__RefCell<$type> =
                const { $crate::sync::per_thread::__RefCell::new($initial) };
        }
    };
}

/// Lends this thread's value.
///
/// `None` when the thread is ending and the value is gone already, and to a `body` inside another one on the
/// same value.
#[inline]
pub fn with<T, R>(value: &'static PerThread<T>, body: impl FnOnce(&mut T) -> R) -> Option<R> {
    value.try_with(|value| value.try_borrow_mut().ok().map(|mut value| body(&mut value))).ok().flatten()
}
