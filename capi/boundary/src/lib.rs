//! Helpers shared by the C symbols: argument checks, and conversion of results to status codes.
//!
//! The rules for pointers and handles are those of the C symbols, which the documentation of
//! `ferrite-ffi-capi` states.
#![no_std]

mod installed;
#[cfg_attr(not(feature = "names"), path = "short_wording.rs")]
mod wording;

use core::ffi::{CStr, c_char, c_int};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::Deref;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::error::message::Arg;
use ferrite_core::error::{Error, Result, raised_error};
use ferrite_core::names::type_table;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::platform::unwind;
use ferrite_core::{plain_error, plain_warn};

pub use installed::{ensure_installed, is_installed, set_installed};
pub use wording::{Name, arg};

/// Status code of a successful call.
pub const SUCCESS: c_int = 0;

/// Status code of a failed call, which has raised an error.
pub const FAILURE: c_int = -1;

/// Whether entry points have fast paths. Only speed builds do, since fast paths increase code size.
pub const FAST_PATHS: bool = cfg!(feature = "speed");

/// Runs the body of an entry point. Returns 0 on success. On an error or a panic, raises the error
/// and returns -1.
#[inline]
pub fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    end(unwind::catch(body))
}

/// Converts the result of an entry point into a status code.
#[inline]
fn end(outcome: Result<()>) -> c_int {
    match outcome {
        Ok(()) => SUCCESS,
        Err(error) => fail(error),
    }
}

/// Runs the body of an entry point that returns a status code itself, and has already raised an
/// error if the code is not 0. Errors and panics are handled as by [`status`].
#[inline]
pub fn status_of(body: impl FnOnce() -> Result<c_int>) -> c_int {
    match unwind::catch(body) {
        Ok(status) => status,
        Err(error) => fail(error),
    }
}

/// Runs the body of an entry point that returns a pointer. On an error, raises it and returns null.
#[inline]
pub fn pointer<T>(body: impl FnOnce() -> Result<NonNull<T>>) -> *mut T {
    match unwind::catch(body) {
        Ok(pointer) => pointer.as_ptr(),
        Err(error) => {
            fail(error);
            core::ptr::null_mut()
        }
    }
}

/// Raises an error. Returns -1.
#[cold]
#[inline(never)]
pub fn fail(error: Error) -> c_int {
    raised_error::set(error);
    FAILURE
}

/// Runs the body of an entry point that returns no status code. On an error, raises and logs it,
/// and returns `fallback`.
#[inline]
pub fn logged<T>(fallback: T, body: impl FnOnce() -> Result<T>) -> T {
    match unwind::catch(body) {
        Ok(value) => value,
        Err(error) => {
            log_failure(error);
            fallback
        }
    }
}

#[cold]
fn log_failure(error: Error) {
    plain_warn!("{}: {}", error.kind_bytes(), error.message_bytes());
    raised_error::set(error);
}

/// Checks that a pointer is not null.
///
/// # Errors
/// ValueError for null.
#[inline(always)]
pub fn non_null<T>(pointer: *const T, name: Name) -> Result<NonNull<T>> {
    match NonNull::new(pointer.cast_mut()) {
        Some(pointer) => Ok(pointer),
        None => Err(null_argument(name)),
    }
}

/// Checks that a callback is not null.
///
/// # Errors
/// ValueError for null.
#[inline(always)]
pub fn callback<F>(function: Option<F>, name: Name) -> Result<F> {
    function.ok_or_else(|| null_argument(name))
}

#[cold]
#[inline(never)]
fn null_argument(name: Name) -> Error {
    plain_error!(VALUE_ERROR, "Argument `{}` must not be null", name; "Argument {} is null", name)
}

/// An out-parameter. It is written once, at the end of a function, so that it is unchanged on
/// failure.
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Writes the result. The previous content is not dropped.
    #[inline]
    pub fn write(self, value: T) {
        // SAFETY: contract of `out`: valid for writing a T.
        unsafe { self.0.write(value) }
    }

    /// Returns the destination as uninitialised memory, for a function that writes its result in
    /// place.
    #[inline]
    pub fn place<'a>(self) -> &'a mut MaybeUninit<T> {
        // SAFETY: contract of `out`: valid for writing a T until the symbol returns.
        unsafe { self.0.cast().as_mut() }
    }
}

impl Out<TVMFFIAny> {
    /// Returns the address of the destination, for a function whose input may alias it.
    #[inline]
    pub fn as_ptr(&self) -> *mut TVMFFIAny {
        self.0.as_ptr()
    }
}

impl Out<TVMFFIObjectHandle> {
    /// Writes an owned reference to an object, or null.
    #[inline]
    pub fn write_object<T: ObjectClass>(self, object: Option<T>) {
        self.write(match object {
            Some(object) => object.into_object().into_raw().as_ptr().cast(),
            None => core::ptr::null_mut(),
        });
    }
}

/// Checks that an out-parameter is not null.
///
/// # Errors
/// ValueError for null.
///
/// # Safety
/// `pointer` must be null or valid for writing a `T` until the C symbol returns.
#[inline(always)]
pub unsafe fn out<T>(pointer: *mut T, name: Name) -> Result<Out<T>> {
    non_null(pointer, name).map(Out)
}

/// Writes a result to an optional out-parameter, unless the pointer is null.
///
/// # Safety
/// Same requirements as [`out`].
#[inline(always)]
pub unsafe fn write_optional<T>(pointer: *mut T, result: T) {
    if let Some(place) = NonNull::new(pointer) {
        Out(place).write(result);
    }
}

/// Borrows a struct passed by pointer.
///
/// # Errors
/// ValueError for null.
///
/// # Safety
/// `pointer` must be null or valid for reading a `T` for `'a`.
#[inline(always)]
pub unsafe fn reference<'a, T>(pointer: *const T, name: Name) -> Result<&'a T> {
    // SAFETY: the caller guarantees a non-null pointer.
    non_null(pointer, name).map(|pointer| unsafe { pointer.as_ref() })
}

/// Borrows the content of a byte array.
///
/// # Errors
/// ValueError for a null array, and for null data with a nonzero size.
///
/// # Safety
/// `array` must be null or point to a byte array whose data, unless null, is readable for `'a`.
#[inline(always)]
pub unsafe fn bytes<'a>(array: *const TVMFFIByteArray, name: Name) -> Result<&'a [u8]> {
    // SAFETY: the caller guarantees the array.
    unsafe { check_bytes(array, name).into_result() }
}

/// Result of checking a byte array: its data and size, or null and an error. A struct of two words
/// is returned in registers; a `Result` of the same size would be returned in memory.
struct CheckedBytes(*const u8, *mut TVMFFIObject);

impl CheckedBytes {
    fn content(content: &[u8]) -> CheckedBytes {
        CheckedBytes(content.as_ptr(), core::ptr::without_provenance_mut(content.len()))
    }

    fn refusal(error: Error) -> CheckedBytes {
        CheckedBytes(core::ptr::null(), error.into_object().into_raw().as_ptr())
    }

    /// Converts into a `Result`.
    ///
    /// # Safety
    /// The content must be readable for `'a`.
    #[inline(always)]
    unsafe fn into_result<'a>(self) -> Result<&'a [u8]> {
        // SAFETY: either the caller guarantees the content, or the second word is an error, owned
        // here alone.
        unsafe {
            if self.0.is_null() {
                return Err(Error::from_object_unchecked(ObjectRef::from_raw(
                    NonNull::new_unchecked(self.1),
                )));
            }
            Ok(core::slice::from_raw_parts(self.0, self.1.addr()))
        }
    }
}

/// Checks a byte array for [`bytes`].
///
/// # Safety
/// Same requirements as [`bytes`].
#[inline]
unsafe fn check_bytes(array: *const TVMFFIByteArray, name: Name) -> CheckedBytes {
    // SAFETY: the caller guarantees the array.
    let Some(array) = (unsafe { array.as_ref() }) else {
        return CheckedBytes::refusal(null_argument(name));
    };
    if array.size != 0 && !has_content(array) {
        return CheckedBytes::refusal(impossible_size(name, array.size.into()));
    }
    // SAFETY: the caller guarantees the data.
    CheckedBytes::content(unsafe { array.as_slice() })
}

#[cold]
fn impossible_size(name: Name, size: Arg<'_>) -> Error {
    plain_error!(
        VALUE_ERROR,
        "Argument `{}` has null data or an impossible size of {}",
        name,
        size;
        "Argument {}: no data, or bad size {}",
        name,
        size
    )
}

/// Borrows the content of a byte array. Returns `None` if the array is invalid: null data with a
/// nonzero size, or a size of more than half the address space.
///
/// # Safety
/// The data of the array, unless null, must be readable for `'a`.
#[inline(always)]
pub unsafe fn valid_bytes<'a>(array: &TVMFFIByteArray) -> Option<&'a [u8]> {
    // SAFETY: the caller guarantees the data.
    has_content(array)
        .then(|| unsafe { core::slice::from_raw_parts(array.data.cast(), array.size) })
}

/// Returns `true` if the data is not null and the size is at most half the address space, that is,
/// its top bit is clear.
#[inline(always)]
fn has_content(array: &TVMFFIByteArray) -> bool {
    !array.data.is_null() && array.size.cast_signed() >= 0
}

/// Borrows the content of a C string.
///
/// # Errors
/// ValueError for null.
///
/// # Safety
/// `text` must be null or a null-terminated string that stays readable for `'a`.
#[inline]
pub unsafe fn c_str<'a>(text: *const c_char, name: Name) -> Result<&'a [u8]> {
    non_null(text, name)?;
    // SAFETY: not null; the rest is the caller's promise.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Borrows the content of a C string. A null pointer is an empty string.
///
/// # Safety
/// Same requirements as [`c_str`].
#[inline]
pub unsafe fn c_str_or_empty<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: not null; the rest is the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// Borrows an array of `count` elements.
///
/// # Errors
/// ValueError for a negative count, and for a null pointer with a nonzero count.
///
/// # Safety
/// `first` must be null or point to `count` elements that stay readable for `'a`.
#[inline]
pub unsafe fn slice<'a, T>(first: *const T, count: i32, name: Name) -> Result<&'a [T]> {
    let Ok(count) = usize::try_from(count) else {
        return Err(wording::negative_count(name, count));
    };
    if count == 0 {
        return Ok(&[]);
    }
    non_null(first, name)?;
    // SAFETY: not null; the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(first, count) })
}

/// An object reference borrowed from the caller of the C symbol.
pub struct Borrowed<T>(ManuallyDrop<T>);

impl<T> Deref for Borrowed<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Borrows the object behind a handle as class `T`.
///
/// # Errors
/// ValueError for null, TypeError for an object of another class.
///
/// # Safety
/// `handle` must be null or point to an object that lives until the C symbol returns.
#[inline(always)]
pub unsafe fn object_of<T: ObjectClass>(
    handle: TVMFFIObjectHandle,
    name: Name,
) -> Result<Borrowed<T>> {
    // SAFETY: the caller's promise; the object is alive and of that class.
    unsafe {
        check_class(handle.cast(), name, T::type_index())?;
        Ok(borrow(NonNull::new_unchecked(handle.cast())))
    }
}

/// Borrows an object as class `T`, without checking its class.
///
/// # Safety
/// The object must be of that class and live until the C symbol returns.
#[inline(always)]
unsafe fn borrow<T: ObjectClass>(object: NonNull<TVMFFIObject>) -> Borrowed<T> {
    // SAFETY: the caller guarantees the object; the reference made here is never dropped.
    Borrowed(ManuallyDrop::new(unsafe { T::from_object_unchecked(ObjectRef::from_raw(object)) }))
}

/// Checks that an object is not null and has the expected class.
///
/// # Safety
/// `object` must be null or point to a live object.
#[inline]
unsafe fn check_class(object: *const TVMFFIObject, name: Name, expected: i32) -> Result<()> {
    let object = non_null(object, name)?;
    // SAFETY: the caller guarantees a non-null pointer. Only this field is read, since other
    // threads may change the count.
    let found = unsafe { (*object.as_ptr()).type_index };
    if type_table::is_instance(found, expected) {
        Ok(())
    } else {
        Err(wrong_class(name, expected, found))
    }
}

/// Creates the TypeError for a handle of the wrong class.
#[cold]
pub fn wrong_class(name: Name, expected: i32, found: i32) -> Error {
    plain_error!(
        TYPE_ERROR,
        "Argument `{}` must be of type `{}`, got `{}`",
        name,
        wording::type_name(expected),
        wording::type_name(found);
        "Argument {}: type {} wanted, not {}",
        name,
        wording::type_name(expected),
        wording::type_name(found)
    )
}
