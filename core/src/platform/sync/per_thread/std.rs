//! Per-thread state in thread-local storage.
#![cfg_attr(
    feature = "client",
    allow(dead_code, reason = "the loaded library has the raised error")
)]

extern crate std;

pub(crate) mod at_end;

use self::at_end::AtEnd;
use super::Dying;
use core::cell::{Cell, RefCell};
use core::mem::{ManuallyDrop, needs_drop};
use core::ptr;

std::thread_local! {
    // Without destructors for std, so that they work while other thread-local values are being
    // destroyed.
    static DYING: Dying = const { Cell::new(ptr::null_mut()) };
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Queue of a single-threaded process. It is a static, so that access needs no thread-local lookup.
struct SingleThreadQueue(Dying);

// SAFETY: a thread uses it only while the process is single-threaded, until its destruction ends.
// Threads started meanwhile use their own queues: glibc never counts a process as single-threaded
// again, not even a child of `fork`.
unsafe impl Sync for SingleThreadQueue {}

static SINGLE_THREAD_QUEUE: SingleThreadQueue = SingleThreadQueue(Cell::new(ptr::null_mut()));

/// A handle to a queue of dying objects.
pub(crate) struct Queue(*const Dying);

/// Returns this thread's queue of dying objects.
#[inline]
pub(crate) fn dying() -> Queue {
    Queue(DYING.with(ptr::from_ref))
}

/// Returns the queue of a single-threaded process. Once the process starts threads, dying objects
/// go to [`dying`].
#[inline]
pub(crate) fn dying_single_threaded() -> Queue {
    Queue(&raw const SINGLE_THREAD_QUEUE.0)
}

impl Queue {
    /// Runs `body` with access to the queue.
    #[inline]
    pub fn with<R>(&self, body: impl FnOnce(&Dying) -> R) -> R {
        // SAFETY: the pointer is a static, or a thread-local without a destructor of the current
        // thread; queues are not sent to other threads.
        body(unsafe { &*self.0 })
    }
}

/// Records whether a custom allocator is allocating an error object for this thread. Returns the
/// previous state.
#[inline]
pub(crate) fn swap_asking_for_error(asks: bool) -> bool {
    ASKS.replace(asks)
}

#[doc(hidden)]
pub use std::thread_local as __thread_local;

/// A value declared by [`per_thread!`](crate::per_thread); dropped when its thread ends.
pub type PerThread<T> = std::thread::LocalKey<__Slot<T>>;

#[doc(hidden)]
pub struct __Slot<T> {
    value: RefCell<ManuallyDrop<T>>,
    at_end: AtEnd,
}

impl<T> __Slot<T> {
    pub const fn new(initial: T) -> Self {
        __Slot {
            value: RefCell::new(ManuallyDrop::new(initial)),
            at_end: AtEnd::new(Self::destroy),
        }
    }

    /// Returns `true` if the value is going to be dropped when the thread ends, or needs not be.
    #[inline]
    fn is_usable(&self) -> bool {
        // SAFETY: `per_thread!` declares slots as thread-locals, without a destructor; `destroy`
        // accepts their address.
        !const { needs_drop::<T>() }
            || unsafe { self.at_end.is_registered(ptr::from_ref(self).cast()) }
    }

    /// Drops the value of an ending thread, unless a caller that never returned is using it.
    ///
    /// # Safety
    /// `slot` must be the address of a slot, and the value not be used afterwards.
    unsafe fn destroy(slot: *const ()) {
        // SAFETY: the caller's promise.
        let slot = unsafe { &*slot.cast::<Self>() };
        if let Ok(mut value) = slot.value.try_borrow_mut() {
            // SAFETY: the slot is not usable any more.
            unsafe { ManuallyDrop::drop(&mut value) };
        }
    }
}

/// Declares a thread-local value with a constant initialiser:
/// `per_thread!(static COUNT: u32 = 0);`.
#[macro_export]
macro_rules! per_thread {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $initial:expr) => {
        $crate::platform::sync::per_thread::__thread_local! {
            $(#[$meta])*
            static $name: $crate::platform::sync::per_thread::__Slot<$type> =
                const { $crate::platform::sync::per_thread::__Slot::new($initial) };
        }
    };
}

/// Runs `body` with access to this thread's value.
///
/// Returns `None` if the thread is ending and the value is already destroyed, if there is no memory
/// to register its destructor, or if `body` of an outer call is accessing the same value.
#[inline]
pub fn with<T, R>(value: &'static PerThread<T>, body: impl FnOnce(&mut T) -> R) -> Option<R> {
    value.with(|slot| {
        if !slot.is_usable() {
            return None;
        }
        slot.value.try_borrow_mut().ok().map(|mut value| body(&mut value))
    })
}

/// Runs `body` with shared access to this thread's value; calls may be nested. Returns `None` as
/// [`with`] does.
#[inline]
pub fn with_shared<T, R>(value: &'static PerThread<T>, body: impl FnOnce(&T) -> R) -> Option<R> {
    value.with(|slot| {
        if !slot.is_usable() {
            return None;
        }
        slot.value.try_borrow().ok().map(|value| body(&value))
    })
}
