//! Argument checks, and the way from results to status codes: the only helpers of the C surface.

#[cfg_attr(any(feature = "speed", feature = "alloc"), path = "boundary/wording.rs")]
#[cfg_attr(not(any(feature = "speed", feature = "alloc")), path = "boundary/short_wording.rs")]
mod wording;

use core::ffi::{CStr, c_char, c_int};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::Deref;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::error::{Error, Result};
use ferrite_core::message::Arg;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::{plain_error, plain_warn, raised_error, type_table, unwind};

pub(crate) use wording::{Name, arg};

/// The status of a call that did what it should.
pub(crate) const SUCCESS: c_int = 0;

/// The status of a call that left a raised error.
pub(crate) const FAILURE: c_int = -1;

/// Whether entry points do what is asked most often before all else. That takes code, for which hosts have room.
pub(crate) const SHORT_CUTS: bool = cfg!(feature = "speed");

/// Runs the body of an entry point: success is 0, an error or a panic is raised and -1.
#[inline]
pub(crate) fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    end(unwind::catch(body))
}

/// How every entry point ends: once for all of them where size counts.
#[cfg_attr(feature = "speed", inline)]
#[cfg_attr(not(feature = "speed"), inline(never))]
fn end(outcome: Result<()>) -> c_int {
    match outcome {
        Ok(()) => SUCCESS,
        Err(error) => fail(error),
    }
}

/// As [`status`], for a body that has a status itself, with the error already raised when that is not 0.
#[inline]
pub(crate) fn status_of(body: impl FnOnce() -> Result<c_int>) -> c_int {
    match unwind::catch(body) {
        Ok(status) => status,
        Err(error) => fail(error),
    }
}

/// Runs the body of an entry point that gives a pointer: on an error, which is raised, null.
#[inline]
#[cfg_attr(not(feature = "backend"), expect(dead_code, reason = "only that section gives pointers"))]
pub(crate) fn pointer<T>(body: impl FnOnce() -> Result<NonNull<T>>) -> *mut T {
    match unwind::catch(body) {
        Ok(pointer) => pointer.as_ptr(),
        Err(error) => {
            fail(error);
            core::ptr::null_mut()
        }
    }
}

/// Raises `error` and gives the status that says so.
#[cold]
#[cfg_attr(feature = "speed", inline(never))]
#[cfg_attr(not(feature = "speed"), inline(always))]
pub(crate) fn fail(error: Error) -> c_int {
    raised_error::set(error);
    FAILURE
}

/// Runs the body of an entry point that has no status: an error is logged, stays raised, and the fallback is returned.
#[inline]
pub(crate) fn logged<T>(fallback: T, body: impl FnOnce() -> Result<T>) -> T {
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
    plain_warn!("{}: {}", error.kind(), error.message());
    raised_error::set(error);
}

/// Refuses a null pointer.
#[inline(always)]
pub(crate) fn non_null<T>(pointer: *const T, name: Name) -> Result<NonNull<T>> {
    match NonNull::new(pointer.cast_mut()) {
        Some(pointer) => Ok(pointer),
        None => Err(null_argument(name)),
    }
}

/// Refuses an absent callback.
#[inline(always)]
pub(crate) fn callback<F>(function: Option<F>, name: Name) -> Result<F> {
    function.ok_or_else(|| null_argument(name))
}

#[cold]
#[inline(never)]
fn null_argument(name: Name) -> Error {
    plain_error!(VALUE_ERROR, "Argument `{}` must not be null", name; "Argument {} is null", name)
}

/// Where a result goes; written once, at the end, so that failure leaves it alone.
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Stores the result. What was there is not dropped.
    #[inline]
    pub(crate) fn write(self, value: T) {
        // SAFETY: `out` was promised a place to write a T.
        unsafe { self.0.write(value) }
    }

    /// The place, for what stores its result itself.
    #[inline]
    pub(crate) fn place<'a>(self) -> &'a mut MaybeUninit<T> {
        // SAFETY: `out` was promised a place to write a T until the symbol returns.
        unsafe { self.0.cast().as_mut() }
    }
}

impl Out<TVMFFIAny> {
    /// The place, for a result that is made of what may lie there.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut TVMFFIAny {
        self.0.as_ptr()
    }
}

impl Out<TVMFFIObjectHandle> {
    /// Stores an object, or null; the caller of the symbol owns the reference.
    #[inline]
    pub(crate) fn write_object<T: ObjectClass>(self, object: Option<T>) {
        self.write(match object {
            Some(object) => object.into_object().into_raw().as_ptr().cast(),
            None => core::ptr::null_mut(),
        });
    }
}

/// An out-parameter; null is refused.
///
/// # Safety
/// `pointer` is null or valid for writing a `T` until the symbol returns.
#[inline(always)]
pub(crate) unsafe fn out<T>(pointer: *mut T, name: Name) -> Result<Out<T>> {
    non_null(pointer, name).map(Out)
}

/// Stores a result where an out-parameter says, if it is not null.
///
/// # Safety
/// As for [`out`].
#[inline(always)]
#[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "only the environment has such parameters"))]
pub(crate) unsafe fn write_optional<T>(pointer: *mut T, result: T) {
    if let Some(place) = NonNull::new(pointer) {
        Out(place).write(result);
    }
}

/// A record passed by pointer; null is refused.
///
/// # Safety
/// `pointer` is null or valid for reading a `T` for `'a`.
#[inline(always)]
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, name: Name) -> Result<&'a T> {
    // SAFETY: the caller vouches for what is not null.
    non_null(pointer, name).map(|pointer| unsafe { pointer.as_ref() })
}

/// The content of a byte array; a null array, and null data with a size, are refused.
///
/// # Safety
/// `array` is null or points to a byte array whose data, unless null, is readable for `'a`.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(array: *const TVMFFIByteArray, name: Name) -> Result<&'a [u8]> {
    // SAFETY: the caller vouches for the array.
    unsafe { look_at(array, name).into_result() }
}

/// What a byte array was found to be: its data and their size, or null and an error. Two words go in registers, where a result
/// of the same size would go through memory.
struct Found(*const u8, *mut TVMFFIObject);

impl Found {
    fn content(content: &[u8]) -> Found {
        Found(content.as_ptr(), core::ptr::without_provenance_mut(content.len()))
    }

    fn refusal(error: Error) -> Found {
        Found(core::ptr::null(), error.into_object().into_raw().as_ptr())
    }

    /// # Safety
    /// The content is readable for `'a`.
    #[inline(always)]
    unsafe fn into_result<'a>(self) -> Result<&'a [u8]> {
        // SAFETY: either the caller vouches for the content, or the other word is an error, which nobody else owns.
        unsafe {
            if self.0.is_null() {
                return Err(Error::from_object_unchecked(ObjectRef::from_raw(NonNull::new_unchecked(
                    self.1,
                ))));
            }
            Ok(core::slice::from_raw_parts(self.0, self.1.addr()))
        }
    }
}

/// As [`bytes`]. Once for all arrays where size counts.
///
/// # Safety
/// As for [`bytes`].
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn look_at(array: *const TVMFFIByteArray, name: Name) -> Found {
    // SAFETY: the caller vouches for the array.
    let Some(array) = (unsafe { array.as_ref() }) else {
        return Found::refusal(null_argument(name));
    };
    if array.size != 0 && !has_content(array) {
        return Found::refusal(impossible_size(name, array.size.into()));
    }
    // SAFETY: the caller vouches for the data.
    Found::content(unsafe { array.as_slice() })
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

/// The content of a byte array that makes sense.
///
/// # Safety
/// The data of the array, unless null, is readable for `'a`.
#[inline(always)]
pub(crate) unsafe fn sound_bytes<'a>(array: &TVMFFIByteArray) -> Option<&'a [u8]> {
    // SAFETY: the caller vouches for the data.
    has_content(array).then(|| unsafe { core::slice::from_raw_parts(array.data.cast(), array.size) })
}

/// Whether there is data of a size that memory can have: sizes beyond half the address space have the top bit set.
#[inline(always)]
fn has_content(array: &TVMFFIByteArray) -> bool {
    !array.data.is_null() && array.size.cast_signed() >= 0
}

/// The content of a C string; null is refused.
///
/// # Safety
/// `text` is null or a zero-terminated string that stays readable for `'a`.
#[inline]
#[cfg_attr(
    not(any(feature = "alloc", feature = "model")),
    expect(dead_code, reason = "only the environment and models take names this way")
)]
pub(crate) unsafe fn c_str<'a>(text: *const c_char, name: Name) -> Result<&'a [u8]> {
    non_null(text, name)?;
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The content of a C string; null is empty.
///
/// # Safety
/// As for [`c_str`].
#[inline]
pub(crate) unsafe fn c_str_or_empty<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// `count` records in a row; a negative count, and null with a count, are refused.
///
/// # Safety
/// `first` is null or points to `count` records that stay readable for `'a`.
#[inline]
pub(crate) unsafe fn slice<'a, T>(first: *const T, count: i32, name: Name) -> Result<&'a [T]> {
    let Ok(count) = usize::try_from(count) else {
        return Err(wording::negative_count(name, count));
    };
    if count == 0 {
        return Ok(&[]);
    }
    non_null(first, name)?;
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { core::slice::from_raw_parts(first, count) })
}

/// A reference that the caller of the symbol keeps owning.
pub(crate) struct Borrowed<T>(ManuallyDrop<T>);

impl<T> Deref for Borrowed<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// The object of a handle, as class `T`; null and other classes are refused.
///
/// # Safety
/// `handle` is null or points to an object that lives until the symbol returns.
#[inline(always)]
pub(crate) unsafe fn object_of<T: ObjectClass>(
    handle: TVMFFIObjectHandle,
    name: Name,
) -> Result<Borrowed<T>> {
    // SAFETY: as the caller vouches; the object is alive and of that class.
    unsafe {
        check_class(handle.cast(), name, T::type_index())?;
        Ok(borrow(NonNull::new_unchecked(handle.cast())))
    }
}

/// Lends an object as class `T`.
///
/// # Safety
/// The object is of that class and lives until the symbol returns.
#[inline(always)]
unsafe fn borrow<T: ObjectClass>(object: NonNull<TVMFFIObject>) -> Borrowed<T> {
    // SAFETY: the caller vouches for the object; the reference made here is never dropped.
    Borrowed(ManuallyDrop::new(unsafe { T::from_object_unchecked(ObjectRef::from_raw(object)) }))
}

/// Refuses null and objects of other classes. Once for all classes where size counts.
///
/// # Safety
/// `object` is null or points to a live object.
#[cfg_attr(feature = "speed", inline)]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn check_class(object: *const TVMFFIObject, name: Name, expected: i32) -> Result<()> {
    let object = non_null(object, name)?;
    // SAFETY: the caller vouches for what is not null. Only this field is read: other threads count meanwhile.
    let found = unsafe { (*object.as_ptr()).type_index };
    if type_table::is_instance(found, expected) { Ok(()) } else { Err(wrong_class(name, expected, found)) }
}

/// The TypeError for a handle of the wrong class.
#[cold]
pub(crate) fn wrong_class(name: Name, expected: i32, found: i32) -> Error {
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
