//! Closures that run while a mutex is locked, for builds whose mutexes have guards. The locks of
//! masked interrupts have the same methods in place of guards.
#![forbid(unsafe_code)]

use super::Mutex;

impl<T> Mutex<T> {
    /// Calls `body` with the value while the mutex is locked. Returns its result.
    #[inline(always)]
    pub fn with<R>(&self, body: impl FnOnce(&T) -> R) -> R {
        body(&self.lock())
    }

    /// Calls `body` with the value while the mutex is locked. Returns its result.
    #[inline(always)]
    pub fn with_mut<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        body(&mut self.lock())
    }
}
