//! Types that the library itself registers beyond the static tables, when a type is first looked up: programs that only
//! call functions do not pay for them.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::error::Result;
use crate::init_once::IN_PROGRESS;
use crate::init_once::in_progress;

use super::super::library_members;

/// A function that registers types and attributes that are not registered yet. It may run again after a failure.
pub type TypeProvider = fn() -> Result<()>;

/// The provider; null before [`provide`].
static PROVIDER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Not null when the provider has done its work.
static DONE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Sets the function that registers the library's own types. To be called before types are looked up; calling it again
/// with the same one changes nothing.
///
/// # Threads
/// One atomic store.
pub fn provide(provider: TypeProvider) {
    PROVIDER.store(provider as *mut c_void, Ordering::Release);
}

/// Whether the provider has registered its types.
#[inline(always)]
pub fn is_provided() -> bool {
    !DONE.load(Ordering::Acquire).is_null()
}

/// Runs the provider unless it has succeeded. When memory is refused, the next caller tries again.
///
/// # Threads
/// Of several callers one runs the provider, and the others wait for it. What the provider calls does not wait for itself. A
/// child that was forked meanwhile runs it again and adds what is missing.
#[inline(always)]
pub fn ensure_provided() {
    if !is_provided() {
        run_provider();
    }
}

#[cold]
#[inline(never)]
fn run_provider() {
    let provider = PROVIDER.load(Ordering::Acquire);
    if provider.is_null() {
        return;
    }
    // SAFETY: only `provide` stores there.
    let provider = unsafe { core::mem::transmute::<*mut c_void, TypeProvider>(provider) };
    // That this thread is at it already is no failure, and a refusal of memory shows where something is missing.
    let _ = in_progress::init(&IN_PROGRESS, &DONE, |done| match library_members::run_as_library(provider) {
        Ok(()) => {
            // SAFETY: `init` passes a place for the handle, which is any address but null.
            unsafe { done.write((&raw const DONE).cast_mut().cast()) };
            0
        }
        Err(_) => -1,
    });
}
