//! Memory layout of modules: the C++ object, then the Rust implementation.

use core::ffi::c_void;
use core::mem::{ManuallyDrop, offset_of, size_of};
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::{ObjectRef, plain_error};

use super::class::Class;
use super::interface::{Module, ModuleImpl, ModuleOps};
use super::{cxx_class, lookup_cache};
use crate::containers::ArrayObject;

/// Offset of the object header in the C++ object, after the virtual table pointer. Handles point to
/// the header. Also 8 on 32-bit targets, because the header is 8-byte aligned.
pub(super) const HANDLE_OFFSET: usize = 8;

/// Layout of `tvm::ffi::ModuleObj`, the start of every module, implemented in Rust or C++.
#[repr(C)]
pub(super) struct ModuleObj {
    /// Pointer to the C++ virtual table; null in builds without C++.
    vptr: *const c_void,
    header: TVMFFIObject,
    /// Imports, an owned Array; `None` breaks the contract. Guarded by the lock in `imports`.
    pub imports: Option<ObjectRef>,
    /// Lookup cache, an object of [`lookup_cache`] (in C++ a Map); `None` breaks the contract.
    /// Guarded by the same lock.
    pub import_lookup_cache: Option<ObjectRef>,
}

/// Record of a module implemented in Rust.
#[repr(C)]
struct ModuleRecord<T> {
    object: ModuleObj,
    class: &'static Class,
    implementation: ManuallyDrop<T>,
}

const _: () = {
    let word = size_of::<usize>();
    assert!(offset_of!(ModuleObj, header) == HANDLE_OFFSET);
    assert!(offset_of!(ModuleObj, imports) == HANDLE_OFFSET + 24);
    assert!(offset_of!(ModuleObj, import_lookup_cache) == HANDLE_OFFSET + 24 + word);
    assert!(size_of::<ModuleObj>() == HANDLE_OFFSET + 24 + 2 * word);
};

// SAFETY: repr(C), and the header is at PREFIX_BYTES.
unsafe impl<T: ModuleImpl> ObjectRecord for ModuleRecord<T> {
    const PREFIX_BYTES: usize = HANDLE_OFFSET;

    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<u8>().wrapping_sub(HANDLE_OFFSET).cast::<ModuleRecord<T>>();
        // SAFETY: the record is initialised and has no other reference; both references are owned.
        // The implementation is dropped first, like a derived class in C++; a library that it held
        // is closed after the imports are released.
        unsafe {
            ManuallyDrop::drop(&mut (*record).implementation);
            (&raw mut (*record).object.import_lookup_cache).drop_in_place();
            (&raw mut (*record).object.imports).drop_in_place();
        }
    }
}

/// Creates a module object for `implementation`.
///
/// # Errors
/// MemoryError; the implementation is then dropped.
///
/// # Safety
/// The operations of the class must be those of modules implemented by `T`.
pub(super) unsafe fn allocate<T: ModuleImpl>(
    implementation: T,
    class: &'static Class,
) -> Result<Module> {
    let imports = ArrayObject::with_capacity(0)?;
    let cache = lookup_cache::empty()?;
    let init = |record: *mut ModuleRecord<T>| {
        // SAFETY: the allocation has room for the record; the header is not written.
        unsafe {
            (&raw mut (*record).object.vptr).write(cxx_class::vptr());
            (&raw mut (*record).class).write(class);
            (&raw mut (*record).object.imports).write(Some(imports.into_object()));
            (&raw mut (*record).object.import_lookup_cache).write(Some(cache.into_object()));
            (&raw mut (*record).implementation).write(ManuallyDrop::new(implementation));
        }
    };
    // SAFETY: `init` fills the record, whose layout is that of ffi.Module.
    let object = unsafe { object_alloc::allocate(type_index::MODULE, 0, init)? };
    // SAFETY: `allocate` returned a module object.
    Ok(unsafe { Module::from_object_unchecked(object) })
}

/// Returns the address of a module's C++ object: `this` in C++ code, and the value of context
/// slots.
pub(super) fn cxx_object(module: &Module) -> *mut c_void {
    module.as_object().as_ptr().cast::<u8>().wrapping_sub(HANDLE_OFFSET).cast()
}

/// Borrows the module whose C++ object is at `this`.
///
/// # Safety
/// `this` must be the address of the C++ object of a module that stays alive while the result is
/// used.
pub(super) unsafe fn borrow_this(this: *mut c_void) -> ManuallyDrop<Module> {
    let handle = this.cast::<u8>().wrapping_add(HANDLE_OFFSET).cast::<TVMFFIObject>();
    // SAFETY: the caller guarantees a live module; ManuallyDrop does not change its count.
    ManuallyDrop::new(unsafe {
        Module::from_object_unchecked(ObjectRef::from_raw(NonNull::new_unchecked(handle)))
    })
}

/// Returns a pointer to the C++ object of a module.
pub(super) fn module_obj(module: &Module) -> *mut ModuleObj {
    cxx_object(module).cast()
}

/// Returns the class of a module implemented in Rust; `None` for modules of C++ classes.
fn own_class(module: &Module) -> Option<&'static Class> {
    let object = module_obj(module);
    // SAFETY: every module begins with a constant virtual table pointer. Modules with our pointer
    // are `ModuleRecord`s, where the class follows the C++ part for every implementation.
    unsafe {
        let vptr = (*object).vptr;
        let own = vptr.is_null() || vptr == cxx_class::vptr();
        own.then(|| (*object.cast::<ModuleRecord<()>>()).class)
    }
}

/// Returns the function table of a module, implemented in Rust or C++.
///
/// # Errors
/// InternalError for a module of a C++ class in a build without C++.
pub(super) fn ops(module: &Module) -> Result<&'static ModuleOps> {
    match own_class(module).map(|class| &class.ops).or_else(cxx_class::ops) {
        Some(ops) => Ok(ops),
        None => {
            Err(plain_error!(INTERNAL_ERROR, "This build cannot use modules that were made by C++"))
        }
    }
}

/// Returns the implementation of a module, without checking its type.
///
/// # Safety
/// The module must have been created by [`allocate`] with the same `T`.
pub(super) unsafe fn implementation<T: ModuleImpl>(module: &Module) -> &T {
    let record = module_obj(module).cast::<ModuleRecord<T>>();
    // SAFETY: the caller guarantees the type; the implementation is never written after `allocate`.
    unsafe { &(*record).implementation }
}

/// Returns the implementation of a module if its type is `T`; `None` otherwise.
#[cfg(feature = "module-types")]
pub(super) fn try_implementation<T: ModuleImpl>(module: &Module) -> Option<&T> {
    // SAFETY: a module of this class was created by `allocate::<T>`.
    own_class(module).is_some_and(Class::is_of::<T>).then(|| unsafe { implementation(module) })
}

/// Creates the InternalError for a module whose field is null or of the wrong class, which breaks
/// its contract.
pub(super) fn incomplete(field: &str) -> ferrite_core::Error {
    plain_error!(INTERNAL_ERROR, "The module has no {}", field)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use core::ffi::CStr;

    use ferrite_core::{Function, String};

    use super::*;

    /// Defines module implementations with identical code, which optimised builds may merge.
    macro_rules! implementations {
        ($($class:ident($field:ty)),*) => {$(
            struct $class($field);

            impl ModuleImpl for $class {
                fn kind(&self) -> &CStr {
                    c"kind"
                }
                fn get_function(&self, _: &Module, _: &String) -> Result<Option<Function>> {
                    Ok(None)
                }
            }
        )*};
    }
    implementations!(Number(usize), Text(&'static str));

    #[test]
    fn implementations_are_told_apart() -> Result<()> {
        let (number, text) = (Module::from_impl(Number(7))?, Module::from_impl(Text("a text"))?);
        assert_eq!(number.implementation::<Number>().map(|number| number.0), Some(7));
        assert_eq!(text.implementation::<Text>().map(|text| text.0), Some("a text"));
        assert!(
            number.implementation::<Text>().is_none() && text.implementation::<Number>().is_none()
        );
        Ok(())
    }
}
