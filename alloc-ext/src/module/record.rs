//! The memory of a module: the part that C++ knows, then the Rust implementation.

use core::mem::{ManuallyDrop, offset_of, size_of};
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::{ObjectRef, plain_error, type_index};

use super::vtable::{HANDLE_OFFSET, ModuleSlots, ModuleVtable, RUST_MODULE, SLOTS};
use super::{Module, ModuleImpl, ops};
use crate::containers::ArrayObject;
use crate::containers::MapObject;

/// `tvm::ffi::ModuleObj`: what every module begins with, whoever made it.
#[repr(C)]
pub(super) struct ModuleObj {
    vptr: *const ModuleSlots,
    header: TVMFFIObject,
    /// An owned Array, never null. Under the lock of `imports`.
    pub imports: *mut TVMFFIObject,
    /// An owned Map from String to Function, never null. Under the same lock.
    pub import_lookup_cache: *mut TVMFFIObject,
}

/// A module made in Rust.
#[repr(C)]
struct ModuleRecord<T> {
    object: ModuleObj,
    implementation: ManuallyDrop<T>,
}

const _: () = {
    let word = size_of::<usize>();
    assert!(offset_of!(ModuleObj, header) == HANDLE_OFFSET);
    assert!(offset_of!(ModuleObj, imports) == HANDLE_OFFSET + 24);
    assert!(offset_of!(ModuleObj, import_lookup_cache) == HANDLE_OFFSET + 24 + word);
    assert!(size_of::<ModuleObj>() == HANDLE_OFFSET + 24 + 2 * word);
};

// SAFETY: repr(C), and the header lies where PREFIX_BYTES says.
unsafe impl<T: ModuleImpl> ObjectRecord for ModuleRecord<T> {
    const PREFIX_BYTES: usize = HANDLE_OFFSET;

    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<u8>().wrapping_sub(HANDLE_OFFSET).cast::<ModuleRecord<T>>();
        // SAFETY: the record is initialised and ours alone; both references are owned. The implementation
        // goes first, as a derived class does in C++; inside a release that is under way, objects that it
        // held (a library) are queued and so destroyed after the imports.
        unsafe {
            ManuallyDrop::drop(&mut (*record).implementation);
            for owned in [(*record).object.import_lookup_cache, (*record).object.imports] {
                drop(NonNull::new(owned).map(|object| ObjectRef::from_raw(object)));
            }
        }
    }
}

/// The vtable of modules implemented by `T`.
struct Vtable<T>(core::marker::PhantomData<T>);

impl<T: ModuleImpl> Vtable<T> {
    const TABLE: &'static ModuleVtable = &ModuleVtable {
        offset_to_top: 0,
        type_info: &raw const RUST_MODULE,
        slots: SLOTS,
        ops: ops::of::<T>(),
    };
}

/// Makes a module object around `implementation`.
///
/// # Errors
/// `MemoryError`; the implementation is dropped then.
pub(super) fn allocate<T: ModuleImpl>(implementation: T) -> Result<Module> {
    let imports = ArrayObject::with_capacity(0)?;
    let cache = MapObject::with_capacity(0)?;
    let table: *const ModuleVtable = Vtable::<T>::TABLE;
    let init = |record: *mut ModuleRecord<T>| {
        // SAFETY: the record has room for every field; the header is not written. The vptr keeps the
        // provenance of the whole table, so that `dispatch` may step back to its start.
        unsafe {
            (&raw mut (*record).object.vptr).write(&raw const (*table).slots);
            (&raw mut (*record).object.imports).write(imports.into_object().into_raw().as_ptr());
            (&raw mut (*record).object.import_lookup_cache).write(cache.into_object().into_raw().as_ptr());
            (&raw mut (*record).implementation).write(ManuallyDrop::new(implementation));
        }
    };
    // SAFETY: `init` fills the record, whose layout is that of ffi.Module.
    let object = unsafe { object_alloc::allocate(type_index::MODULE, 0, init)? };
    // SAFETY: just made as such.
    Ok(unsafe { Module::from_object_unchecked(object) })
}

/// The C++ part of a module.
pub(super) fn module_obj(module: &Module) -> *mut ModuleObj {
    super::vtable::cxx_object(module).cast()
}

/// The implementation of a module.
///
/// # Safety
/// The module must have been made by [`allocate`] with the same `T`.
pub(super) unsafe fn implementation<T: ModuleImpl>(module: &Module) -> &T {
    let record = module_obj(module).cast::<ModuleRecord<T>>();
    // SAFETY: the caller vouches for the type; the implementation is never written after `allocate`.
    unsafe { &(*record).implementation }
}

/// The implementation of a module, when `T` implements it.
pub(super) fn try_implementation<T: ModuleImpl>(module: &Module) -> Option<&T> {
    let vptr: *const ModuleSlots = &raw const Vtable::<T>::TABLE.slots;
    // SAFETY: the vptr is readable on every module and never changes.
    let found = unsafe { (*module_obj(module)).vptr };
    // One table per type, unless the compiler made copies: then the answer is None, which is merely less
    // useful. SAFETY: a module with this vtable was made by `allocate::<T>`; tables of different types hold
    // different functions.
    core::ptr::eq(found, vptr).then(|| unsafe { implementation(module) })
}

/// The error for a module whose field is null, against its contract.
pub(super) fn incomplete(field: &str) -> ferrite_core::Error {
    plain_error!(INTERNAL_ERROR, "The module has no {}", field)
}
