//! Handling of panics at the boundary to C: they are caught in builds that unwind, and abort in
//! other builds.
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
use crate::platform::log;

/// Runs `body` and converts a panic into an error: an InternalError, if the error is the library's
/// [`Error`](crate::error::Error).
///
/// # Errors
/// Errors of `body`; an error with the panic's message if `body` panics.
#[cfg(feature = "std")]
#[inline(always)]
pub fn catch<T, E: From<Panic>>(body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    // An interrupted operation can only leave its own objects inconsistent, and the error tells the
    // caller to drop them.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(Panic(Some(payload)).into()))
}

/// A caught panic.
#[cfg(feature = "std")]
pub struct Panic(Option<PanicPayload>);

/// Uninhabited type: this build catches no panics.
#[cfg(not(feature = "std"))]
pub enum Panic {}

impl Panic {
    /// Returns the message, or `unknown payload` if the panic carries something else.
    #[cfg(feature = "std")]
    pub fn message(&self) -> &str {
        let Some(payload) = &self.0 else { return "" };
        let text = payload.downcast_ref::<&str>().copied();
        let text = text
            .or_else(|| payload.downcast_ref::<std::string::String>().map(|text| text.as_str()));
        text.unwrap_or("unknown payload")
    }

    /// Returns the message.
    #[cfg(not(feature = "std"))]
    pub fn message(&self) -> &str {
        match *self {}
    }
}

#[cfg(feature = "std")]
impl Drop for Panic {
    fn drop(&mut self) {
        if let Some(payload) = self.0.take() {
            discard(payload);
        }
    }
}

/// Value that a panic carries.
#[cfg(feature = "std")]
type PanicPayload = std::boxed::Box<dyn core::any::Any + Send>;

/// Drops a panic payload. If its destructor panics, the payload of that panic is leaked, since its
/// destructor may panic again.
#[cfg(feature = "std")]
fn discard(payload: PanicPayload) {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(second);
    }
}

/// Runs `body`. Panics do not unwind in this build: the panic handler does not return.
///
/// # Errors
/// Errors of `body`.
#[cfg(not(feature = "std"))]
pub fn catch<T, E: From<Panic>>(body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    body()
}

/// Runs `body` where no error can be returned. A panic is logged and not propagated.
#[cfg(feature = "std")]
pub fn contain_panic(body: impl FnOnce()) {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        discard(payload);
        log::write(b"a destructor panicked; what it had not yet released is leaked\n");
    }
}

/// Runs `body`. Panics do not unwind in this build: the panic handler does not return.
#[cfg(not(feature = "std"))]
pub fn contain_panic(body: impl FnOnce()) {
    body();
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::Result;

    /// Number of destructors that still panic.
    static LEFT: AtomicUsize = AtomicUsize::new(0);

    /// Payload whose destructor panics with another one. It has no size, so that nothing of it can
    /// leak.
    struct Chain;

    impl Drop for Chain {
        fn drop(&mut self) {
            if LEFT.load(Ordering::Relaxed) > 0 {
                LEFT.fetch_sub(1, Ordering::Relaxed);
                std::panic::resume_unwind(std::boxed::Box::new(Chain));
            }
        }
    }

    fn panic_with_chain() -> Result<()> {
        LEFT.store(2, Ordering::Relaxed);
        std::panic::resume_unwind(std::boxed::Box::new(Chain))
    }

    #[test]
    fn payloads_whose_destructor_panics_do_not_escape() {
        assert_eq!(catch(panic_with_chain).unwrap_err().message_bytes(), b"panic: unknown payload");
        contain_panic(|| panic_with_chain().unwrap_or_default());
    }
}
