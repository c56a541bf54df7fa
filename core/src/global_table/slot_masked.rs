//! A place for a function on cores that cannot count readers atomically: every access is one critical
//! section.

use core::cell::UnsafeCell;

use crate::function::Function;
use crate::sync;

/// A function, or none.
pub(super) struct FunctionSlot {
    function: UnsafeCell<Option<Function>>,
}

// SAFETY: `function` is only touched inside critical sections, which exclude each other.
unsafe impl Sync for FunctionSlot {}
// SAFETY: functions may be used and released by any thread (ABI).
unsafe impl Send for FunctionSlot {}

impl FunctionSlot {
    pub(super) fn new(function: Option<Function>) -> Self {
        FunctionSlot { function: UnsafeCell::new(function) }
    }

    /// The function, with a reference of its own.
    pub(super) fn load(&self) -> Option<Function> {
        // SAFETY: see the Sync impl; retaining calls nothing that touches this slot.
        sync::critical(|| unsafe { (*self.function.get()).clone() })
    }

    /// Whether there is a function.
    pub(super) fn is_set(&self) -> bool {
        // SAFETY: see the Sync impl.
        sync::critical(|| unsafe { (*self.function.get()).is_some() })
    }

    /// Exchanges functions, unless there is one and `may_replace` is false. Tells whether there was one.
    pub(super) fn exchange(&self, function: &mut Option<Function>, may_replace: bool) -> bool {
        sync::critical(|| {
            // SAFETY: see the Sync impl; moving runs no destructor.
            let here = unsafe { &mut *self.function.get() };
            let was_set = here.is_some();
            if !was_set || may_replace {
                core::mem::swap(here, function);
            }
            was_set
        })
    }
}
