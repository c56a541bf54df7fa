//! Implementation of the safe-call convention. In speed-optimised builds it is inlined into each
//! body; in size-optimised builds all bodies share one copy.

use core::ffi::c_int;
use core::mem::ManuallyDrop;

use crate::abi::TVMFFIAny;
use crate::error::{Result, raised_error};
use crate::platform::unwind;
use crate::value::any::{Any, AnyView};
use crate::value::store_forwarding;

/// Runs `body` as a safe call: stores its result, and raises its errors and panics. Returns 0, or
/// -1 with an error raised.
///
/// The result cell is overwritten without being read. The caller must have released its previous
/// value.
///
/// # Safety
/// `args` and `count` must describe valid cells, unless `count` is negative or `args` null;
/// `result` must be null or valid for writing.
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

/// Implements [`serve_safe_call`]. One copy for all bodies in size-optimised builds.
///
/// # Safety
/// Same requirements as [`serve_safe_call`].
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
        // SAFETY: the result is not null, and the caller guarantees it. The value moves there.
        unsafe { store_forwarding::copy_any(value.as_raw(), result) };
        Ok(())
    };
    // SAFETY: passed on; the body above leaves a value in the result.
    unsafe { serve_in_place(args, count, result, in_place) }
}

/// Runs `body` as [`serve_safe_call`] does, but lets it write its result to the cell itself. The
/// cell passed to `body` is never null.
///
/// # Safety
/// The requirements of [`serve_safe_call`]. If `body` succeeds, it must leave an owned value in the
/// cell.
#[inline(always)]
pub unsafe fn serve_in_place(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
    body: impl FnOnce(&[AnyView<'_>], *mut TVMFFIAny) -> Result<()>,
) -> c_int {
    // SAFETY: the caller guarantees the cells.
    let outcome = unwind::catch(|| body(unsafe { checked_args(args, count, result) }?, result));
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}

/// Checks the arguments of a safe call and borrows them as views.
///
/// # Errors
/// ValueError for a null result pointer, a negative count, or null arguments with a positive count.
///
/// # Safety
/// Same requirements as [`serve_safe_call`].
#[inline(always)]
unsafe fn checked_args<'a>(
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> Result<&'a [AnyView<'a>]> {
    if count >= 0 && !args.is_null() && !result.is_null() {
        // SAFETY: the caller guarantees the cells; a view is transparent over one.
        return Ok(unsafe { core::slice::from_raw_parts(args.cast(), count as usize) });
    }
    find_fault(args, count, result).map(|()| &[] as &[_])
}

/// Returns the error for the invalid argument of a safe call. A null argument list with a count of
/// zero is valid.
#[cold]
#[inline(never)]
fn find_fault(args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> Result<()> {
    crate::plain_ensure!(
        !result.is_null(),
        VALUE_ERROR,
        "The result pointer of a call must not be null"
    );
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
