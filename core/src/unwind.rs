//! Handling of panics at the boundary to C: they are caught in builds that unwind, and abort in others.
#![forbid(unsafe_code)]

use crate::error::Result;

/// Runs `body` and converts a panic into an InternalError.
///
/// # Errors
/// Errors of `body`. InternalError with the panic's message if `body` panics.
#[cfg(feature = "std")]
#[inline(always)]
pub fn catch<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    // An interrupted operation can only leave its own objects inconsistent, and the error tells the caller to drop
    // them.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(panic_error(&*payload)))
}

/// Converts a panic payload into an error.
#[cfg(feature = "std")]
#[cold]
#[inline(never)]
fn panic_error(payload: &(dyn core::any::Any + Send)) -> crate::error::Error {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<std::string::String>().map(|text| text.as_str()));
    crate::plain_error!(INTERNAL_ERROR, "panic: {}", text.unwrap_or("unknown payload"))
}

/// Runs `body`. Panics do not unwind in this build: the panic handler does not return.
///
/// # Errors
/// Errors of `body`.
#[cfg(not(feature = "std"))]
pub fn catch<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    body()
}

/// Runs `body` where no error can be returned. A panic is logged and not propagated.
#[cfg(feature = "std")]
pub fn contain_panic(body: impl FnOnce()) {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    if catch_unwind(AssertUnwindSafe(body)).is_err() {
        crate::plain_warn!("a destructor panicked; what it had not yet released is leaked");
    }
}

/// Runs `body`. Panics do not unwind in this build: the panic handler does not return.
#[cfg(not(feature = "std"))]
pub fn contain_panic(body: impl FnOnce()) {
    body();
}
