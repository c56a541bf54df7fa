//! The function slot of a table entry, with lock-free readers.

use core::ptr::{self, NonNull};

use super::super::shared_pointer::SharedPointer;
use crate::abi::TVMFFIObject;
use crate::call::function::Function;
use crate::object::{ObjectClass, ObjectRef, refcount};

/// A slot for a function, which may be empty.
pub(in crate::names::global_table) struct FunctionSlot(SharedPointer<TVMFFIObject>);

impl FunctionSlot {
    pub(in crate::names::global_table) fn new(function: Option<Function>) -> Self {
        FunctionSlot(SharedPointer::new(into_raw(function)))
    }

    /// Returns a new reference to the function, or `None` if the slot is empty.
    #[inline]
    pub(in crate::names::global_table) fn load(&self) -> Option<Function> {
        // SAFETY: the object stays alive until `retain` returns.
        let retain = |object: NonNull<TVMFFIObject>| unsafe { refcount::retain(object.as_ptr()) };
        // SAFETY: the result owns the retained reference.
        self.0.load(retain).map(|object| unsafe { owned(object) })
    }

    /// Returns `true` if a function is set.
    pub(in crate::names::global_table) fn is_set(&self) -> bool {
        self.0.is_set()
    }

    /// Replaces the function and returns the previous one, which must be kept until
    /// [`is_quiescent`](Self::is_quiescent) has returned `true` once.
    pub(in crate::names::global_table) fn replace(
        &self,
        function: Option<Function>,
    ) -> Option<Function> {
        // SAFETY: the result owns the slot's reference.
        NonNull::new(self.0.exchange(into_raw(function))).map(|object| unsafe { owned(object) })
    }

    /// Resets the reader count after a fork.
    #[cfg(feature = "std")]
    pub(in crate::names::global_table) fn forget_readers(&self) {
        self.0.forget_readers();
    }

    /// Returns `true` if no reader can still be about to retain a function that was removed before
    /// this call.
    pub(in crate::names::global_table) fn is_quiescent(&self) -> bool {
        self.0.is_quiescent()
    }
}

impl Drop for FunctionSlot {
    fn drop(&mut self) {
        drop(self.replace(None));
    }
}

fn into_raw(function: Option<Function>) -> *mut TVMFFIObject {
    function.map_or(ptr::null_mut(), |function| function.into_object().into_raw().as_ptr())
}

/// Converts an object reference to a function.
///
/// # Safety
/// The object must be a function, and the caller transfers one strong reference to it.
unsafe fn owned(object: NonNull<TVMFFIObject>) -> Function {
    // SAFETY: the caller's promise.
    unsafe { Function::from_object_unchecked(ObjectRef::from_raw(object)) }
}

#[cfg(test)]
mod tests {
    use super::super::super::{TABLE, remove, set};
    use super::*;
    use crate::error::Result;
    use std::sync::Arc;

    #[test]
    #[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
    fn a_function_waits_for_a_reader_that_is_about_to_retain_it() {
        // On a second thread: a single-threaded process would not announce readers.
        let reader = std::thread::spawn(replace_while_reading);
        reader.join().unwrap().unwrap();
    }

    #[cfg(feature = "std")]
    #[test]
    fn a_reader_that_is_not_in_this_process_is_forgotten() {
        let is_quiescent = std::thread::spawn(|| {
            let slot = FunctionSlot::new(Function::from_typed(|| 1i64).ok());
            let mut seen = (true, false);
            slot.0.load(|_| {
                let before = slot.is_quiescent();
                slot.forget_readers();
                seen = (before, slot.is_quiescent());
            });
            seen
        });
        assert_eq!(is_quiescent.join().unwrap(), (false, true));
    }

    fn replace_while_reading() -> Result<()> {
        let alive = Arc::new(());
        let held = alive.clone();
        let first = Function::from_typed(move || Arc::strong_count(&held) as i64)?;
        let second = Function::from_typed(|| 2i64)?;
        set(b"gt.waits", &first, false)?;
        drop(first);
        let slot = &TABLE.get(b"gt.waits").unwrap().value.function;
        let mut seen = None;
        slot.0.load(|object| {
            // The reader has loaded the function; now writers replace and remove it.
            set(b"gt.waits", &second, true).unwrap();
            remove(b"gt.waits").unwrap();
            set(b"gt.waits", &second, true).unwrap();
            assert_eq!(Arc::strong_count(&alive), 2);
            // SAFETY: writers keep the function until the reader has retained it.
            seen = Some(unsafe { ObjectRef::borrow_raw(object) });
        });
        remove(b"gt.waits")?;
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(seen);
        assert_eq!(Arc::strong_count(&alive), 1);
        Ok(())
    }
}
