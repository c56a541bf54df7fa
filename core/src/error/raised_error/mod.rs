//! The raised error of the current thread: a failed call stores its error here for the caller to
//! take.

#[cfg_attr(all(feature = "std", not(feature = "client")), path = "slot/numbered.rs")]
#[cfg_attr(not(all(feature = "std", not(feature = "client"))), path = "slot/plain.rs")]
mod slot;

pub use slot::Mark;

#[cfg(not(feature = "client"))]
use crate::abi::TVMFFIObject;
use crate::error::Error;
#[cfg(not(feature = "client"))]
use crate::object::release;

/// Raises `error` on this thread and drops an earlier error that was not taken. If the library
/// created the error, captures its backtrace now.
///
/// # Upstream
/// `TVMFFIErrorSetRaised`.
#[cfg(not(feature = "client"))]
#[inline(never)] // every exported symbol calls it
pub fn set(mut error: Error) {
    error.complete_backtrace();
    set_again(error);
}

/// Raises an error that was raised before, without changing its backtrace.
#[cfg(not(feature = "client"))]
pub fn set_again(error: Error) {
    use crate::object::ObjectClass;

    let raised = error.into_object().into_raw().as_ptr();
    let stale = slot::store(raised);
    if !stale.is_null() {
        // SAFETY: the reference of the slot was taken out of it; the reference to `raised` is still
        // owned here.
        unsafe { set_after(stale, raised) };
    }
}

/// Raises an error after releasing an earlier one that was not taken, because its deleters may
/// raise errors too. If this thread is destroying objects at the maximum depth, those deleters run
/// later.
///
/// # Safety
/// Both must point to live objects, and the caller transfers one reference to each.
#[cfg(not(feature = "client"))]
#[cold]
unsafe fn set_after(stale: *mut TVMFFIObject, raised: *mut TVMFFIObject) {
    // SAFETY: the caller transfers both references; the slot owns its object afterwards.
    unsafe {
        release::release_object(stale);
        let unwanted = slot::with_raised(|slot| slot.replace(raised));
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

    let raised = slot::with_raised(|slot| slot.replace(ptr::null_mut()));
    // SAFETY: the reference of the slot was taken out of it; only errors are stored there.
    NonNull::new(raised)
        .map(|raised| unsafe { Error::from_object_unchecked(ObjectRef::from_raw(raised)) })
}

/// Raises `error` in the loaded `libtvm_ffi`.
#[cfg(feature = "client")]
pub fn set(error: Error) {
    use crate::object::ObjectClass;

    // SAFETY: the function retains the error itself.
    unsafe { crate::abi::client::TVMFFIErrorSetRaised(error.as_object().as_ptr().cast()) };
}

/// Takes the error that the loaded `libtvm_ffi` stores for this thread.
#[cfg(feature = "client")]
pub fn take() -> Option<Error> {
    use core::ptr::{self, NonNull};

    use crate::object::{ObjectClass, ObjectRef};

    let mut raised = ptr::null_mut();
    // SAFETY: the out-pointer is valid; the reference moves to this function.
    unsafe { crate::abi::client::TVMFFIErrorMoveFromRaised(&mut raised) };
    // SAFETY: as above.
    NonNull::new(raised.cast())
        .map(|raised| unsafe { Error::from_object_unchecked(ObjectRef::from_raw(raised)) })
}

/// Drops the error of this thread's slot if it was raised before a point in time. Does nothing in
/// builds that do not number errors.
#[cfg(any(feature = "std", feature = "client"))] // who else asks a custom allocator
#[cold]
pub(crate) fn drop_earlier(than: Mark) {
    if than.precedes_raised() == Some(false) {
        drop(take());
    }
}

/// Records that this thread reported a failure in another slot. The error in that slot counts as
/// raised now.
#[cfg(all(feature = "std", not(feature = "client")))]
pub fn record_other_failure() {
    slot::number_next();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error;

    #[test]
    fn an_error_is_taken_once() {
        set(error!(ValueError, "first"));
        set(error!(ValueError, "second"));
        assert_eq!(take().map(|error| error.message_bytes() == b"second"), Some(true));
        assert!(take().is_none());
    }

    #[cfg(feature = "std")]
    #[test]
    fn each_thread_has_its_own() {
        set(error!(ValueError, "here"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(take().is_none());
                set(error!(ValueError, "there"));
            });
        });
        assert_eq!(take().map(|error| error.message_bytes() == b"here"), Some(true));
    }

    #[cfg(feature = "std")]
    #[test]
    fn destructors_of_thread_locals_raise_errors() {
        use std::sync::mpsc::{Sender, channel};

        struct Late(Sender<bool>);

        impl Drop for Late {
            fn drop(&mut self) {
                set(error!(ValueError, "first"));
                set(error!(ValueError, "second"));
                let taken = take().is_some_and(|error| error.message_bytes() == b"second");
                let _ = self.0.send(taken && take().is_none());
            }
        }

        std::thread_local!(static LATE: std::cell::OnceCell<Late> = const { std::cell::OnceCell::new() });
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(|| {
            LATE.with(|late| late.set(Late(sender)).is_ok());
            // Where std chooses, thread-local values are destroyed in the reverse order of first
            // use.
            set(error!(ValueError, "nobody takes it"));
        });
        assert!(thread.join().is_ok());
        assert_eq!(receiver.recv(), Ok(true));
    }
}
