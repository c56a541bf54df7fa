//! This thread's raised error: where a failed call leaves its error for the caller to take.

use crate::error::Error;

/// Raises `error` on this thread, dropping one that nobody took. An error made in this library gets its backtrace now,
/// when others begin to see it.
///
/// # Upstream
/// `TVMFFIErrorSetRaised`.
#[cfg(not(feature = "client"))]
pub fn set(error: Error) {
    error.complete_backtrace();
    set_again(error);
}

/// As [`set`], for an error that others have seen before, and that has the backtrace which they gave it.
#[cfg(not(feature = "client"))]
pub fn set_again(error: Error) {
    use crate::object::ObjectClass;
    use crate::release;
    use crate::sync::per_thread;

    let raised = error.into_object().into_raw().as_ptr();
    let previous = per_thread::with_raised(|slot| slot.replace(raised));
    // Without a slot, because the thread is being torn down, nobody can take the error any more.
    let unwanted = previous.unwrap_or(raised);
    if !unwanted.is_null() {
        // SAFETY: the slot owned one reference to its error, which was taken out of it.
        unsafe { release::release_object(unwanted) };
    }
}

/// Takes this thread's raised error.
///
/// # Upstream
/// `TVMFFIErrorMoveFromRaised`.
#[cfg(not(feature = "client"))]
pub fn take() -> Option<Error> {
    use core::ptr::{self, NonNull};

    use crate::object::{ObjectClass, ObjectRef};
    use crate::sync::per_thread;

    let raised = per_thread::with_raised(|slot| slot.replace(ptr::null_mut()))?;
    // SAFETY: the slot owned one reference to its error, which was taken out of it; only errors are put in.
    NonNull::new(raised).map(|raised| unsafe { Error::from_object_unchecked(ObjectRef::from_raw(raised)) })
}

/// Raises `error` in the loaded `libtvm_ffi`.
#[cfg(feature = "client")]
pub fn set(error: Error) {
    use crate::object::ObjectClass;

    // SAFETY: the function takes a reference of its own.
    unsafe { crate::abi::client::TVMFFIErrorSetRaised(error.as_object().as_ptr().cast()) };
}

/// Takes the error that the loaded `libtvm_ffi` holds for this thread.
#[cfg(feature = "client")]
pub fn take() -> Option<Error> {
    use core::ptr::{self, NonNull};

    use crate::object::{ObjectClass, ObjectRef};

    let mut raised = ptr::null_mut();
    // SAFETY: the out-pointer is valid; the reference moves to us.
    unsafe { crate::abi::client::TVMFFIErrorMoveFromRaised(&mut raised) };
    // SAFETY: as above.
    NonNull::new(raised.cast())
        .map(|raised| unsafe { Error::from_object_unchecked(ObjectRef::from_raw(raised)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error;

    #[test]
    fn an_error_is_taken_once() {
        set(error!(VALUE_ERROR, "first"));
        set(error!(VALUE_ERROR, "second"));
        assert_eq!(take().map(|error| error.message() == b"second"), Some(true));
        assert!(take().is_none());
    }

    #[cfg(feature = "std")]
    #[test]
    fn each_thread_has_its_own() {
        set(error!(VALUE_ERROR, "here"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(take().is_none());
                set(error!(VALUE_ERROR, "there"));
            });
        });
        assert_eq!(take().map(|error| error.message() == b"here"), Some(true));
    }
}
