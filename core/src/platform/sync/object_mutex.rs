//! Mutexes in objects. All objects share a small set of locks, since a fork holds every lock, and
//! it could not hold one per object.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr;

use super::imp::{Mutex, MutexGuard};

/// Locks shared by all objects; the address of an object selects one.
pub(crate) static OBJECT_LOCKS: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

/// A mutex as part of an object.
///
/// Hold it only briefly, and take no other lock while it is held: two objects may share one lock.
pub struct ObjectMutex<T>(UnsafeCell<T>);

// SAFETY: the value is only accessed through the guard, and the object's lock admits one guard.
unsafe impl<T: Send> Sync for ObjectMutex<T> {}

impl<T> ObjectMutex<T> {
    /// Creates an unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Waits until the mutex is free and locks it for the lifetime of the guard.
    pub fn lock(&self) -> ObjectMutexGuard<'_, T> {
        let lock = &OBJECT_LOCKS[ptr::from_ref(self).addr() / 64 % OBJECT_LOCKS.len()];
        ObjectMutexGuard { value: &self.0, _lock: lock.lock(), _not_sync: PhantomData }
    }

    /// Calls `body` with the value while the mutex is locked. Returns its result.
    #[inline(always)]
    pub fn with_mut<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        body(&mut self.lock())
    }
}

/// Exclusive access to the value of an [`ObjectMutex`].
pub struct ObjectMutexGuard<'a, T> {
    value: &'a UnsafeCell<T>,
    _lock: MutexGuard<'static, ()>,
    _not_sync: PhantomData<*const T>,
}

impl<T> Deref for ObjectMutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock of the object, so no other reference exists.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for ObjectMutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as `deref`, through an exclusive guard.
        unsafe { &mut *self.value.get() }
    }
}
