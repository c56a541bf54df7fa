//! Parts: states that must be consistent while the process forks.

use crate::platform::sync::imp::Mutex;

/// State that must be consistent while the process forks: a lock, or other state that threads
/// change in several steps.
pub trait AtFork: Sync {
    /// Makes the state consistent before a fork: takes the lock, or waits until other threads are
    /// done.
    ///
    /// # Safety
    /// [`parent`](Self::parent) or [`child`](Self::child) must follow on the same thread.
    unsafe fn prepare(&'static self);

    /// Releases the state in the parent process after a fork.
    ///
    /// # Safety
    /// This thread must have called [`prepare`](Self::prepare) for the same fork.
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
    /// The feature `client` of the crate `ferrite-ffi-rpc`.
    Rpc,
    /// The feature `legacy` of the crate `ferrite-ffi-capi`.
    Legacy,
}

/// Number of rings.
pub(super) const RING_COUNT: usize = Ring::Legacy as usize + 1;

/// Parts of each ring. A fork takes this lock before all others; it also serialises concurrent
/// forks.
pub(super) static RINGS: Mutex<[Parts; RING_COUNT]> = Mutex::new([&[]; RING_COUNT]);

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
