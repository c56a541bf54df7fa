//! Objects of reflected classes: the header, then content that clones and drops as Rust values do.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::raised_error;

use super::class::Class;

/// A class whose objects this library makes.
///
/// # Safety
/// Every object of the class, and of classes derived from it, holds a `Content` right after its header, and `class` is
/// registered under the type key of `Self`. The content must be `repr(C)` and sendable between threads.
pub(crate) unsafe trait Reflected: ObjectClass {
    /// What follows the header.
    type Content: Clone;

    /// The registration of the class.
    fn class() -> &'static Class;

    /// The content of an object whose fields are still to be set.
    ///
    /// # Errors
    /// MemoryError.
    fn empty() -> Result<Self::Content>;
}

/// The memory of an object with content `C`.
#[repr(C)]
pub(crate) struct Record<C> {
    pub header: TVMFFIObject,
    pub content: C,
}

// SAFETY: repr(C), header first; `make` and `const` checks of the classes bound the alignment.
unsafe impl<C> ObjectRecord for Record<C> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { core::ptr::drop_in_place(&raw mut (*this.cast::<Record<C>>()).content) };
    }
}

/// Makes an object.
///
/// # Errors
/// MemoryError.
pub(crate) fn make<T: Reflected>(content: T::Content) -> Result<T> {
    let type_index = T::class().register_index()?;
    let mut content = Some(content);
    let init = |record: *mut Record<T::Content>| {
        if let Some(content) = content.take() {
            // SAFETY: the allocation has room for the record.
            unsafe { (&raw mut (*record).content).write(content) };
        }
    };
    // SAFETY: `init` runs once and fills the content; objects of this class have this layout (`Reflected`).
    unsafe { object_alloc::allocate(type_index, 0, init).map(|object| T::from_object_unchecked(object)) }
}

/// A copy of what an object holds now.
pub(crate) fn content_of<T: Reflected>(object: &T) -> T::Content {
    let record: *const Record<T::Content> = object.as_object().as_ptr().cast();
    // SAFETY: objects of this class have this layout (`Reflected`), and the reference keeps this one alive.
    unsafe { (*record).content.clone() }
}

/// `__ffi_new__`: an object whose fields are still to be set.
pub(crate) fn new<T: Reflected>() -> Result<ObjectRef> {
    Ok(make::<T>(T::empty()?)?.into_object())
}

/// `__ffi_shallow_copy__`: an object that shares what the fields refer to.
pub(crate) fn shallow_copy<T: Reflected>(object: T) -> Result<ObjectRef> {
    Ok(make::<T>(content_of(&object))?.into_object())
}

/// The creator of the class, as type metadata holds it.
///
/// # Safety
/// `result` must be valid for a write.
pub(crate) unsafe extern "C" fn create<T: Reflected>(result: *mut TVMFFIObjectHandle) -> c_int {
    match new::<T>() {
        Ok(object) => {
            // SAFETY: the caller vouches for the result, which owns the object from here.
            unsafe { result.write(object.into_raw().as_ptr().cast::<c_void>()) };
            0
        }
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}
