//! What becomes of an error that a C++ caller of a module slot must hear of.

use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Error;
use ferrite_core::object::ObjectClass;
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::text::Lossy;
use ferrite_core::{log, raised};

/// Throws the error object, whose reference it takes over, as a C++ exception.
pub type ThrowHook = unsafe extern "C-unwind" fn(error: NonNull<TVMFFIObject>);

static THROW: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Installs what throws C++ exceptions, for builds that live beside a C++ runtime.
///
/// Without a hook the error is logged and becomes the raised error of the thread, and the slot gives its
/// empty result.
pub fn set_throw_hook(hook: ThrowHook) {
    THROW.store(hook as *mut (), Ordering::Release);
}

/// Reports an error to the C++ caller. Returns when nothing can throw.
pub(super) fn raise(error: Error) {
    let hook = THROW.load(Ordering::Acquire);
    if hook.is_null() {
        log::warn(format_args!(
            "{} raised by a module slot that C++ called: {}",
            Lossy(error.kind()),
            Lossy(error.message())
        ));
        raised::set(error);
        return;
    }
    // SAFETY: only `set_throw_hook` stores here, and it stores a ThrowHook.
    let hook: ThrowHook = unsafe { core::mem::transmute::<*mut (), ThrowHook>(hook) };
    let error = error.into_object().into_raw();
    // SAFETY: the error is live and its reference is handed over.
    unsafe { hook(error) };
}
