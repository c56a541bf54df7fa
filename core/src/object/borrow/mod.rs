//! The run-time borrow state of mutable objects: instances of Rust classes, Lists and Dicts.
//!
//! Any number of references on any thread may point to such an object, so none of them gives
//! exclusive access by itself. The state admits any number of shared borrows, or one exclusive
//! borrow. Nobody waits: an access that conflicts with a borrow is a RuntimeError.
//!
//! The state is in the word of the header that the ABI defines as zero: it is zero while nothing
//! borrows the object, so objects that C++ code allocates have a valid state, too. Code in other
//! languages that accesses content in place does not look at it.

pub(crate) mod word;

use core::borrow::Borrow;
use core::mem::ManuallyDrop;

use crate::abi::TVMFFIObject;
use crate::error::Result;
use crate::names::type_table;
use crate::object::ObjectRef;
use crate::platform::sync::is_single_threaded;
use crate::platform::text::Lossy;
use crate::{Error, plain_error};

/// Adds a shared borrow.
///
/// # Errors
/// RuntimeError if the object is borrowed exclusively.
///
/// # Safety
/// `object` must be live.
#[inline]
pub(crate) unsafe fn share(object: *mut TVMFFIObject) -> Result<()> {
    // SAFETY: the caller guarantees the object.
    unsafe { if word::share(object) { Ok(()) } else { Err(conflict(object)) } }
}

/// Removes a shared borrow.
///
/// # Safety
/// `object` must be live, and the caller must have added the borrow.
#[inline]
pub(crate) unsafe fn unshare(object: *mut TVMFFIObject) {
    // SAFETY: the caller guarantees the object and its borrow.
    unsafe { word::unshare(object) }
}

/// Makes the exclusive borrow.
///
/// # Errors
/// RuntimeError if the object is borrowed.
///
/// # Safety
/// `object` must be live.
#[inline]
pub(crate) unsafe fn claim(object: *mut TVMFFIObject) -> Result<()> {
    // SAFETY: the caller guarantees the object.
    unsafe { if word::claim(object, 0) { Ok(()) } else { Err(conflict(object)) } }
}

/// Ends the exclusive borrow.
///
/// # Safety
/// `object` must be live, and the caller must have made the borrow.
#[inline]
pub(crate) unsafe fn unclaim(object: *mut TVMFFIObject) {
    // SAFETY: the caller guarantees the object and its borrow.
    unsafe { word::unclaim(object, 0) }
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

/// A reference to an object, borrowed or owned. Each read must return the same object, since a
/// guard ends the borrow of the object that it borrowed.
///
/// # Safety
/// `Borrow::borrow` must return a reference to one object as long as the value lives, wherever it
/// is moved.
pub unsafe trait Holder: Borrow<ObjectRef> {}

// SAFETY: the reference is the object's.
unsafe impl Holder for ObjectRef {}
// SAFETY: as above.
unsafe impl Holder for &ObjectRef {}

/// Guard of a shared borrow of an object.
///
/// Until the guard is dropped, each exclusive borrow of the object, on any thread, is a
/// RuntimeError.
pub struct Shared<O: Holder>(O);

/// Returns `true` if the caller may read an object without a borrow, until it runs a user callback
/// or starts a thread: no other code could observe the borrow, since the process has one thread.
///
/// # Errors
/// RuntimeError if the object is borrowed exclusively and the process has one thread.
#[inline(always)]
pub fn is_readable_without(object: &ObjectRef) -> Result<bool> {
    if !is_single_threaded() {
        return Ok(false);
    }
    // SAFETY: the reference keeps the object alive.
    unsafe {
        if word::is_shareable(object.as_ptr()) { Ok(true) } else { Err(conflict(object.as_ptr())) }
    }
}

/// Guard of a shared borrow during which no user callback runs.
///
/// A process with one thread only checks that the object is not borrowed exclusively: no other code
/// could observe the borrow.
pub struct BriefShared<'a> {
    object: &'a ObjectRef,
    is_counted: bool,
}

impl<'a> BriefShared<'a> {
    /// Borrows an object for reading.
    ///
    /// # Errors
    /// RuntimeError if the object is borrowed exclusively.
    ///
    /// # Safety
    /// Until the guard is dropped, the caller must neither run user callbacks nor start a thread.
    #[inline(always)]
    pub unsafe fn of(object: &'a ObjectRef) -> Result<Self> {
        let is_counted = !is_single_threaded();
        // SAFETY: the reference keeps the object alive.
        unsafe {
            let at = object.as_ptr();
            let is_borrowed = if is_counted { word::share(at) } else { word::is_shareable(at) };
            if is_borrowed { Ok(Self { object, is_counted }) } else { Err(conflict(at)) }
        }
    }
}

impl Drop for BriefShared<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_counted {
            // SAFETY: this guard has the borrow, and its reference keeps the object alive.
            unsafe { unshare(self.object.as_ptr()) };
        }
    }
}

/// Guard of an exclusive borrow of an object.
///
/// Until the guard is dropped, each other borrow of the object, on any thread, is a RuntimeError.
pub struct Exclusive<O: Holder>(O);

impl<O: Holder> Shared<O> {
    /// Borrows an object for reading.
    ///
    /// # Errors
    /// RuntimeError if the object is borrowed exclusively.
    #[inline]
    pub fn of(object: O) -> Result<Self> {
        // SAFETY: the reference keeps the object alive.
        unsafe { share(object.borrow().as_ptr())? };
        Ok(Self(object))
    }

    /// Converts to an exclusive borrow. Nothing changes the object in between.
    ///
    /// # Errors
    /// RuntimeError if there are other shared borrows; this one then ends.
    #[inline]
    pub fn upgrade(self) -> Result<Exclusive<O>> {
        let object = self.0.borrow().as_ptr();
        // SAFETY: the guard keeps the object alive, and has one shared borrow.
        if !unsafe { word::claim(object, 1) } {
            // SAFETY: as above.
            return Err(unsafe { conflict(object) });
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: the reference moves to the new guard, and the old one is not dropped.
        Ok(Exclusive(unsafe { core::ptr::read(&raw const this.0) }))
    }
}

impl<O: Holder> Exclusive<O> {
    /// Borrows an object for writing.
    ///
    /// # Errors
    /// RuntimeError if the object is borrowed.
    #[inline]
    pub fn of(object: O) -> Result<Self> {
        // SAFETY: the reference keeps the object alive.
        unsafe { claim(object.borrow().as_ptr())? };
        Ok(Self(object))
    }

    /// Converts to a shared borrow. Nothing changes the object in between.
    #[inline]
    pub fn downgrade(self) -> Shared<O> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the guard keeps the object alive and has the exclusive borrow; the reference
        // moves to the new guard, and the old one is not dropped.
        unsafe {
            word::unclaim(this.0.borrow().as_ptr(), 1);
            Shared(core::ptr::read(&raw const this.0))
        }
    }
}

impl<O: Holder> Drop for Shared<O> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this guard has the borrow, and its reference keeps the object alive.
        unsafe { unshare(self.0.borrow().as_ptr()) };
    }
}

impl<O: Holder> Drop for Exclusive<O> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this guard has the borrow, and its reference keeps the object alive.
        unsafe { unclaim(self.0.borrow().as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnyCompatible;
    use crate::value::shape::Shape;

    #[test]
    fn borrows_convert_and_end_with_their_guards() -> Result<()> {
        let object = Shape::from_slice(&[1])?.into_any().get::<ObjectRef>()?;
        let (first, second) = (Shared::of(&object)?, Shared::of(object.clone())?);
        let refused = Exclusive::of(&object).map(drop).unwrap_err();
        assert_eq!(refused.kind_bytes(), b"RuntimeError");
        assert!(refused.message_bytes().starts_with(b"The object of class `ffi.Shape` is in use"));
        assert!(first.upgrade().is_err(), "there is a second borrow");
        let exclusive = second.upgrade()?;
        // SAFETY: nothing happens during the borrow.
        assert!(Shared::of(&object).is_err() && unsafe { BriefShared::of(&object) }.is_err());
        let shared = exclusive.downgrade();
        // SAFETY: as above.
        drop((Shared::of(&object)?, unsafe { BriefShared::of(&object)? }));
        drop(shared);
        drop(Exclusive::of(&object)?);
        assert!(object.is_unique(), "guards give up their references");
        Ok(())
    }
}
