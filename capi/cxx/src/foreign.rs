//! Modules implemented by C++ classes, called through their virtual functions.

use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::containers::{Array, ArrayObject};
use ferrite_alloc_ext::module::{Module, ModuleOps, Query};
use ferrite_core::abi::TVMFFIObject;
use ferrite_core::bail;
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::Any;
use ferrite_core::value::string::{Bytes, String};

use super::call;
use super::module_slots::Slot;

/// Module operations that call the virtual functions of a C++ module.
pub(super) const OPS: ModuleOps = ModuleOps {
    kind,
    property_mask,
    query,
    write_to_file,
    write_formats,
    save_to_bytes,
    inspect_source: |module, format| text(module, Slot::InspectSource, format)?.get(),
    import_module,
    clear_imports,
};

/// Returns the address of a virtual function of a C++ module.
fn function(module: &Module, slot: Slot) -> *const c_void {
    let object: *const *const *const c_void = module.context_address().cast();
    // SAFETY: a module begins with its vptr, which points to the twelve functions of `ModuleObj`
    // and those of its class.
    unsafe { (*object).add(slot as usize).read() }
}

/// Returns the address of a string's cell, which is how C++ functions take a `const String&`.
fn address(string: &String) -> *const c_void {
    ptr::from_ref(string).cast()
}

/// Calls a virtual function that returns a number or pointer.
///
/// # Safety
/// The virtual function must take these arguments, which are addresses of live values.
unsafe fn word(module: &Module, slot: Slot, args: [*const c_void; 2]) -> Result<u64> {
    let [first, second] = args;
    // SAFETY: the caller guarantees the arguments.
    let [word, _] =
        unsafe { call::words(function(module, slot), [module.context_address(), first, second])? };
    Ok(word)
}

/// Calls a virtual function that returns an object reference.
///
/// # Errors
/// The error thrown by the function; InternalError if the object is of another class.
///
/// # Safety
/// The virtual function must take this argument, which is null or the address of a live value.
unsafe fn object<T: ObjectClass>(
    module: &Module,
    slot: Slot,
    arg: *const c_void,
) -> Result<Option<T>> {
    let args = [module.context_address().cast_const(), arg];
    // SAFETY: the caller guarantees the argument; the result begins with a reference, which is
    // owned, or null.
    let object = unsafe {
        let result = call::memory(function(module, slot), args)?;
        let object = (&raw const result).cast::<*mut TVMFFIObject>().read();
        NonNull::new(object).map(|object| ObjectRef::from_raw(object))
    };
    match object.map(ObjectRef::downcast).transpose() {
        Ok(object) => Ok(object),
        Err(_) => {
            bail!(InternalError, "A module returned an object that is not a `{}`", T::TYPE_KEY)
        }
    }
}

/// Calls a virtual function that returns a cell.
///
/// # Safety
/// Same requirements as [`object`].
unsafe fn cell(module: &Module, slot: Slot, arg: *const c_void) -> Result<Any> {
    let args = [module.context_address().cast_const(), arg];
    // SAFETY: the caller guarantees the argument; the cell is owned.
    unsafe { Ok(Any::from_raw(call::memory(function(module, slot), args)?)) }
}

fn text(module: &Module, slot: Slot, arg: &String) -> Result<Any> {
    // SAFETY: the slots that return strings take a string.
    unsafe { cell(module, slot, address(arg)) }
}

fn kind(module: &Module) -> Result<&CStr> {
    // SAFETY: the function takes nothing and returns null or a string that lives as long as the
    // module.
    unsafe {
        let text = word(module, Slot::Kind, [ptr::null(); 2])? as usize;
        Ok(if text == 0 { c"" } else { CStr::from_ptr(ptr::with_exposed_provenance(text)) })
    }
}

fn property_mask(module: &Module) -> Result<i32> {
    // SAFETY: the function takes nothing; an int is the lower half of its register.
    Ok(unsafe { word(module, Slot::GetPropertyMask, [ptr::null(); 2])? } as i32)
}

fn query(module: &Module, query: Query, name: &String) -> Result<Any> {
    let text = |slot| text(module, slot, name)?.get::<Option<String>>();
    Ok(match query {
        Query::Function => get_function(module, name)?.into(),
        Query::Implementation => implements_function(module, name)?.then_some(true).into(),
        Query::Doc => text(Slot::GetFunctionDoc)?.into(),
        Query::Metadata => text(Slot::GetFunctionMetadata)?.into(),
    })
}

fn get_function(module: &Module, name: &String) -> Result<Option<Function>> {
    // SAFETY: the function takes a string.
    unsafe { object(module, Slot::GetFunction, address(name)) }
}

fn implements_function(module: &Module, name: &String) -> Result<bool> {
    // SAFETY: the function takes a string; a bool is the lowest byte of its register.
    Ok(unsafe { word(module, Slot::ImplementsFunction, [address(name), ptr::null()])? } as u8 != 0)
}

fn write_to_file(module: &Module, file: &String, format: &String) -> Result<()> {
    // SAFETY: the function takes two strings.
    unsafe { word(module, Slot::WriteToFile, [address(file), address(format)]) }.map(drop)
}

fn write_formats(module: &Module) -> Result<Array<String>> {
    // SAFETY: the function takes nothing, and its array holds strings.
    unsafe {
        let formats: Option<ArrayObject> = object(module, Slot::GetWriteFormats, ptr::null())?;
        formats.map_or_else(Array::new, |formats| Ok(Array::from_object_unchecked(formats)))
    }
}

fn save_to_bytes(module: &Module) -> Result<Bytes> {
    // SAFETY: the function takes nothing.
    unsafe { cell(module, Slot::SaveToBytes, ptr::null()) }?.get()
}

fn import_module(module: &Module, other: &Module) -> Result<()> {
    let other = other.as_object().as_ptr();
    // SAFETY: the function takes the address of a reference.
    unsafe { word(module, Slot::ImportModule, [(&raw const other).cast(), ptr::null()]) }.map(drop)
}

fn clear_imports(module: &Module) -> Result<()> {
    // SAFETY: the function takes nothing.
    unsafe { word(module, Slot::ClearImports, [ptr::null(); 2]) }.map(drop)
}
