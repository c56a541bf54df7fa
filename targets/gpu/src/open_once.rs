//! Drivers opened on first use and never closed.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrite_core::error::Result;

use crate::forks;
use crate::owned::Owned;

/// Cell for a driver that the process opens once. A failure to open it leaves no state behind: the
/// next call tries again.
pub(crate) struct OpenOnce<T: 'static> {
    opened: AtomicPtr<T>,
    /// Held while the driver is opened. A forked child never takes it, see [`forks`].
    opening: Mutex<()>,
}

impl<T: Send + Sync + 'static> OpenOnce<T> {
    /// Creates an empty cell. Opens nothing.
    pub(crate) const fn new() -> OpenOnce<T> {
        OpenOnce { opened: AtomicPtr::new(ptr::null_mut()), opening: Mutex::new(()) }
    }

    /// Returns the driver. The first use opens it with `open`.
    ///
    /// # Errors
    /// Errors of `open`; RuntimeError in a forked child whose parent had opened a driver;
    /// MemoryError.
    #[inline]
    pub(crate) fn get(&'static self, open: fn() -> Result<T>) -> Result<&'static T> {
        forks::check()?;
        match self.find() {
            Some(driver) => Ok(driver),
            None => self.open(open),
        }
    }

    #[inline]
    fn find(&self) -> Option<&'static T> {
        // SAFETY: null, or created by `open` and never freed.
        unsafe { self.opened.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn open(&'static self, open: fn() -> Result<T>) -> Result<&'static T> {
        forks::begin_use()?;
        // A panic leaves no inconsistent state, so poisoning is ignored.
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = self.find() {
            return Ok(driver);
        }
        let driver = Owned::new(open()?)?.into_raw();
        self.opened.store(driver.as_ptr(), Ordering::Release);
        // SAFETY: just created, and never freed.
        Ok(unsafe { driver.as_ref() })
    }
}
