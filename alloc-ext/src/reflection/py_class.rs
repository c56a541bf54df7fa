//! Classes whose layout a client defines at run time by registering fields, such as Python
//! dataclasses.

use core::ffi::c_void;

use ferrite_core::abi::{TVMFFIObject, type_index};
use ferrite_core::class::{claim_for_zeros, is_defined_in_rust};
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, TypeEntry};
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::Shared;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{Function, plain_ensure};

use super::class::FINAL;
use super::fields::{RegisteredField, fields_of, type_of};
use super::init::make_init;
use super::storage::Storage;

/// Implements `ffi._PyClassRegisterTypeAttrColumns`: registers `__ffi_init__`, `__ffi_new__` and
/// `__ffi_shallow_copy__` for a type.
///
/// # Errors
/// InternalError for an unknown type; ValueError for a type whose layout the ABI or a class in Rust
/// fixes, for a final type and one derived from it, and for a size that is too small for the
/// fields; RuntimeError if the type already has one of the three attributes; MemoryError. On
/// failure nothing is registered.
///
/// # Upstream
/// `PyClassRegisterTypeAttrColumns` in `dataclass.cc`, which accepts any type and does not check
/// the size.
pub(super) fn register_class(type_index: i32, total_size: i32) -> Result<()> {
    let class = FieldClass::of(type_index, total_size)?;
    let (init, new, copy) = (make_init(class.entry)?, class.make_new()?, class.make_copy()?);
    register_attrs(type_index, &[(INIT, &init), (NEW, &new), (SHALLOW_COPY, &copy)])
}

const INIT: &[u8] = b"__ffi_init__";
const NEW: &[u8] = b"__ffi_new__";
const SHALLOW_COPY: &[u8] = b"__ffi_shallow_copy__";

/// Registers several attributes of a type, or none.
///
/// # Errors
/// RuntimeError if the type already has one of the attributes; MemoryError.
fn register_attrs(type_index: i32, attrs: &[(&[u8], &Function)]) -> Result<()> {
    // None allocates the place of an attribute, and is refused if the type has the attribute.
    for (name, _) in attrs {
        type_table::register_attr(type_index, name, AnyView::NONE)?;
    }
    attrs.iter().try_for_each(|(name, value)| {
        type_table::register_attr(type_index, name, AnyView::from(*value))
    })
}

#[derive(Clone, Copy)]
pub(super) struct FieldClass {
    entry: &'static TypeEntry,
    /// Size of an object after the header, in bytes.
    body_bytes: usize,
    /// Whether an ancestor is a class in Rust, whose fields are read under a borrow of the object.
    has_borrows: bool,
}

/// Record of an object of a [`FieldClass`]. The fields follow the header.
#[repr(C)]
struct FieldRecord {
    header: TVMFFIObject,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for FieldRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the handle is that of an initialised object.
        let Some(entry) = type_table::type_info(unsafe { (*this).type_index }) else { return };
        for field in fields_of(entry) {
            // SAFETY: the object has no other reference; its fields started as zeros and contain
            // values of their storage.
            unsafe { drop_field(field, field.address(this)) };
        }
    }
}

/// Drops the value of a field.
///
/// # Safety
/// `address` must be the address of the field in an object that is no longer used.
unsafe fn drop_field(field: RegisteredField, address: *mut c_void) {
    // SAFETY: the caller guarantees the field, which is not used again.
    unsafe {
        match Storage::of(field.info()) {
            Storage::Plain => {}
            Storage::Any => address.cast::<Any>().drop_in_place(),
            Storage::Object => address.cast::<Option<ObjectRef>>().drop_in_place(),
        }
    }
}

impl FieldClass {
    /// Returns the class for a type whose fields have been registered.
    ///
    /// # Errors
    /// InternalError for an unknown type; ValueError for a type whose layout the ABI fixes, for a
    /// final type, and for a size that is too small for the fields.
    pub(super) fn of(type_index: i32, total_size: i32) -> Result<FieldClass> {
        let entry = type_of(type_index)?;
        plain_ensure!(
            type_index >= type_index::DYN_OBJECT_BEGIN,
            VALUE_ERROR,
            "The type `{}` is not made of fields",
            entry.type_key()
        );
        // Zeros are not valid content of some classes, and nobody may derive from those either.
        let is_final = type_table::attr(type_index, FINAL).try_get::<bool>()?.unwrap_or_default();
        plain_ensure!(
            !is_final,
            VALUE_ERROR,
            "The type `{}` is final: only its own code makes objects of it",
            entry.type_key()
        );
        FieldClass::new(entry, total_size)
    }

    /// Registers `__ffi_new__` and `__ffi_shallow_copy__`, as earlier releases do by
    /// `ffi.MakeFFINew`. Returns the latter.
    ///
    /// # Errors
    /// RuntimeError if the type already has one of the attributes; MemoryError.
    #[cfg(feature = "std")]
    pub(super) fn register(self) -> Result<Function> {
        let (new, copy) = (self.make_new()?, self.make_copy()?);
        register_attrs(self.entry.type_index(), &[(NEW, &new), (SHALLOW_COPY, &copy)])?;
        Ok(copy)
    }

    fn make_new(self) -> Result<Function> {
        Function::from_typed(move || self.allocate())
    }

    fn make_copy(self) -> Result<Function> {
        Function::from_typed(move |object: ObjectRef| self.copy(&object))
    }

    fn new(entry: &'static TypeEntry, total_size: i32) -> Result<FieldClass> {
        plain_ensure!(
            !is_defined_in_rust(entry.type_index()),
            VALUE_ERROR,
            "The type `{}` is not made of fields",
            entry.type_key()
        );
        let header_bytes = size_of::<TVMFFIObject>() as i64;
        for field in fields_of(entry) {
            let info = field.info();
            let end = info.offset.checked_add(info.size);
            let fits = info.offset >= header_bytes
                && info.size >= 0
                && end.is_some_and(|end| end <= i64::from(total_size));
            plain_ensure!(
                fits,
                VALUE_ERROR,
                "The field `{}` of type `{}` does not fit in an object of {} bytes",
                field.name(),
                entry.type_key(),
                total_size
            );
        }
        let body_bytes = usize::try_from(i64::from(total_size) - header_bytes);
        plain_ensure!(
            body_bytes.is_ok(),
            VALUE_ERROR,
            "An object has a header of {} bytes, got a size of {}",
            &header_bytes,
            total_size
        );
        claim(entry, total_size)?;
        let has_borrows = fields_of(entry).any(RegisteredField::borrows_object);
        Ok(FieldClass { entry, body_bytes: body_bytes.unwrap_or(0), has_borrows })
    }

    /// Allocates a zero-initialised object, whose fields are thus None, null or 0.
    fn allocate(self) -> Result<ObjectRef> {
        let init = |record: *mut FieldRecord| {
            // SAFETY: the allocation has this many bytes after the record.
            unsafe { record.add(1).cast::<u8>().write_bytes(0, self.body_bytes) };
        };
        // SAFETY: zeros are valid for every storage; the type is registered with this layout.
        unsafe { object_alloc::allocate(self.entry.type_index(), self.body_bytes, init) }
    }

    fn copy(self, source: &ObjectRef) -> Result<ObjectRef> {
        plain_ensure!(
            type_table::is_instance(source.type_index(), self.entry.type_index()),
            TYPE_ERROR,
            "Cannot copy an object of type `{}` as `{}`",
            type_table::type_key_of(source.type_index()),
            self.entry.type_key()
        );
        let copy = self.allocate()?;
        let _borrow = self.has_borrows.then(|| Shared::of(source)).transpose()?;
        for field in fields_of(self.entry) {
            // SAFETY: both objects are instances of the type, and the copy has no other reference.
            // Writers of fields that follow borrows are excluded; those of other languages' fields
            // are other threads of that language (trusted).
            unsafe { copy_field(field, source.as_ptr(), copy.as_ptr()) };
        }
        Ok(copy)
    }
}

/// Refuses types whose objects have state that reflection does not declare. The type, and ancestors
/// without a known size, become types that no class in Rust can claim from now on, on any thread.
///
/// # Errors
/// ValueError for a class in Rust, a class derived from a final one, and a size smaller than that
/// of the type or an ancestor.
fn claim(entry: &TypeEntry, total_size: i32) -> Result<()> {
    for ancestor in entry.ancestors().iter().skip(1) {
        // SAFETY: ancestors are registered types, whose records are never freed.
        let index = unsafe { (**ancestor).type_index };
        let size = size_of_objects(index, total_size)?;
        // A class that has a size has this attribute, too.
        let is_final = type_table::attr(index, FINAL).try_get::<bool>()? == Some(true);
        plain_ensure!(
            !is_final && size <= total_size,
            VALUE_ERROR,
            "The type `{}` cannot be made of fields, since its parent `{}` is final or larger",
            entry.type_key(),
            type_table::type_key_of(index)
        );
    }
    let is_sized = type_table::members(entry.type_index()).total_size.is_some();
    let size = size_of_objects(entry.type_index(), total_size)?;
    plain_ensure!(
        size == total_size || (is_sized && size < total_size),
        VALUE_ERROR,
        "The objects of type `{}` have another size",
        entry.type_key()
    );
    Ok(())
}

/// Returns the minimum size of objects of a type. If it is unknown, claims the type for objects of
/// zeros with `new_size` bytes. Returns the maximum for a type whose objects other code creates, so
/// that no size is large enough.
fn size_of_objects(index: i32, new_size: i32) -> Result<i32> {
    match type_table::members(index).total_size {
        Some(size) => Ok(size),
        None => Ok(claim_for_zeros(index, new_size)?.unwrap_or(i32::MAX)),
    }
}

/// Copies the value of a field from one object to another.
///
/// # Safety
/// Both objects must be alive and have the field. No other thread may use the target, and its field
/// must be zero.
unsafe fn copy_field(field: RegisteredField, source: *mut TVMFFIObject, target: *mut TVMFFIObject) {
    let (from, to) = (field.address(source), field.address(target));
    // SAFETY: the caller guarantees the objects; a zero field owns nothing, so it may be
    // overwritten.
    unsafe {
        match Storage::of(field.info()) {
            Storage::Plain => {
                core::ptr::copy_nonoverlapping(
                    from.cast::<u8>(),
                    to.cast(),
                    field.info().size as usize,
                );
            }
            Storage::Any => to.cast::<Any>().write((*from.cast::<Any>()).clone()),
            Storage::Object => {
                to.cast::<Option<ObjectRef>>().write((*from.cast::<Option<ObjectRef>>()).clone());
            }
        }
    }
}
