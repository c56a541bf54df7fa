//! The installation of the built-ins, by the library that this crate is part of.

use core::ffi::c_int;
use core::ptr;

use ferrite_core::abi::{TVMFFIByteArray, TVMFFIObjectHandle};
use ferrite_core::platform::sync::atomic::{AtomicBool, Ordering};

static INSTALLED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn TVMFFIFunctionGetGlobal(name: *const TVMFFIByteArray, out: *mut TVMFFIObjectHandle)
    -> c_int;
}

/// Returns `true` if the library has installed its built-ins.
#[inline(always)]
pub fn is_installed() -> bool {
    INSTALLED.load(Ordering::Acquire)
}

/// Records that the library has installed its built-ins.
#[inline]
pub fn set_installed() {
    INSTALLED.store(true, Ordering::Release);
}

/// Installs the library's built-ins unless they are installed. Symbols outside the installing
/// package call this: the program may have called no other symbol, and no load-time constructor may
/// have run.
#[inline]
pub fn ensure_installed() {
    if !is_installed() {
        install();
    }
}

/// Installs the built-ins by looking up an empty name.
#[cold]
fn install() {
    let name = TVMFFIByteArray { data: ptr::null(), size: 0 };
    let mut out = ptr::null_mut();
    // SAFETY: both pointers are valid. No function has an empty name, so `out` stays null.
    unsafe { TVMFFIFunctionGetGlobal(&name, &mut out) };
}
