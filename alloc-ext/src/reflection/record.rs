//! Memory layout and creation of objects of reflected classes: a header, then content with Rust's
//! Clone and Drop.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::error::{Result, raised_error};
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::object::{ObjectClass, ObjectRef};

use super::class::Class;

/// A reflected class whose objects this library creates.
///
/// # Safety
/// Every object of the class, and of derived classes, must have a `Content` right after its header,
/// and `class` must be registered under the type key of `Self`. The content must be `repr(C)` and
/// sendable between threads.
pub(crate) unsafe trait Reflected: ObjectClass {
    /// The fields, which follow the header.
    type Content: Clone;

    /// Returns the static description of the class.
    fn class() -> &'static Class;

    /// Creates the content of an object with unset fields.
    ///
    /// # Errors
    /// MemoryError.
    fn empty() -> Result<Self::Content>;
}

/// Memory layout of an object with content `C`.
#[repr(C)]
pub(crate) struct Record<C> {
    pub header: TVMFFIObject,
    pub content: C,
}

// SAFETY: repr(C), header first; `make` and `const` checks of the classes bound the alignment.
unsafe impl<C> ObjectRecord for Record<C> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and has no other reference.
        unsafe { core::ptr::drop_in_place(&raw mut (*this.cast::<Record<C>>()).content) };
    }
}

/// Creates an object with the given content.
///
/// # Errors
/// MemoryError.
pub(crate) fn make<T: Reflected>(content: T::Content) -> Result<T> {
    let type_index = T::class().register_index()?;
    // SAFETY: the allocation has room for the record.
    let init = move |record: *mut Record<T::Content>| unsafe {
        (&raw mut (*record).content).write(content)
    };
    // SAFETY: `init` fills the content; objects of this class have this layout (`Reflected`).
    unsafe {
        object_alloc::allocate(type_index, 0, init).map(|object| T::from_object_unchecked(object))
    }
}

/// Returns a copy of the content of an object.
pub(crate) fn content_of<T: Reflected>(object: &T) -> T::Content {
    let record: *const Record<T::Content> = object.as_object().as_ptr().cast();
    // SAFETY: objects of this class have this layout (`Reflected`), and the reference keeps this
    // one alive.
    unsafe { (*record).content.clone() }
}

/// Implements `__ffi_new__`: creates an object with unset fields.
pub(crate) fn new<T: Reflected>() -> Result<ObjectRef> {
    Ok(make::<T>(T::empty()?)?.into_object())
}

/// Implements `__ffi_shallow_copy__`: creates an object with the same field values.
pub(crate) fn shallow_copy<T: Reflected>(object: T) -> Result<ObjectRef> {
    Ok(make::<T>(content_of(&object))?.into_object())
}

/// Native creator of the class, for type metadata. Returns 0, or -1 with an error raised.
///
/// # Safety
/// `result` must be valid for writing.
pub(crate) unsafe extern "C" fn create<T: Reflected>(result: *mut TVMFFIObjectHandle) -> c_int {
    match new::<T>() {
        Ok(object) => {
            // SAFETY: the caller guarantees the result, which owns the object from here.
            unsafe { result.write(object.into_raw().as_ptr().cast::<c_void>()) };
            0
        }
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}
