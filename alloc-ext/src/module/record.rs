//! The memory of a module: the part that C++ knows, then the Rust implementation.

use core::ffi::c_void;
use core::mem::{ManuallyDrop, offset_of, size_of};
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::{ObjectRef, plain_error, type_index};

use super::class::Class;
use super::{Module, ModuleImpl, ModuleOps, cxx_class, lookup_cache};
use crate::containers::ArrayObject;

/// Bytes from the C++ object (its vptr) to the handle, on 32-bit machines too: the header is 8-aligned.
pub(super) const HANDLE_OFFSET: usize = 8;

/// `tvm::ffi::ModuleObj`: what every module begins with, whoever made it.
#[repr(C)]
pub(super) struct ModuleObj {
    /// The C++ virtual table; null in builds that C++ cannot call.
    vptr: *const c_void,
    header: TVMFFIObject,
    /// An owned Array, never null. Under the lock of `imports`.
    pub imports: Option<ObjectRef>,
    /// What [`lookup_cache`] makes, never null; in C++ a Map. Under the same lock.
    pub import_lookup_cache: Option<ObjectRef>,
}

/// A module made in Rust.
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

// SAFETY: repr(C), and the header lies where PREFIX_BYTES says.
unsafe impl<T: ModuleImpl> ObjectRecord for ModuleRecord<T> {
    const PREFIX_BYTES: usize = HANDLE_OFFSET;

    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<u8>().wrapping_sub(HANDLE_OFFSET).cast::<ModuleRecord<T>>();
        // SAFETY: the record is initialised and ours alone; both references are owned. The implementation
        // goes first, as a derived class does in C++; a library that it held is destroyed after the imports.
        unsafe {
            ManuallyDrop::drop(&mut (*record).implementation);
            (&raw mut (*record).object.import_lookup_cache).drop_in_place();
            (&raw mut (*record).object.imports).drop_in_place();
        }
    }
}

struct ClassOf<T>(core::marker::PhantomData<T>);

impl<T: ModuleImpl> ClassOf<T> {
    const TABLE: &'static Class = &Class::new::<T>();
}

/// Makes a module object around `implementation`.
///
/// # Errors
/// `MemoryError`; the implementation is dropped then.
pub(super) fn allocate<T: ModuleImpl>(implementation: T) -> Result<Module> {
    let imports = ArrayObject::with_capacity(0)?;
    let cache = lookup_cache::empty()?;
    let init = |record: *mut ModuleRecord<T>| {
        // SAFETY: the record has room for every field; the header is not written.
        unsafe {
            (&raw mut (*record).object.vptr).write(cxx_class::vptr());
            (&raw mut (*record).class).write(ClassOf::<T>::TABLE);
            (&raw mut (*record).object.imports).write(Some(imports.into_object()));
            (&raw mut (*record).object.import_lookup_cache).write(Some(cache.into_object()));
            (&raw mut (*record).implementation).write(ManuallyDrop::new(implementation));
        }
    };
    // SAFETY: `init` fills the record, whose layout is that of ffi.Module.
    let object = unsafe { object_alloc::allocate(type_index::MODULE, 0, init)? };
    // SAFETY: just made as such.
    Ok(unsafe { Module::from_object_unchecked(object) })
}

/// The C++ object of a module: what C++ calls `this`, and what library contexts hold.
pub(super) fn cxx_object(module: &Module) -> *mut c_void {
    module.as_object().as_ptr().cast::<u8>().wrapping_sub(HANDLE_OFFSET).cast()
}

/// Borrows the module whose C++ object is `this`.
///
/// # Safety
/// `this` must be the C++ object of a live module, which stays alive while the result is used.
pub(super) unsafe fn borrow_this(this: *mut c_void) -> ManuallyDrop<Module> {
    let handle = this.cast::<u8>().wrapping_add(HANDLE_OFFSET).cast::<TVMFFIObject>();
    // SAFETY: the caller vouches for a live module; ManuallyDrop leaves its count alone.
    ManuallyDrop::new(unsafe {
        Module::from_object_unchecked(ObjectRef::from_raw(NonNull::new_unchecked(handle)))
    })
}

/// The C++ part of a module.
pub(super) fn module_obj(module: &Module) -> *mut ModuleObj {
    cxx_object(module).cast()
}

/// What a module made here has of its implementation.
fn own_class(module: &Module) -> Option<&'static Class> {
    let object = module_obj(module);
    // SAFETY: every module begins with a vptr that never changes; those with ours are `ModuleRecord`s, in which the
    // class follows the C++ part whatever the implementation is.
    unsafe {
        let vptr = (*object).vptr;
        let own = vptr.is_null() || vptr == cxx_class::vptr();
        own.then(|| (*object.cast::<ModuleRecord<()>>()).class)
    }
}

/// The functions of any module.
///
/// # Errors
/// `InternalError` for a module of C++ in a build that cannot call it.
pub(super) fn ops(module: &Module) -> Result<&'static ModuleOps> {
    match own_class(module).map(|class| &class.ops).or_else(cxx_class::ops) {
        Some(ops) => Ok(ops),
        None => Err(plain_error!(INTERNAL_ERROR, "This build cannot use modules that were made by C++")),
    }
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
#[cfg(feature = "std")]
pub(super) fn try_implementation<T: ModuleImpl>(module: &Module) -> Option<&T> {
    // SAFETY: a module of this class was made by `allocate::<T>`.
    own_class(module).is_some_and(Class::is_of::<T>).then(|| unsafe { implementation(module) })
}

/// The error for a module whose field is null, against its contract.
pub(super) fn incomplete(field: &str) -> ferrite_core::Error {
    plain_error!(INTERNAL_ERROR, "The module has no {}", field)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use core::ffi::CStr;

    use ferrite_core::{Function, String};

    use super::*;

    /// Two implementations with the same code, which optimized builds may merge.
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
        assert!(number.implementation::<Text>().is_none() && text.implementation::<Number>().is_none());
        Ok(())
    }
}
