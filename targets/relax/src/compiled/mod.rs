//! Lists of values that the native code of models accesses: implementations of the C symbols
//! `TVMBackendAnyList*`.
//!
//! The lists are arrays of values, as in TVM's machine. Its code may call these functions as well:
//! the dynamic linker binds a library's symbols to whichever runtime comes first. Lists of this
//! crate know their length (`list`).
//!
//! Generated code ignores the status of these functions. After an access to a value that does not
//! exist, an argument is None, a result is dropped, and the machine reports the error when the code
//! returns.

#[cfg_attr(feature = "all-builtins", path = "list/checked.rs")]
#[cfg_attr(not(feature = "all-builtins"), path = "list/unchecked.rs")]
mod list;

pub(crate) use list::{ValueList, limit, set_machine, take_failures};

use core::ffi::c_void;
use core::mem;

use ferrite_core::Any;
use ferrite_core::abi::{TVMFFIAny, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::{plain_ensure, plain_error};

use crate::machine::result_needs_check;

/// Returns the address of an element; `None` if the list is one of this crate, and does not have
/// it.
///
/// # Errors
/// ValueError for a null list, and for a negative index into a list of another runtime.
///
/// # Safety
/// The list must have the element if it is one of another runtime.
#[inline(always)]
unsafe fn place(list: *mut c_void, index: i32) -> Result<Option<*mut TVMFFIAny>> {
    // SAFETY: contract of this function.
    match unsafe { list::length(list) } {
        Some(len) if index.cast_unsigned() >= len => {
            // SAFETY: the list is one of this crate.
            unsafe { list::note_failure(list) };
            Ok(None)
        }
        Some(_) => Ok(Some(list.cast::<TVMFFIAny>().wrapping_add(index as usize))),
        None => argument(list.cast(), index).map(Some),
    }
}

/// Returns the address of an argument, or of an element of a list of another runtime.
#[inline(always)]
fn argument(args: *mut TVMFFIAny, index: i32) -> Result<*mut TVMFFIAny> {
    plain_ensure!(!args.is_null(), VALUE_ERROR, "The list of values must not be null");
    let index = usize::try_from(index);
    plain_ensure!(index.is_ok(), VALUE_ERROR, "The index of a value must not be negative");
    Ok(args.wrapping_add(index.unwrap_or_default()))
}

#[cold]
fn out_of_range(index: i32) -> Error {
    plain_error!(VALUE_ERROR, "The list has no value {}", index)
}

/// Copies an element into an argument list. The argument borrows the value; it is None if the list
/// has no such element.
///
/// # Errors
/// ValueError for a null list, a negative index, and an index out of range for a list of this
/// crate.
///
/// # Safety
/// Lists that are not of this crate must have the given elements.
pub unsafe fn set_packed_arg(
    list: *mut c_void,
    index: i32,
    args: *mut TVMFFIAny,
    arg: i32,
) -> Result<()> {
    // SAFETY: the caller guarantees both; a borrowed value is a copy of its cell.
    unsafe {
        let to = argument(args, arg)?;
        let Some(from) = place(list, index)? else {
            to.write(TVMFFIAny::NONE);
            return Err(out_of_range(index));
        };
        to.write(from.read());
    }
    Ok(())
}

/// Replaces an element by None, and releases its value.
///
/// # Errors
/// Same errors as [`set_packed_arg`].
///
/// # Safety
/// The list must have the element, which must be an owned value, unless it is a list of this crate.
pub unsafe fn reset_item(list: *mut c_void, index: i32) -> Result<()> {
    // SAFETY: the caller guarantees the element; its destructor runs when the new value is in
    // place.
    unsafe {
        let Some(element) = place(list, index)? else { return Err(out_of_range(index)) };
        drop(mem::take(&mut *element.cast::<Any>()));
    }
    Ok(())
}

/// Moves the result of a call into an element, and releases the element's old value. The result's
/// cell is None afterwards. The result is released if the list has no such element. Tensors that
/// kernels cannot use are copied if the list is one of this crate.
///
/// # Errors
/// Same errors as [`set_packed_arg`]; MemoryError.
///
/// # Safety
/// Lists that are not of this crate must have the given elements. The result must be an owned
/// value.
pub unsafe fn move_from_packed_return(
    list: *mut c_void,
    index: i32,
    args: *mut TVMFFIAny,
    arg: i32,
) -> Result<()> {
    // SAFETY: the caller guarantees both.
    unsafe {
        let from = argument(args, arg)?;
        let Some(to) = place(list, index)? else { return release(from, index) };
        // A result that borrows would be a text of C, which functions do not return.
        debug_assert!((*from).type_index != type_index::RAW_STR);
        // Looked at where it is, which takes fewer instructions.
        if result_needs_check(&*from.cast::<Any>()) {
            return move_usable(list, to, from);
        }
        let value = mem::take(&mut *from.cast::<Any>());
        drop(mem::replace(&mut *to.cast::<Any>(), value));
    }
    Ok(())
}

/// Releases a result whose element the list does not have, and returns the error.
///
/// # Safety
/// The result must be an owned value.
#[cold]
#[inline(never)]
unsafe fn release(from: *mut TVMFFIAny, index: i32) -> Result<()> {
    // SAFETY: contract of this function.
    drop(unsafe { mem::take(&mut *from.cast::<Any>()) });
    Err(out_of_range(index))
}

/// Moves a result into an element of a list, with tensors that kernels can use. The result's cell
/// is None afterwards.
///
/// # Safety
/// The element must be one of the list; both must be owned values. A list of this crate must be one
/// that a machine passed to native code that still runs.
#[cold]
#[inline(never)]
unsafe fn move_usable(
    list: *mut c_void,
    element: *mut TVMFFIAny,
    from: *mut TVMFFIAny,
) -> Result<()> {
    // SAFETY: contract of this function; a list with a length is one of this crate.
    unsafe {
        let result = mem::take(&mut *from.cast::<Any>());
        let machine = if list::length(list).is_some() { list::machine(list) } else { None };
        let result = match machine {
            // The code ignores the error, which the machine returns in its place.
            Some(machine) => {
                machine.align_result(result).inspect_err(|_| list::note_failure(list))?
            }
            None => result,
        };
        drop(mem::replace(&mut *element.cast::<Any>(), result));
    }
    Ok(())
}
