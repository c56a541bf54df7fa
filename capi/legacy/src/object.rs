//! Object functions of the legacy API: references, type indices and attributes. Objects are called
//! nodes up to 0.6.

use core::alloc::Layout;
use core::ffi::{c_char, c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use ferrite_alloc_ext::containers::MapObject;
use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIObject};
use ferrite_core::call::function::checked;
use ferrite_core::error::{self, Result};
use ferrite_core::names::type_table::{self, TypeEntry};
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory;
use ferrite_core::{Any, String, plain_bail};

use super::result;
use super::thread::{self, Names, no_slots};
use super::{registry, type_keys};
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::code;
use ferrite_core::abi::packed::{TVMObjectHandle, TVMValue};

/// Name of the attribute that every node has: its type key.
const TYPE_KEY: &[u8] = b"type_key";

/// Finds the type index of a type key of any release. Returns 0 and stores the index in the
/// out-parameter, or returns -1 with an error raised: InternalError for an unknown key.
///
/// # Safety
/// See the crate.
unsafe fn key_to_index(key: *const c_char, out: *mut u32) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (key, out) = unsafe {
            (boundary::c_str(key, arg(1, "type_key"))?, boundary::out(out, arg(2, "out_index"))?)
        };
        boundary::ensure_installed();
        match type_keys::index_of(key)? {
            Some(index) => out.write(index.cast_unsigned()),
            None => plain_bail!(INTERNAL_ERROR, "Unknown type key {}", key),
        }
        Ok(())
    })
}

/// Finds the type index of a type key of any release. Returns 0 and stores the index in the
/// out-parameter, or returns -1 with an error raised: InternalError for an unknown key.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMObjectTypeKey2Index(
    type_key: *const c_char,
    out_tindex: *mut u32,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { key_to_index(type_key, out_tindex) }
}

/// Finds the type index of a type key. The name of `TVMObjectTypeKey2Index` in 0.5.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMNodeTypeKey2Index(
    type_key: *const c_char,
    out_index: *mut c_int,
) -> c_int {
    // SAFETY: as the caller guarantees; both integers have four bytes.
    unsafe { key_to_index(type_key, out_index.cast()) }
}

/// Finds the type key of a type index.
///
/// Returns 0 and stores the key in `out_type_key`: a string allocated with `malloc`, which the
/// caller frees. On failure, returns -1 with an error raised: InternalError for an unknown index,
/// or MemoryError.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMObjectTypeIndex2Key(
    tindex: u32,
    out_type_key: *mut *mut c_char,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(out_type_key, arg(2, "out_type_key"))? };
        boundary::ensure_installed();
        let Some(key) = type_keys::key_of(tindex.cast_signed()) else {
            plain_bail!(INTERNAL_ERROR, "There is no type with index {}", tindex);
        };
        out.write(malloc_text(key)?.as_ptr());
        Ok(())
    })
}

/// Copies bytes to a null-terminated string allocated with `malloc`.
///
/// # Errors
/// MemoryError.
fn malloc_text(text: &[u8]) -> Result<NonNull<c_char>> {
    let Ok(layout) = Layout::array::<u8>(text.len() + 1) else {
        return Err(error::out_of_memory(usize::MAX));
    };
    // On hosts, `memory` allocates with malloc.
    let Some(block) = memory::allocate(layout) else {
        return Err(error::out_of_memory(text.len() + 1));
    };
    // SAFETY: the block has room for the text and a zero.
    unsafe {
        block.as_ptr().copy_from_nonoverlapping(text.as_ptr(), text.len());
        block.add(text.len()).write(0);
    }
    Ok(block.cast())
}

/// Borrows the object behind a handle. Returns ValueError for null.
///
/// # Safety
/// The handle must be null or a live object.
unsafe fn borrow(handle: TVMObjectHandle) -> Result<ManuallyDrop<ObjectRef>> {
    let object = boundary::non_null(handle, arg(1, "handle"))?;
    // SAFETY: the caller guarantees the object; the reference made here is never dropped.
    Ok(ManuallyDrop::new(unsafe { ObjectRef::from_raw(object.cast::<TVMFFIObject>()) }))
}

/// Returns the type index that front ends expect: the object's own, except for Maps with string
/// keys, which 0.5 and 0.6 treat as a separate class.
fn index_of(object: &ObjectRef) -> i32 {
    let Some(str_map) = type_keys::str_map() else { return object.type_index() };
    let has_text_keys = object.as_class::<MapObject>().is_some_and(|map| {
        !map.is_empty() && map.iter().all(|(key, _)| key.view().bytes_of_string().is_some())
    });
    if has_text_keys { str_map } else { object.type_index() }
}

/// Stores the type index of an object in `out_tindex`. Returns 0, or -1 with ValueError raised for
/// a null pointer.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMObjectGetTypeIndex(
    obj: TVMObjectHandle,
    out_tindex: *mut u32,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (object, out) =
            unsafe { (borrow(obj)?, boundary::out(out_tindex, arg(2, "out_tindex"))?) };
        out.write(index_of(&object).cast_unsigned());
        Ok(())
    })
}

/// Stores the type index of an object. The name of `TVMObjectGetTypeIndex` in 0.5.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMNodeGetTypeIndex(
    handle: TVMObjectHandle,
    out_index: *mut c_int,
) -> c_int {
    // SAFETY: as the caller guarantees; both integers have four bytes.
    unsafe { TVMObjectGetTypeIndex(handle, out_index.cast()) }
}

/// Adds a reference to an object. Returns 0, or -1 with ValueError raised for null.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMObjectRetain(obj: TVMObjectHandle) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        core::mem::forget(ObjectRef::clone(&*unsafe { borrow(obj)? }));
        Ok(())
    })
}

/// Releases a reference to an object. Null is ignored. Returns 0.
///
/// # Safety
/// The caller transfers the reference.
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMObjectFree(obj: TVMObjectHandle) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { registry::free(obj) }
}

/// Releases a reference to an object. The name of `TVMObjectFree` in 0.5.
///
/// # Safety
/// The caller transfers the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMNodeFree(handle: TVMObjectHandle) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { registry::free(handle) }
}

/// Stores 1 in `is_derived` if the child type is the parent type or derives from it, otherwise 0.
/// Returns 0, or -1 with ValueError raised for a null pointer.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMObjectDerivedFrom(
    child_type_index: u32,
    parent_type_index: u32,
    is_derived: *mut c_int,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(is_derived, arg(3, "is_derived"))? };
        let [child, parent] = [child_type_index, parent_type_index].map(u32::cast_signed);
        out.write(c_int::from(type_table::is_instance(child, parent)));
        Ok(())
    })
}

/// Does nothing and returns 0: byte-array results are stored in a thread-local slot, and need not
/// be freed.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMByteArrayFree(arr: *mut TVMFFIByteArray) -> c_int {
    let _ = arr;
    boundary::SUCCESS
}

/// Raises TypeError and returns -1: only C++ code can register extension types, and this library
/// supports none.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMExtTypeFree(handle: *mut c_void, type_code: c_int) -> c_int {
    let _ = handle;
    boundary::status(|| {
        plain_bail!(TYPE_ERROR, "There is no extension type with code {}", type_code)
    })
}

/// Returns the type-table entry of an object's type.
///
/// # Errors
/// InternalError for an unknown type index.
fn type_of(object: &ObjectRef) -> Result<&'static TypeEntry> {
    match type_table::type_info(object.type_index()) {
        Some(entry) => Ok(entry),
        None => plain_bail!(INTERNAL_ERROR, "There is no type with index {}", object.type_index()),
    }
}

/// Returns an iterator over the fields of a type, with inherited fields first.
fn fields_of(entry: &'static TypeEntry) -> impl Iterator<Item = &'static TVMFFIFieldInfo> {
    let inherited = entry.ancestors().iter().filter_map(|ancestor| {
        // SAFETY: ancestors are registered types, whose records are never freed.
        type_table::type_info(unsafe { (**ancestor).type_index })
    });
    inherited.chain(core::iter::once(entry)).flat_map(|entry| entry.fields())
}

fn name_of(field: &'static TVMFFIFieldInfo) -> &'static [u8] {
    // SAFETY: names of published fields live forever.
    unsafe { field.name.as_slice() }
}

/// Calls `visit` with the name of each attribute of an object.
///
/// # Errors
/// InternalError for an unknown type index; errors of `visit`.
pub(super) fn attribute_names(
    object: &ObjectRef,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    fields_of(type_of(object)?).try_for_each(|field| visit(name_of(field)))
}

/// Returns the value of an attribute, or `None` if the object does not have it.
///
/// # Errors
/// InternalError for an unknown type index; errors of the getter; MemoryError.
pub(super) fn attribute(object: &ObjectRef, name: &[u8]) -> Result<Option<Any>> {
    if name == TYPE_KEY {
        let key = type_keys::key_of(index_of(object)).unwrap_or(b"Object");
        return String::from_bytes(key).map(|key| Some(key.into()));
    }
    let Some(field) = fields_of(type_of(object)?).find(|field| name_of(field) == name) else {
        return Ok(None);
    };
    let Some(getter) = field.getter else { return Ok(None) };
    let mut value = TVMFFIAny::NONE;
    // SAFETY: the object has the field at that offset; the result of a getter is owned.
    unsafe {
        let address = object.as_ptr().byte_offset(field.offset as isize);
        checked(|| getter(address.cast(), &mut value))?;
        Ok(Some(Any::from_raw(value)))
    }
}

/// Reads an attribute of an object.
///
/// Returns 0 on success. If the object has the attribute, stores 1 in `ret_success`, and the value
/// and its type code in `ret_val` and `ret_type_code`; otherwise stores 0 in `ret_success`. Returns
/// -1 with an error raised on failure. The caller owns an object value. A string, byte-array or
/// data-type (as a string) value is stored in a thread-local slot until the thread's next call of
/// this function.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMNodeGetAttr(
    handle: TVMObjectHandle,
    key: *const c_char,
    ret_val: *mut TVMValue,
    ret_type_code: *mut c_int,
    ret_success: *mut c_int,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (object, key, value, type_code, success) = unsafe {
            (
                borrow(handle)?,
                boundary::c_str(key, arg(2, "key"))?,
                boundary::out(ret_val, arg(3, "ret_val"))?,
                boundary::out(ret_type_code, arg(4, "ret_type_code"))?,
                boundary::out(ret_success, arg(5, "ret_success"))?,
            )
        };
        let found = attribute(&object, key)?;
        success.write(c_int::from(found.is_some()));
        let given = match found {
            Some(found) => result::transfer_in(found, |slots| &slots.attribute)?,
            None => (TVMValue::of_bits(0), code::NULL),
        };
        value.write(given.0);
        type_code.write(given.1);
        Ok(())
    })
}

/// Lists the names of an object's attributes. Returns 0, or -1 with an error raised.
///
/// The list is stored in a thread-local slot, and is valid until the thread's next call of this
/// function.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMNodeListAttrNames(
    handle: TVMObjectHandle,
    out_size: *mut c_int,
    out_array: *mut *mut *const c_char,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (object, out_size, out_array) = unsafe {
            (
                borrow(handle)?,
                boundary::out(out_size, arg(2, "out_size"))?,
                boundary::out(out_array, arg(3, "out_array"))?,
            )
        };
        let mut names = Names::new();
        attribute_names(&object, &mut |name| names.push(name))?;
        let (count, array) = names.finish()?;
        thread::with(|slots| slots.attributes.replace(names)).ok_or_else(no_slots)?;
        out_size.write(count);
        out_array.write(array);
        Ok(())
    })
}
