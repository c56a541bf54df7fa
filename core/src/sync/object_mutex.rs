//! Mutexes in objects. Forks hold every lock, and could not hold one for each object: those of all objects share a few.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr;

use super::imp::{Mutex, MutexGuard};

/// The locks, each for the objects at some addresses.
pub(crate) static OBJECT_LOCKS: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

/// A mutex as part of an object.
///
/// It is held for a moment that takes no other lock: two objects may have the same one.
pub struct ObjectMutex<T>(UnsafeCell<T>);

// SAFETY: the value is only touched by the guard, of which the object's lock admits one.
unsafe impl<T: Send> Sync for ObjectMutex<T> {}

impl<T> ObjectMutex<T> {
    /// A mutex around `value`, unlocked.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Waits for exclusive access, which lasts as long as the guard.
    pub fn lock(&self) -> ObjectMutexGuard<'_, T> {
        let lock = &OBJECT_LOCKS[ptr::from_ref(self).addr() / 64 % OBJECT_LOCKS.len()];
        ObjectMutexGuard { value: &self.0, _lock: lock.lock(), _not_sync: PhantomData }
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
        // SAFETY: the lock of the object is this guard's, so nobody else has a reference.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for ObjectMutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as `deref`, through an exclusive guard.
        unsafe { &mut *self.value.get() }
    }
}
