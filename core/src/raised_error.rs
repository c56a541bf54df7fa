//! This thread's raised error: where a failed call leaves its error for the caller to take.

#[cfg(not(feature = "client"))]
use crate::abi::TVMFFIObject;
use crate::error::Error;
#[cfg(not(feature = "client"))]
use crate::release;
#[cfg(not(feature = "client"))]
use crate::sync::per_thread;

/// Raises `error` on this thread, dropping one that nobody took. An error made in this library gets its backtrace now,
/// when others begin to see it.
///
/// # Upstream
/// `TVMFFIErrorSetRaised`.
#[cfg(not(feature = "client"))]
pub fn set(mut error: Error) {
    error.complete_backtrace();
    set_again(error);
}

/// As [`set`], for an error that others have seen before, and that has the backtrace which they gave it.
#[cfg(not(feature = "client"))]
pub fn set_again(error: Error) {
    use core::ptr;

    use crate::object::ObjectClass;

    let raised = error.into_object().into_raw().as_ptr();
    let stale = per_thread::with_raised(|slot| {
        let stale = slot.get();
        slot.set(if stale.is_null() { raised } else { ptr::null_mut() });
        stale
    });
    if !stale.is_null() {
        // SAFETY: the slot owned one reference to its error, which was taken out of it; the other one is ours still.
        unsafe { set_after(stale, raised) };
    }
}

/// Raises an error after the end of the one that nobody took, whose deleters may raise errors, too; on a thread that is inside
/// as many destructions as may nest, they run later.
///
/// # Safety
/// Both point to live objects, and the caller gives up one reference to each.
#[cfg(not(feature = "client"))]
#[cold]
unsafe fn set_after(stale: *mut TVMFFIObject, raised: *mut TVMFFIObject) {
    // SAFETY: the caller gives up both references; what the slot has then is its own.
    unsafe {
        release::release_object(stale);
        let unwanted = per_thread::with_raised(|slot| slot.replace(raised));
        if !unwanted.is_null() {
            release::release_object(unwanted);
        }
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

    let raised = per_thread::with_raised(|slot| slot.replace(ptr::null_mut()));
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

    #[cfg(feature = "std")]
    #[test]
    fn destructors_of_thread_locals_raise_errors() {
        use std::sync::mpsc::{Sender, channel};

        struct Late(Sender<bool>);

        impl Drop for Late {
            fn drop(&mut self) {
                set(error!(VALUE_ERROR, "first"));
                set(error!(VALUE_ERROR, "second"));
                let taken = take().is_some_and(|error| error.message() == b"second");
                let _ = self.0.send(taken && take().is_none());
            }
        }

        std::thread_local!(static LATE: std::cell::OnceCell<Late> = const { std::cell::OnceCell::new() });
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(|| {
            LATE.with(|late| late.set(Late(sender)).is_ok());
            // What is used last is destroyed first, where std has the choice.
            set(error!(VALUE_ERROR, "nobody takes it"));
        });
        assert!(thread.join().is_ok());
        assert_eq!(receiver.recv(), Ok(true));
    }
}
