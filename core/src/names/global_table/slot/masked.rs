//! The function slot of a table entry on cores that cannot count readers atomically: every access
//! is a critical section.

use core::cell::UnsafeCell;
use core::ptr::NonNull;

use crate::call::function::Function;
use crate::object::{ObjectClass, ObjectRef, refcount};
use crate::platform::sync;

/// A slot for a function, which may be empty.
pub(in crate::names::global_table) struct FunctionSlot {
    function: UnsafeCell<Option<Function>>,
}

// SAFETY: `function` is only accessed in critical sections, which exclude each other.
unsafe impl Sync for FunctionSlot {}
// SAFETY: functions may be used and released by any thread (ABI).
unsafe impl Send for FunctionSlot {}

impl FunctionSlot {
    pub(in crate::names::global_table) fn new(function: Option<Function>) -> Self {
        FunctionSlot { function: UnsafeCell::new(function) }
    }

    /// Returns a new reference to the function, or `None` if the slot is empty.
    pub(in crate::names::global_table) fn load(&self) -> Option<Function> {
        sync::critical(|| {
            // SAFETY: see the Sync impl.
            let function = unsafe { (*self.function.get()).as_ref()? }.as_object().as_ptr();
            // SAFETY: the function is alive in the slot, and its count changes in a critical
            // section on one core.
            unsafe {
                refcount::retain_masked(function);
                let object = ObjectRef::from_raw(NonNull::new_unchecked(function));
                Some(Function::from_object_unchecked(object))
            }
        })
    }

    /// Returns `true` if a function is set.
    pub(in crate::names::global_table) fn is_set(&self) -> bool {
        // SAFETY: see the Sync impl.
        sync::critical(|| unsafe { (*self.function.get()).is_some() })
    }

    /// Sets the function and calls `beside` in the same critical section, unless a function is set
    /// and `may_replace` is false. Returns `true` if the slot then has this function, or one with
    /// the same callback.
    pub(in crate::names::global_table) fn set(
        &self,
        function: &Function,
        may_replace: bool,
        beside: impl FnOnce(),
    ) -> bool {
        // The previous function is dropped after the section.
        let (is_there, _before) = sync::critical(|| {
            // SAFETY: see the Sync impl; retaining and moving call nothing that touches this slot.
            let here = unsafe { &mut *self.function.get() };
            match here {
                Some(present) if !may_replace => (present.same_callback(function), None),
                _ => {
                    beside();
                    (true, here.replace(function.clone()))
                }
            }
        });
        is_there
    }

    /// Replaces the function and returns the previous one.
    pub(in crate::names::global_table) fn replace(
        &self,
        function: Option<Function>,
    ) -> Option<Function> {
        // SAFETY: see the Sync impl; moving runs no destructor.
        sync::critical(|| unsafe { self.function.get().replace(function) })
    }
}
