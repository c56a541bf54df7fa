//! How calls are served: where speed counts with the body in line, where size does once for all bodies.

use core::ffi::c_int;
use core::mem::ManuallyDrop;

use crate::abi::TVMFFIAny;
use crate::any::{Any, AnyView};
use crate::error::Result;
use crate::{raised_error, store_forwarding, unwind};

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
        if cfg!(feature = "speed") {
            serve(args, count, result, body)
        } else {
            serve::<dyn Fn(&[AnyView<'_>]) -> Result<Any>>(args, count, result, body)
        }
    }
}

/// # Safety
/// As [`serve_safe_call`].
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn serve<Body: Fn(&[AnyView<'_>]) -> Result<Any> + ?Sized>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
    body: &Body,
) -> c_int {
    let in_place = |args: &[AnyView<'_>], result: *mut TVMFFIAny| {
        let value = ManuallyDrop::new(body(args)?);
        // SAFETY: the result is checked, and the caller vouches for it. The value moves there.
        unsafe { store_forwarding::copy_any(value.as_raw(), result) };
        Ok(())
    };
    // SAFETY: passed on; the body above leaves a value in the result.
    unsafe { serve_in_place(args, count, result, in_place) }
}

/// As [`serve_safe_call`], for a body that puts its result into the cell itself. The cell is not null.
///
/// # Safety
/// As [`serve_safe_call`]; a body that succeeds leaves an owned value in the cell.
#[cfg_attr(feature = "speed", inline(always))]
pub unsafe fn serve_in_place(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
    body: impl FnOnce(&[AnyView<'_>], *mut TVMFFIAny) -> Result<()>,
) -> c_int {
    // SAFETY: the caller vouches for the cells.
    let outcome = unwind::catch(|| body(unsafe { checked_args(args, count, result) }?, result));
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}

/// The arguments of a call with nothing wrong.
///
/// # Safety
/// As [`serve_safe_call`].
#[inline(always)]
unsafe fn checked_args<'a>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> Result<&'a [AnyView<'a>]> {
    if count >= 0 && !args.is_null() && !result.is_null() {
        // SAFETY: the caller vouches for the cells; a view is transparent over one.
        return Ok(unsafe { core::slice::from_raw_parts(args.cast(), count as usize) });
    }
    find_fault(args, count, result).map(|()| &[] as &[_])
}

/// What is wrong with a call; nothing when it only has no arguments.
#[cold]
#[inline(never)]
fn find_fault(args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> Result<()> {
    crate::plain_ensure!(!result.is_null(), VALUE_ERROR, "The result pointer of a call must not be null");
    crate::plain_ensure!(
        count >= 0,
        VALUE_ERROR,
        "The number of arguments must not be negative, got {}",
        count
    );
    crate::plain_ensure!(
        count == 0 || !args.is_null(),
        VALUE_ERROR,
        "The arguments of a call must not be null when there are {}",
        count
    );
    Ok(())
}
