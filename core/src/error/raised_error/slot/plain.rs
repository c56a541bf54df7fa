//! The slot on microcontrollers and in kernel libraries: a failed call that returns -1 owns the
//! error of the slot.

/// A point in time, to tell errors raised before it from those raised after it. This build does
/// not number errors: [`precedes_raised`](Mark::precedes_raised) always returns `None`.
#[derive(Clone, Copy)]
pub struct Mark;

impl Mark {
    /// Returns the current point in time. Costs nothing.
    #[inline(always)]
    pub fn now() -> Mark {
        Mark
    }

    /// Returns `true` if this thread's last error was raised after this point in time. Returns
    /// `None` in builds that do not number errors.
    pub fn precedes_raised(self) -> Option<bool> {
        None
    }
}

/// Stores an error in the slot if it is empty. Otherwise empties the slot and returns its error.
#[cfg(not(feature = "client"))]
pub(super) fn store(raised: *mut crate::abi::TVMFFIObject) -> *mut crate::abi::TVMFFIObject {
    with_raised(|slot| {
        let stale = slot.get();
        slot.set(if stale.is_null() { raised } else { core::ptr::null_mut() });
        stale
    })
}

/// Runs `body` with access to the slot of the raised error. The slot is null or owns a strong
/// reference.
#[cfg(not(feature = "client"))]
#[inline]
pub(super) fn with_raised<R>(
    body: impl FnOnce(&core::cell::Cell<*mut crate::abi::TVMFFIObject>) -> R,
) -> R {
    let slot = crate::platform::hooks::raised_slot().cast();
    // SAFETY: the platform returns the address of a pointer, which is only accessed in critical
    // sections.
    crate::platform::sync::critical(|| body(unsafe { core::cell::Cell::from_mut(&mut *slot) }))
}
