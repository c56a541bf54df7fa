//! A place for a function on cores that cannot count readers atomically: every access is one critical
//! section.

use core::cell::UnsafeCell;
use core::ptr::NonNull;

use crate::function::Function;
use crate::object::{ObjectClass, ObjectRef};
use crate::{refcount, sync};

/// A function, or none.
pub(in crate::global_table) struct FunctionSlot {
    function: UnsafeCell<Option<Function>>,
}

// SAFETY: `function` is only touched inside critical sections, which exclude each other.
unsafe impl Sync for FunctionSlot {}
// SAFETY: functions may be used and released by any thread (ABI).
unsafe impl Send for FunctionSlot {}

impl FunctionSlot {
    pub(in crate::global_table) fn new(function: Option<Function>) -> Self {
        FunctionSlot { function: UnsafeCell::new(function) }
    }

    /// The function, with a reference of its own.
    pub(in crate::global_table) fn load(&self) -> Option<Function> {
        sync::critical(|| {
            // SAFETY: see the Sync impl.
            let function = unsafe { (*self.function.get()).as_ref()? }.as_object().as_ptr();
            // SAFETY: the slot holds a function, to which this makes one more reference; sections are exclusive on one core.
            unsafe {
                refcount::retain_masked(function);
                let object = ObjectRef::from_raw(NonNull::new_unchecked(function));
                Some(Function::from_object_unchecked(object))
            }
        })
    }

    /// Whether there is a function.
    pub(in crate::global_table) fn is_set(&self) -> bool {
        // SAFETY: see the Sync impl.
        sync::critical(|| unsafe { (*self.function.get()).is_some() })
    }

    /// Puts a function in and does what goes with it, unless there is one and `may_replace` is false. Tells whether it is there
    /// now, or one of the same callback.
    pub(in crate::global_table) fn set(
        &self,
        function: &Function,
        may_replace: bool,
        beside: impl FnOnce(),
    ) -> bool {
        // What was there is dropped behind the section.
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

    /// Puts another function in; the old one is the caller's.
    pub(in crate::global_table) fn replace(&self, function: Option<Function>) -> Option<Function> {
        // SAFETY: see the Sync impl; moving runs no destructor.
        sync::critical(|| unsafe { self.function.get().replace(function) })
    }
}
