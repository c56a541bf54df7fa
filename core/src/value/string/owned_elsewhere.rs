//! Bytes objects over content that another value owns.

use core::ptr;

use super::{Bytes, SMALL_MAX};
use crate::abi::{TVMFFIByteArray, TVMFFIObject, type_index};
use crate::error::Result;
use crate::object::object_alloc::{self, ObjectRecord};

/// Record of a bytes object whose content `owner` owns.
#[repr(C)]
struct SharedRecord<T> {
    header: TVMFFIObject,
    array: TVMFFIByteArray,
    owner: T,
}

// SAFETY: repr(C), header first; the owner is dropped once, when the object is destroyed.
unsafe impl<T> ObjectRecord for SharedRecord<T> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is alive until its destruction ends.
        unsafe { ptr::drop_in_place(&raw mut (*this.cast::<Self>()).owner) }
    }
}

impl Bytes {
    /// Creates a bytes value over the content of `owner`, which it keeps. Only content of at most
    /// seven bytes is copied. No NUL follows the content, unlike in other bytes values.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Bytes;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let weights = vec![1u8; 100];
    /// let start = weights.as_ptr();
    /// assert_eq!(Bytes::from_owner(weights)?.as_ptr(), start);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError.
    pub fn from_owner<T: AsRef<[u8]> + Send + Sync + 'static>(owner: T) -> Result<Bytes> {
        if owner.as_ref().len() <= SMALL_MAX {
            return Bytes::new(owner.as_ref());
        }
        let init = |record: *mut SharedRecord<T>| {
            // SAFETY: `record` is a new object. The owner moves there before its content is
            // borrowed, and not again.
            unsafe {
                (&raw mut (*record).owner).write(owner);
                let content = (*record).owner.as_ref();
                (&raw mut (*record).array).write(TVMFFIByteArray::from_slice(content));
            }
        };
        // SAFETY: `init` writes every field behind the header; bytes objects have a byte array
        // there.
        let object = unsafe { object_alloc::allocate(type_index::BYTES, 0, init) }?;
        Ok(Bytes(object.into_any()))
    }
}
