//! Arguments that a function uses where they lie, without a reference of its own.

use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::text::Writer;

use crate::containers::{ArrayObject, Dict, DictObject, List, ListObject, MapObject, cell};

/// An argument: lent by the caller of the function for the time of the call, or owned when it had to be converted.
///
/// Only for arguments of the functions in this folder, which take it by value: it must not outlive the call. Saves the
/// two atomic operations that a reference costs, which is a good part of a look-up.
pub(super) struct Lent<T: Lend> {
    value: ManuallyDrop<T>,
    owned: bool,
}

/// A type whose values can be used without a reference of their own.
pub(super) trait Lend: AnyCompatible {
    /// The value in `view` when it needs no conversion.
    ///
    /// # Safety
    ///
    /// The result is not dropped, and not used when the view's value may be gone.
    unsafe fn lend(view: AnyView<'_>) -> Option<Self>;
}

impl<T: Lend> Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Lend> Drop for Lent<T> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: the value is ours, and nobody uses it after this.
            unsafe { ManuallyDrop::drop(&mut self.value) }
        }
    }
}

// SAFETY: a view of the value is that of `T`, alive for the call; `into_any` makes a reference of its own.
unsafe impl<T: Lend> AnyCompatible for Lent<T> {
    fn type_name(out: &mut Writer<'_>) {
        T::type_name(out);
    }

    fn schema(out: &mut Writer<'_>) {
        T::schema(out);
    }

    fn view(&self) -> AnyView<'_> {
        self.value.view()
    }

    fn into_any(self) -> Any {
        // SAFETY: the cell is a local one.
        unsafe { cell::copy_of(self.view().as_raw()) }
    }

    #[inline]
    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
        // SAFETY: the value is in a ManuallyDrop, and arguments are alive for the call (ABI).
        if let Some(value) = unsafe { T::lend(view) } {
            return Ok(Some(Self { value: ManuallyDrop::new(value), owned: false }));
        }
        let converted = T::try_from_view(view)?;
        Ok(converted.map(|value| Self { value: ManuallyDrop::new(value), owned: true }))
    }

    fn describe_mismatch(view: AnyView<'_>, out: &mut Writer<'_>) {
        T::describe_mismatch(view, out);
    }
}

/// The object in `view` when it is of exactly this class, without a reference of its own.
///
/// # Safety
///
/// As [`Lend::lend`].
#[inline]
unsafe fn lend_object<T: ObjectClass>(view: AnyView<'_>) -> Option<T> {
    if view.type_index() != T::type_index() {
        return None;
    }
    let object: NonNull<TVMFFIObject> = view.object_ptr()?;
    // SAFETY: the class was checked; the caller neither drops the result nor uses it for too long.
    Some(unsafe { T::from_object_unchecked(ObjectRef::from_raw(object)) })
}

macro_rules! lend_objects {
    ($($object:ty),*) => {$(
        impl Lend for $object {
            #[inline]
            unsafe fn lend(view: AnyView<'_>) -> Option<Self> {
                // SAFETY: passed on.
                unsafe { lend_object(view) }
            }
        }
    )*};
}

lend_objects!(ArrayObject, ListObject, MapObject, DictObject);

impl Lend for List {
    #[inline]
    unsafe fn lend(view: AnyView<'_>) -> Option<Self> {
        // SAFETY: passed on.
        unsafe { lend_object(view) }.map(Self::from_object_unchecked)
    }
}

impl Lend for Dict {
    #[inline]
    unsafe fn lend(view: AnyView<'_>) -> Option<Self> {
        // SAFETY: passed on.
        unsafe { lend_object(view) }.map(Self::from_object_unchecked)
    }
}

impl Lend for Any {
    #[inline]
    unsafe fn lend(view: AnyView<'_>) -> Option<Self> {
        // SAFETY: forms that owned values never have are converted instead; else as passed on.
        (!cell::is_borrowed_form(&view)).then(|| unsafe { Any::from_raw(*view.as_raw()) })
    }
}
