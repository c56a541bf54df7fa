//! Member functions of `tvm::ffi::ModuleObj` that C++ clients link.
//!
//! # Safety
//! C++ code must call each function with a live module as `this`, references to live values, and
//! writable results.

use core::ffi::c_void;
use core::mem::ManuallyDrop;

use ferrite_alloc_ext::module::{Module, imports};
use ferrite_core::error;
use ferrite_core::error::Result;
use ferrite_core::value::string::String;

use super::export::{CellOut, ObjectOut, cell, object, returns_class};
use super::throw::or_throw;
use ferrite_boundary::{self as boundary, arg};

/// A C++ `this` pointer to a module. The object begins with its vptr.
pub(super) type This = *const c_void;

/// Borrows the module behind `this`.
///
/// # Errors
/// TypeError if the object is not a module.
///
/// # Safety
/// The module must be alive while the result is used.
pub(super) unsafe fn borrow(this: This) -> Result<ManuallyDrop<Module>> {
    let this = boundary::non_null(this, arg(1, "this"))?;
    // SAFETY: the caller guarantees the module.
    unsafe { Module::from_context_address(this) }
}

returns_class! {
    /// Implements `Optional<Function> GetFunction(const String& name, bool query_imports)`.
    get_function_thunk = "_ZN3tvm3ffi9ModuleObj11GetFunctionERKNS0_6StringEb" => get_function;
    /// Implements `Optional<String> GetFunctionMetadata(const String& name, bool query_imports)`.
    get_function_metadata_thunk = "_ZN3tvm3ffi9ModuleObj19GetFunctionMetadataERKNS0_6StringEb" => get_function_metadata;
    /// Implements `Optional<String> GetFunctionDoc(const String& name, bool query_imports)`.
    get_function_doc_thunk = "_ZN3tvm3ffi9ModuleObj14GetFunctionDocERKNS0_6StringEb" => get_function_doc;
}

unsafe extern "C-unwind" fn get_function(
    out: ObjectOut,
    this: This,
    name: &String,
    query_imports: bool,
) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { object(out, || borrow(this)?.get_function(name, query_imports)) }
}

unsafe extern "C-unwind" fn get_function_metadata(
    out: CellOut,
    this: This,
    name: &String,
    query_imports: bool,
) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || borrow(this)?.function_metadata(name, query_imports)) }
}

unsafe extern "C-unwind" fn get_function_doc(
    out: CellOut,
    this: This,
    name: &String,
    query_imports: bool,
) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || borrow(this)?.function_doc(name, query_imports)) }
}

/// Implements `bool ImplementsFunction(const String& name, bool query_imports)`.
#[unsafe(export_name = "_ZN3tvm3ffi9ModuleObj18ImplementsFunctionERKNS0_6StringEb")]
unsafe extern "C-unwind" fn implements_function(
    this: This,
    name: &String,
    query_imports: bool,
) -> bool {
    // SAFETY: see the file.
    or_throw(|| unsafe { borrow(this)? }.implements_function(name, query_imports))
}

/// Implements `void ImportModule(const Module& other)`, which C++ modules inherit.
///
/// # Safety
/// Same requirements as at the top of the file.
#[unsafe(export_name = "_ZN3tvm3ffi9ModuleObj12ImportModuleERKNS0_6ModuleE")]
pub(super) unsafe extern "C-unwind" fn import_module(this: This, other: &Option<Module>) {
    or_throw(|| {
        // SAFETY: see the file.
        let module = unsafe { borrow(this)? };
        match other {
            Some(other) => imports::append(&module, other),
            None => Err(error!(ValueError, "Cannot import a null module")),
        }
    });
}

/// Implements `void ClearImports()`, which C++ modules inherit.
///
/// # Safety
/// Same requirements as at the top of the file.
#[unsafe(export_name = "_ZN3tvm3ffi9ModuleObj12ClearImportsEv")]
pub(super) unsafe extern "C-unwind" fn clear_imports(this: This) {
    or_throw(|| {
        // SAFETY: see the file.
        let module = unsafe { borrow(this)? };
        imports::clear(&module)
    });
}
