//! How calls are served: where speed counts with the body in line, where size does once for all bodies.

use core::ffi::c_int;
use core::mem::ManuallyDrop;

use super::serve_in_place;
use crate::abi::TVMFFIAny;
use crate::any::{Any, AnyView};
use crate::error::Result;
use crate::fresh;

/// Runs `body` as a safe call does: result out, errors and panics raised.
///
/// The result cell is overwritten without being read: whatever it held is the caller's.
///
/// # Safety
/// `args` and `count` must describe valid cells, unless `count` is negative or `args` null; `result` must be null or
/// valid for writing.
#[inline(always)]
pub unsafe fn serve_safe_call(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
    body: &impl Fn(&[AnyView<'_>]) -> Result<Any>,
) -> c_int {
    // SAFETY: passed on.
    unsafe {
        if cfg!(feature = "std") {
            serve(args, count, result, body)
        } else {
            serve::<dyn Fn(&[AnyView<'_>]) -> Result<Any>>(args, count, result, body)
        }
    }
}

/// # Safety
/// As [`serve_safe_call`].
#[cfg_attr(feature = "std", inline(always))]
#[cfg_attr(not(feature = "std"), inline(never))]
unsafe fn serve<Body: Fn(&[AnyView<'_>]) -> Result<Any> + ?Sized>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
    body: &Body,
) -> c_int {
    let in_place = |args: &[AnyView<'_>], result: *mut TVMFFIAny| {
        let value = ManuallyDrop::new(body(args)?);
        // SAFETY: the result is checked, and the caller vouches for it. The value moves there.
        unsafe { fresh::copy_any(value.as_raw(), result) };
        Ok(())
    };
    // SAFETY: passed on; the body above leaves a value in the result.
    unsafe { serve_in_place(args, count, result, in_place) }
}
