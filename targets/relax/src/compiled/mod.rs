//! Lists of values that the native code of models accesses: implementations of the C symbols `TVMBackendAnyList*`.
//!
//! The lists are arrays of values without bounds checks, as in TVM's machine. Its code may call these functions as well: the
//! dynamic linker binds a library's symbols to whichever runtime comes first.

use core::ffi::c_void;
use core::mem;

use ferrite_core::Any;
use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::{plain_ensure, type_index};

/// Returns the address of an element.
#[inline(always)]
fn place(list: *mut c_void, index: i32) -> Result<*mut TVMFFIAny> {
    plain_ensure!(!list.is_null(), VALUE_ERROR, "The list of values must not be null");
    let index = usize::try_from(index);
    plain_ensure!(index.is_ok(), VALUE_ERROR, "The index of a value must not be negative");
    Ok(list.cast::<TVMFFIAny>().wrapping_add(index.unwrap_or_default()))
}

/// Copies an element into an argument list. The argument borrows the value.
///
/// # Errors
/// ValueError for a null list or a negative index.
///
/// # Safety
/// Both lists must have the given elements.
pub unsafe fn set_packed_arg(list: *mut c_void, index: i32, args: *mut TVMFFIAny, arg: i32) -> Result<()> {
    let (from, to) = (place(list, index)?, place(args.cast(), arg)?);
    // SAFETY: the caller vouches for both; a borrowed value is a copy of its cell.
    unsafe { to.write(from.read()) };
    Ok(())
}

/// Replaces an element by None, and releases its value.
///
/// # Errors
/// Same errors as [`set_packed_arg`].
///
/// # Safety
/// The list must have the element, which must be an owned value.
pub unsafe fn reset_item(list: *mut c_void, index: i32) -> Result<()> {
    let element = place(list, index)?.cast::<Any>();
    // SAFETY: the caller vouches for the element; its destructor runs when the new value is in place.
    drop(unsafe { mem::take(&mut *element) });
    Ok(())
}

/// Moves the result of a call into an element, and releases the element's old value. The result's cell is None afterwards.
///
/// # Errors
/// Same errors as [`set_packed_arg`].
///
/// # Safety
/// Both lists must have the given elements. The result must be an owned value.
pub unsafe fn move_from_packed_return(
    list: *mut c_void,
    index: i32,
    args: *mut TVMFFIAny,
    arg: i32,
) -> Result<()> {
    let (to, from) = (place(list, index)?.cast::<Any>(), place(args.cast(), arg)?);
    // SAFETY: the caller vouches for both.
    unsafe {
        let value = from.replace(TVMFFIAny::NONE);
        // A result that borrows would be a text of C, which functions do not return.
        debug_assert!(value.type_index != type_index::RAW_STR);
        drop(mem::replace(&mut *to, Any::from_raw(value)));
    }
    Ok(())
}
