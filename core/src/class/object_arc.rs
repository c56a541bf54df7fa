//! References to objects of one class, with the class as a type parameter.

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;

use crate::abi::TVMFFIObject;
use crate::error::Result;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::object::{ObjectClass, ObjectRef};
use crate::value::any::{Any, AnyView};
use crate::value::convert::{AnyCompatible, TypeText};

use super::{DerivedFrom, Frozen, Object};

/// A strong reference to an object with content `T`, of the class of `T` or a class derived from
/// it.
///
/// # Upstream
/// `tvm::ffi::ObjectPtr` in `object.h`, and `ObjectArc` of upstream's Rust crate; never null.
#[repr(transparent)]
pub struct ObjectArc<T: Object> {
    object: ObjectRef,
    class: PhantomData<T>,
}

/// Memory layout of an object with content `T`.
#[repr(C)]
pub struct ObjectRecordOf<T> {
    header: TVMFFIObject,
    content: T,
}

impl<T> ObjectRecordOf<T> {
    /// Offset of the content from the object's handle, in bytes.
    pub const CONTENT: usize = core::mem::offset_of!(ObjectRecordOf<T>, content);
}

// SAFETY: repr(C), header first; `allocate` checks the alignment.
unsafe impl<T> ObjectRecord for ObjectRecordOf<T> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and has no other reference.
        unsafe { core::ptr::drop_in_place(&raw mut (*this.cast::<ObjectRecordOf<T>>()).content) };
    }
}

impl<T: Object> ObjectArc<T> {
    /// Creates an object with the given content. Registers the class if this is its first object.
    ///
    /// # Errors
    /// The errors of [`Object::register`]; TypeError if another language defines the class. The
    /// content is then dropped.
    pub fn new(content: T) -> Result<ObjectArc<T>> {
        let type_index = T::class().creation_index()?;
        let mut content = MaybeUninit::new(content);
        let mut moved = false;
        let init = |record: *mut ObjectRecordOf<T>| {
            // SAFETY: the allocation has space for the record; the content is moved once.
            unsafe { (&raw mut (*record).content).write(content.assume_init_read()) };
            moved = true;
        };
        // SAFETY: `init` writes the content; objects of this class have this layout (`Object`).
        let object = unsafe { object_alloc::allocate(type_index, 0, init) };
        if !moved {
            // SAFETY: the content was not moved.
            unsafe { content.assume_init_drop() };
        }
        object.map(|object| ObjectArc { object, class: PhantomData })
    }

    /// Returns the address of the content.
    pub(super) fn content_ptr(&self) -> *mut T {
        self.object.as_ptr().wrapping_byte_add(ObjectRecordOf::<T>::CONTENT).cast()
    }

    /// Borrows the untyped reference, which gives access to fields and methods by name.
    pub fn as_object(&self) -> &ObjectRef {
        &self.object
    }

    /// Borrows the content for writing if this is the only reference, strong or weak, to the
    /// object. Returns `None` if another language defines the class.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if !T::class().creates() || !self.object.is_unique() {
            return None;
        }
        // SAFETY: no other reference exists, and this one is borrowed exclusively.
        Some(unsafe { &mut *self.content_ptr() })
    }

    /// Returns `true` if both references point to the same object.
    pub fn ptr_eq(&self, other: &ObjectArc<T>) -> bool {
        self.object.ptr_eq(&other.object)
    }

    /// Converts the reference to a reference to the parent class.
    pub fn upcast<Parent: Object>(self) -> ObjectArc<Parent>
    where
        T: DerivedFrom<Parent>,
    {
        ObjectArc { object: self.object, class: PhantomData }
    }

    /// Converts the reference to a reference to a derived class.
    ///
    /// # Errors
    /// Returns the reference unchanged if the object is not an instance of `Derived`.
    pub fn downcast<Derived: Object>(
        self,
    ) -> core::result::Result<ObjectArc<Derived>, ObjectArc<T>> {
        self.object.downcast().map_err(|object| ObjectArc { object, class: PhantomData })
    }
}

impl<T: Frozen> Deref for ObjectArc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the reference keeps the object alive; objects of frozen classes are not borrowed
        // exclusively.
        unsafe { &*self.content_ptr() }
    }
}

impl<T: Object> Clone for ObjectArc<T> {
    fn clone(&self) -> Self {
        ObjectArc { object: self.object.clone(), class: PhantomData }
    }
}

impl<T: Object> fmt::Debug for ObjectArc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}

// SAFETY: a transparent newtype; the content is an instance of the class, which the caller of the
// constructor guarantees.
unsafe impl<T: Object> ObjectClass for ObjectArc<T> {
    const TYPE_KEY: &'static str = T::TYPE_KEY;

    fn type_index() -> i32 {
        T::class().index()
    }

    fn as_object(&self) -> &ObjectRef {
        &self.object
    }

    fn into_object(self) -> ObjectRef {
        self.object
    }

    unsafe fn from_object_unchecked(object: ObjectRef) -> Self {
        ObjectArc { object, class: PhantomData }
    }
}

// SAFETY: `view` borrows and `into_any` moves the reference of the value.
unsafe impl<T: Object> AnyCompatible for ObjectArc<T> {
    const TEXT: &'static TypeText = &TypeText::of(T::TYPE_KEY, T::TYPE_KEY);

    fn view(&self) -> AnyView<'_> {
        crate::value::convert::view_object(self)
    }

    fn into_any(self) -> Any {
        crate::value::convert::own_object(self)
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
        Ok(crate::value::convert::object_of(view))
    }
}

crate::any_argument!([T: Object] ObjectArc<T>;);

impl<T: Object> From<ObjectArc<T>> for Any {
    fn from(object: ObjectArc<T>) -> Any {
        object.into_any()
    }
}

impl Any {
    /// Converts the value to a reference to an object of class `T`.
    ///
    /// # Errors
    /// Returns the value unchanged if it is not an instance of `T`.
    pub fn downcast<T: Object>(self) -> core::result::Result<ObjectArc<T>, Any> {
        self.into_object()?.downcast().map_err(Any::from)
    }
}
