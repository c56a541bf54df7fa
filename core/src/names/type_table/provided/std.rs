//! The library's own types beyond the built-in ones. They are registered when a type is first
//! looked up, so that programs that only call functions do not pay for them.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::call::init_once::IN_PROGRESS;
use crate::call::init_once::in_progress;
use crate::error::Result;

use super::super::library_members;

/// Function that registers the library's types and attributes that are not registered yet. Called
/// again if it fails.
pub type TypeProvider = fn() -> Result<()>;

/// The installed provider; null before [`provide`].
static PROVIDER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Non-null once the provider has succeeded.
static DONE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Installs the provider. Must be called before types are looked up. Repeating the call with the
/// same provider has no effect.
///
/// # Threads
/// One atomic store.
pub fn provide(provider: TypeProvider) {
    PROVIDER.store(provider as *mut c_void, Ordering::Release);
}

/// Returns `true` if the provider has registered its types.
#[inline(always)]
pub fn is_provided() -> bool {
    !DONE.load(Ordering::Acquire).is_null()
}

/// Returns `true` if types or attributes of the library may be missing, because its provider ran
/// out of memory or is running.
#[cold]
pub fn lacks_provided() -> bool {
    !is_provided() && !PROVIDER.load(Ordering::Relaxed).is_null()
}

/// Runs the provider unless it has already succeeded. If it fails for lack of memory, the next
/// caller tries again.
///
/// # Threads
/// If several threads call this concurrently, one runs the provider and the others wait for it.
/// Lookups by the provider itself do not wait. A child process that is forked meanwhile runs the
/// provider again, which adds the missing types.
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
    // A nested call is not a failure, and a lack of memory shows at the lookup of a missing type.
    let _ = in_progress::init(&IN_PROGRESS, &DONE, |done| {
        match library_members::run_as_library(provider) {
            Ok(()) => {
                // SAFETY: `init` passes a valid result pointer; the handle is any non-null address.
                unsafe { done.write((&raw const DONE).cast_mut().cast()) };
                0
            }
            Err(_) => -1,
        }
    });
}
