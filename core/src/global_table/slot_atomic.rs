//! A place for a function that readers share without a lock: they announce themselves while they retain what
//! they see.

use core::ptr::{self, NonNull};

use crate::abi::TVMFFIObject;
use crate::function::Function;
use crate::object::{ObjectClass, ObjectRef};
use crate::refcount;
use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A function, or none.
pub(super) struct FunctionSlot {
    /// Owns one strong reference unless null.
    object: AtomicPtr<TVMFFIObject>,
    /// Readers between announcing themselves and having retained the function.
    readers: AtomicUsize,
}

impl FunctionSlot {
    pub(super) fn new(function: Option<Function>) -> Self {
        FunctionSlot { object: AtomicPtr::new(into_raw(function)), readers: AtomicUsize::new(0) }
    }

    /// The function, with a reference of its own.
    ///
    /// A writer that took a function out looks at `readers` afterwards. Both sides write one variable and
    /// then read the other in one total order: either the writer sees this reader, or this reader sees what
    /// the writer put in.
    #[inline]
    pub(super) fn load(&self) -> Option<Function> {
        self.readers.fetch_add(1, Ordering::SeqCst);
        let object = self.object.load(Ordering::SeqCst);
        if !object.is_null() {
            // SAFETY: no writer gives up the slot's reference while it sees this reader announced.
            unsafe { refcount::retain(object) };
        }
        // Part of the total order too: C++11 let an ordered load read past an announcement what was not
        // ordered itself.
        self.readers.fetch_sub(1, Ordering::SeqCst);
        from_raw(object)
    }

    /// Whether there is a function.
    pub(super) fn is_set(&self) -> bool {
        !self.object.load(Ordering::Acquire).is_null()
    }

    /// Puts another function in. The old one must be kept until [`is_quiet`](Self::is_quiet) has been true
    /// once.
    pub(super) fn replace(&self, function: Option<Function>) -> Option<Function> {
        from_raw(self.object.swap(into_raw(function), Ordering::SeqCst))
    }

    /// Whether no reader may still be about to retain a function that was taken out before this call.
    pub(super) fn is_quiet(&self) -> bool {
        self.readers.load(Ordering::SeqCst) == 0
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

fn from_raw(object: *mut TVMFFIObject) -> Option<Function> {
    // SAFETY: only called with null or one strong reference to a function.
    NonNull::new(object).map(|object| unsafe { Function::from_object_unchecked(ObjectRef::from_raw(object)) })
}
