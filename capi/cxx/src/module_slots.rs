//! Virtual functions of the library's own modules, which C++ code calls through their virtual
//! table.
//!
//! # Safety
//! C++ code must call each function with a live module as `this`, references to live values, and
//! writable results.

use core::ffi::{CStr, c_char, c_int, c_void};

use ferrite_core::value::string::String;

use super::class_info::{Constant, DerivedTypeInfo, VirtualTable};
use super::export::{CellOut, ObjectOut, cell, object, returns_class};
use super::module_class::derived_module;
use super::module_members::{This, borrow, clear_imports, import_module};
use super::throw::or_throw;

/// Virtual functions of `ModuleObj`, numbered by their slots in the virtual table.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    Kind,
    GetPropertyMask,
    GetFunction,
    ImplementsFunction,
    GetFunctionDoc,
    GetFunctionMetadata,
    WriteToFile,
    GetWriteFormats,
    SaveToBytes,
    InspectSource,
    ImportModule,
    ClearImports,
}

static INFO: Constant<DerivedTypeInfo> = Constant(derived_module(c"N7ferrite6ModuleE".as_ptr()));

static TABLE: Constant<VirtualTable<12>> = Constant(VirtualTable {
    offset_to_top: 0,
    type_info: (&raw const INFO).cast(),
    functions: [
        kind as *const c_void,
        get_property_mask as *const c_void,
        get_function_thunk as *const c_void,
        implements_function as *const c_void,
        get_function_doc_thunk as *const c_void,
        get_function_metadata_thunk as *const c_void,
        write_to_file as *const c_void,
        get_write_formats_thunk as *const c_void,
        save_to_bytes_thunk as *const c_void,
        inspect_source_thunk as *const c_void,
        import_module as *const c_void,
        clear_imports as *const c_void,
    ],
});

/// Virtual table pointer of the library's own modules.
pub(super) const VPTR: *const c_void = (&raw const TABLE.0.functions).cast();

returns_class! {
    get_function_thunk => get_function;
    get_function_doc_thunk => get_function_doc;
    get_function_metadata_thunk => get_function_metadata;
    get_write_formats_thunk => get_write_formats;
    save_to_bytes_thunk => save_to_bytes;
    inspect_source_thunk => inspect_source;
}

/// Implements `kind()`: returns the module's kind as a C string that lives as long as the module.
unsafe extern "C-unwind" fn kind(this: This) -> *const c_char {
    // SAFETY: see the file.
    or_throw(|| unsafe { borrow(this)? }.kind().map(CStr::as_ptr))
}

unsafe extern "C-unwind" fn get_property_mask(this: This) -> c_int {
    // SAFETY: see the file.
    or_throw(|| unsafe { borrow(this)? }.property_mask())
}

unsafe extern "C-unwind" fn get_function(out: ObjectOut, this: This, name: &String) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { object(out, || borrow(this)?.get_function(name, false)) }
}

unsafe extern "C-unwind" fn implements_function(this: This, name: &String) -> bool {
    // SAFETY: see the file.
    or_throw(|| unsafe { borrow(this)? }.implements_function(name, false))
}

unsafe extern "C-unwind" fn get_function_doc(
    out: CellOut,
    this: This,
    name: &String,
) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || borrow(this)?.function_doc(name, false)) }
}

unsafe extern "C-unwind" fn get_function_metadata(
    out: CellOut,
    this: This,
    name: &String,
) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || borrow(this)?.function_metadata(name, false)) }
}

unsafe extern "C-unwind" fn write_to_file(this: This, file: &String, format: &String) {
    // SAFETY: see the file.
    or_throw(|| unsafe { borrow(this)? }.write_to_file(file, format));
}

unsafe extern "C-unwind" fn get_write_formats(out: ObjectOut, this: This) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { object(out, || borrow(this)?.write_formats()) }
}

unsafe extern "C-unwind" fn save_to_bytes(out: CellOut, this: This) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || borrow(this)?.save_to_bytes()) }
}

unsafe extern "C-unwind" fn inspect_source(
    out: CellOut,
    this: This,
    format: &String,
) -> *mut c_void {
    // SAFETY: see the file.
    unsafe { cell(out, || borrow(this)?.inspect_source(format)) }
}
