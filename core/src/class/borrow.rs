//! The run-time borrow state of objects, and the guards of borrows.
//!
//! The state is in the word of the header that the ABI defines as zero: it is zero while nothing borrows the object, so
//! objects that C++ code allocates have a valid state, too, as instances of classes that are derived from a Rust class.

use core::ops::{Deref, DerefMut};

use crate::abi::TVMFFIObject;
use crate::error::Result;
use crate::text::Lossy;
use crate::type_table;
use crate::{Error, plain_error};

use super::{Mutable, Object, ObjectArc};

/// The state of an object that is borrowed exclusively. Lower states are numbers of shared borrows.
const EXCLUSIVE: u32 = u32::MAX;

/// Adds a shared borrow.
///
/// # Errors
/// RuntimeError if the object is borrowed exclusively.
///
/// # Safety
/// `object` must be live.
pub(super) unsafe fn share(object: *mut TVMFFIObject) -> Result<()> {
    // SAFETY: the caller guarantees the object.
    let added = unsafe { update(object, |state| (state < EXCLUSIVE - 1).then(|| state + 1)) };
    // SAFETY: as above.
    if added { Ok(()) } else { Err(unsafe { conflict(object) }) }
}

/// Removes a shared borrow.
///
/// # Safety
/// `object` must be live, and the caller must have added the borrow.
pub(super) unsafe fn unshare(object: *mut TVMFFIObject) {
    // SAFETY: the caller guarantees the object; the state is not zero, since it counts the caller's borrow.
    unsafe { update(object, |state| Some(state.wrapping_sub(1))) };
}

/// Makes the exclusive borrow.
///
/// # Errors
/// RuntimeError if the object is borrowed.
///
/// # Safety
/// `object` must be live.
pub(super) unsafe fn claim(object: *mut TVMFFIObject) -> Result<()> {
    // SAFETY: the caller guarantees the object.
    let claimed = unsafe { update(object, |state| (state == 0).then_some(EXCLUSIVE)) };
    // SAFETY: as above.
    if claimed { Ok(()) } else { Err(unsafe { conflict(object) }) }
}

/// Ends the exclusive borrow.
///
/// # Safety
/// `object` must be live, and the caller must have made the borrow.
pub(super) unsafe fn unclaim(object: *mut TVMFFIObject) {
    // SAFETY: the caller guarantees the object.
    unsafe { update(object, |_| Some(0)) };
}

/// Replaces the state of an object, unless `next` returns `None`. Returns `true` if it was replaced. Accesses of the content
/// after a borrow happen after those before the end of the previous conflicting borrow.
///
/// # Safety
/// `object` must be live.
#[cfg(target_has_atomic = "32")]
unsafe fn update(object: *mut TVMFFIObject, next: impl FnMut(u32) -> Option<u32>) -> bool {
    use core::sync::atomic::{AtomicU32, Ordering};

    // SAFETY: the word is aligned, lives as long as the object, and is only accessed here.
    let state = unsafe { AtomicU32::from_ptr(&raw mut (*object).padding) };
    state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).is_ok()
}

/// As the atomic version, in a critical section.
///
/// # Safety
/// `object` must be live.
#[cfg(not(target_has_atomic = "32"))]
unsafe fn update(object: *mut TVMFFIObject, mut next: impl FnMut(u32) -> Option<u32>) -> bool {
    crate::sync::critical(|| {
        // SAFETY: the caller guarantees the object; the critical section excludes other accesses of the word.
        unsafe {
            let state = &raw mut (*object).padding;
            next(state.read()).map(|new| state.write(new)).is_some()
        }
    })
}

/// Creates the error of a conflicting borrow.
///
/// # Safety
/// `object` must be live.
#[cold]
#[inline(never)]
unsafe fn conflict(object: *mut TVMFFIObject) -> Error {
    // SAFETY: the caller guarantees the object.
    let key = Lossy(type_table::type_key_of(unsafe { (*object).type_index }));
    plain_error!(RUNTIME_ERROR, "The object of class `{}` is in use by a method or borrow that conflicts with this access", key; "`{}` is in use", key)
}

/// Shared access to the content of an object.
pub struct ObjectBorrow<'a, T: Object> {
    object: &'a ObjectArc<T>,
}

/// Exclusive access to the content of an object.
pub struct ObjectBorrowMut<'a, T: Object> {
    object: &'a ObjectArc<T>,
}

impl<T: Object> ObjectArc<T> {
    /// Borrows the content for reading.
    ///
    /// # Errors
    /// RuntimeError while the content is borrowed exclusively, by a `&mut self` method that is running or by
    /// [`borrow_mut`](ObjectArc::borrow_mut).
    pub fn borrow(&self) -> Result<ObjectBorrow<'_, T>> {
        // SAFETY: the reference keeps the object alive.
        unsafe { share(self.as_object().as_ptr())? };
        Ok(ObjectBorrow { object: self })
    }

    /// Borrows the content for writing.
    ///
    /// # Errors
    /// RuntimeError while the content is borrowed, by a method that is running, by [`borrow`](ObjectArc::borrow) or by this
    /// function.
    pub fn borrow_mut(&self) -> Result<ObjectBorrowMut<'_, T>>
    where
        T: Mutable,
    {
        // SAFETY: the reference keeps the object alive.
        unsafe { claim(self.as_object().as_ptr())? };
        Ok(ObjectBorrowMut { object: self })
    }
}

impl<T: Object> Deref for ObjectBorrow<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the shared borrow excludes exclusive ones, and the reference keeps the object alive.
        unsafe { &*self.object.content_ptr() }
    }
}

impl<T: Object> Deref for ObjectBorrowMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the exclusive borrow excludes all others, and the reference keeps the object alive.
        unsafe { &*self.object.content_ptr() }
    }
}

impl<T: Object> DerefMut for ObjectBorrowMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard itself is borrowed exclusively.
        unsafe { &mut *self.object.content_ptr() }
    }
}

impl<T: Object> Drop for ObjectBorrow<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this guard has the borrow, and its reference keeps the object alive.
        unsafe { unshare(self.object.as_object().as_ptr()) };
    }
}

impl<T: Object> Drop for ObjectBorrowMut<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this guard has the borrow, and its reference keeps the object alive.
        unsafe { unclaim(self.object.as_object().as_ptr()) };
    }
}
