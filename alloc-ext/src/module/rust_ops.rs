//! Modules of implementations in Rust: their function tables, and their creation.

use core::ffi::CStr;

use ferrite_core::error::Result;
use ferrite_core::{Any, Bytes, String};

use super::class::Class;
use super::imports;
use super::interface::{Module, ModuleImpl, ModuleOps, Query};
use super::record::{self, implementation};
use crate::containers::Array;

struct ClassOf<T>(core::marker::PhantomData<T>);

impl<T: ModuleImpl> ClassOf<T> {
    const TABLE: &'static Class = &Class::new::<T>(ops_of::<T>());
}

/// Creates a module object for `implementation`.
///
/// # Errors
/// MemoryError; the implementation is then dropped.
pub(super) fn allocate<T: ModuleImpl>(implementation: T) -> Result<Module> {
    // SAFETY: the class is the one of `T`.
    unsafe { record::allocate(implementation, ClassOf::<T>::TABLE) }
}

/// Returns the function table of modules implemented by `T`.
///
/// The table is reachable only through records of such modules, so its functions are only called
/// with such modules.
const fn ops_of<T: ModuleImpl>() -> ModuleOps {
    ModuleOps {
        kind: kind::<T>,
        property_mask: property_mask::<T>,
        query: query::<T>,
        write_to_file: write_to_file::<T>,
        write_formats: write_formats::<T>,
        save_to_bytes: save_to_bytes::<T>,
        inspect_source: inspect_source::<T>,
        #[cfg(feature = "std")]
        import_module: import_module::<T>,
        #[cfg(not(feature = "std"))]
        import_module: imports::append,
        clear_imports: imports::clear,
    }
}

fn kind<T: ModuleImpl>(module: &Module) -> Result<&CStr> {
    // SAFETY: reached through records of `T` only.
    Ok(unsafe { implementation::<T>(module) }.kind())
}

fn property_mask<T: ModuleImpl>(module: &Module) -> Result<i32> {
    // SAFETY: reached through records of `T` only.
    Ok(unsafe { implementation::<T>(module) }.property_mask())
}

fn query<T: ModuleImpl>(module: &Module, query: Query, name: &String) -> Result<Any> {
    // SAFETY: reached through records of `T` only.
    let implementation = unsafe { implementation::<T>(module) };
    Ok(match query {
        Query::Function => implementation.get_function(module, name)?.into(),
        Query::Implementation => {
            implementation.implements_function(module, name)?.then_some(true).into()
        }
        Query::Doc => implementation.function_doc(name)?.into(),
        Query::Metadata => implementation.function_metadata(name)?.into(),
    })
}

fn write_to_file<T: ModuleImpl>(module: &Module, file: &String, format: &String) -> Result<()> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.write_to_file(file, format)
}

fn write_formats<T: ModuleImpl>(module: &Module) -> Result<Array<String>> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.write_formats()
}

fn save_to_bytes<T: ModuleImpl>(module: &Module) -> Result<Bytes> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.save_to_bytes()
}

fn inspect_source<T: ModuleImpl>(module: &Module, format: &String) -> Result<String> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.inspect_source(format)
}

#[cfg(feature = "std")]
fn import_module<T: ModuleImpl>(module: &Module, other: &Module) -> Result<()> {
    // SAFETY: reached through records of `T` only.
    let implementation = unsafe { implementation::<T>(module) };
    if implementation.import_elsewhere(module, other)? {
        return Ok(());
    }
    imports::append(module, other)
}
