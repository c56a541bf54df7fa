//! Detached threads of Windows.

use core::ffi::c_void;
use core::ptr;

use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Threading::{CreateThread, STACK_SIZE_PARAM_IS_A_RESERVATION};

use super::{Body, LEAST_STACK_BYTES};

/// Starts a detached thread. Returns `false` on failure.
///
/// # Safety
/// `B` must accept `argument` on another thread.
pub(in super::super) unsafe fn start<B: Body>(argument: *mut c_void) -> bool {
    let flags = STACK_SIZE_PARAM_IS_A_RESERVATION;
    // SAFETY: null stands for the default attributes, and for no place for the identifier; the
    // caller guarantees the argument.
    unsafe {
        let thread = CreateThread(
            ptr::null(),
            LEAST_STACK_BYTES,
            Some(enter::<B>),
            argument,
            flags,
            ptr::null_mut(),
        );
        !thread.is_null() && CloseHandle(thread) != 0
    }
}

unsafe extern "system" fn enter<B: Body>(argument: *mut c_void) -> u32 {
    // SAFETY: the caller of `start` guarantees the argument.
    unsafe { B::run(argument) };
    0
}
