//! The type table of a kernel library: queries to the loaded `libtvm_ffi` through its C functions.
//!
//! With the feature `client` a binary has no type table, raised error or allocator of its own. Its
//! objects of built-in classes are created by the loaded library, whose code outlives the kernel
//! library.

use crate::abi::{
    TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFITypeInfo, TVMFFITypeMetadata, client,
    type_index,
};
use crate::call::function::{check_status, take_raised};
use crate::error::Result;
use crate::plain_ensure;
use crate::value::any::AnyView;

#[path = "client_attr_column.rs"]
mod attr_column;
mod records;
pub use attr_column::{AttrColumn, attr_column};
pub use records::{Members, NewTypeRequest};

/// Returns the type registered at an index, or `None`.
pub fn type_info(type_index: i32) -> Option<&'static TVMFFITypeInfo> {
    // SAFETY: the record of a type lives as long as the process (ABI); objects only have registered
    // types.
    unsafe { client::TVMFFIGetTypeInfo(type_index).as_ref() }
}

/// Returns the key of a type, or a placeholder for an unregistered type.
pub fn type_key_of(type_index: i32) -> &'static [u8] {
    // SAFETY: the key lives as long as its record.
    type_info(type_index).map_or(b"<unregistered type>", |info| unsafe { info.type_key.as_slice() })
}

/// Finds the index of a type by key. Returns `None` if no loaded library has registered the type.
pub fn key_to_index(key: &[u8]) -> Option<i32> {
    let mut index = 0;
    // SAFETY: the key is valid for the call; the index for a write.
    let status =
        unsafe { client::TVMFFITypeKeyToIndex(&TVMFFIByteArray::from_slice(key), &mut index) };
    if status != 0 {
        // The answer is no; nobody reads the error.
        drop(take_raised());
        return None;
    }
    Some(index)
}

/// Returns `true` if the type at `index` is `target` or derived from it.
pub fn is_instance(index: i32, target: i32) -> bool {
    if index == target {
        return true;
    }
    if index < type_index::STATIC_OBJECT_BEGIN || target == type_index::OBJECT {
        return index >= type_index::STATIC_OBJECT_BEGIN && target == type_index::OBJECT;
    }
    let (Some(info), Some(wanted)) = (type_info(index), type_info(target)) else {
        return false;
    };
    // SAFETY: a type of depth n has n ancestors, whose records live as long as the process (ABI).
    info.type_depth > wanted.type_depth
        && unsafe { (*(*info.type_ancestors.add(wanted.type_depth as usize))).type_index == target }
}

/// Returns the index of the type with this key. Registers the type if it is unknown.
///
/// # Errors
/// InternalError for a contradictory request; MemoryError.
///
/// # Upstream
/// `TVMFFITypeGetOrAllocIndex`.
pub fn get_or_alloc_index(request: &NewTypeRequest<'_>) -> Result<i32> {
    // SAFETY: the key is valid for the call, which copies it.
    let index = unsafe {
        client::TVMFFITypeGetOrAllocIndex(
            &TVMFFIByteArray::from_slice(request.type_key),
            request.static_type_index,
            request.type_depth,
            request.num_child_slots,
            request.child_slots_can_overflow.into(),
            request.parent_type_index,
        )
    };
    if index < 0 { Err(take_raised()) } else { Ok(index) }
}

/// Adds a field to a type.
///
/// # Errors
/// The errors of the loaded library's `TVMFFITypeRegisterField`.
///
/// # Safety
/// The pointers in the record must be valid for the call, and its flags must describe setter and
/// default correctly.
pub unsafe fn register_field(type_index: i32, info: &TVMFFIFieldInfo) -> Result<()> {
    // SAFETY: the caller's promise.
    check_status(unsafe { client::TVMFFITypeRegisterField(type_index, info) })
}

/// Adds a method to a type.
///
/// # Errors
/// The errors of the loaded library's `TVMFFITypeRegisterMethod`.
///
/// # Safety
/// The pointers in the record must be valid for the call.
pub unsafe fn register_method(type_index: i32, info: &TVMFFIMethodInfo) -> Result<()> {
    // SAFETY: the caller's promise.
    check_status(unsafe { client::TVMFFITypeRegisterMethod(type_index, info) })
}

/// Sets the metadata of a type.
///
/// # Errors
/// The errors of the loaded library's `TVMFFITypeRegisterMetadata`.
///
/// # Safety
/// The doc must be valid for the call.
pub unsafe fn register_metadata(type_index: i32, metadata: &TVMFFITypeMetadata) -> Result<()> {
    // SAFETY: the caller's promise.
    check_status(unsafe { client::TVMFFITypeRegisterMetadata(type_index, metadata) })
}

/// Sets an attribute of a type. The value is retained forever.
///
/// # Errors
/// TypeError for an address, since the library calls it if the attribute is a hook (see
/// [`register_attr_unchecked`]); the errors of the loaded library's `TVMFFITypeRegisterAttr`.
pub fn register_attr(type_index: i32, name: &[u8], value: AnyView<'_>) -> Result<()> {
    plain_ensure!(
        value.type_index() != type_index::OPAQUE_PTR,
        TYPE_ERROR,
        "The attribute `{}` is an address, which only unsafe code registers",
        name
    );
    // SAFETY: the value is not an address.
    unsafe { register_attr_unchecked(type_index, name, value) }
}

/// Sets an attribute of a type as [`register_attr`] does. The value may be an address.
///
/// # Errors
/// The errors of the loaded library's `TVMFFITypeRegisterAttr`.
///
/// # Safety
/// An address must be that of a function with the signature of the attribute, such as
/// `__any_hash__` or `__s_visit__`, and stay valid until the process ends.
pub unsafe fn register_attr_unchecked(
    type_index: i32,
    name: &[u8],
    value: AnyView<'_>,
) -> Result<()> {
    let name = TVMFFIByteArray::from_slice(name);
    // SAFETY: name and value are valid for the call, which copies and retains them.
    check_status(unsafe { client::TVMFFITypeRegisterAttr(type_index, &name, value.as_raw()) })
}

/// Returns an attribute of a type, or None if the type does not have it.
pub fn attr(type_index: i32, name: &[u8]) -> AnyView<'static> {
    // SAFETY: columns and their values live as long as the process (ABI).
    unsafe {
        let column = client::TVMFFIGetTypeAttrColumn(&TVMFFIByteArray::from_slice(name));
        let Some(column) = column.as_ref() else { return AnyView::NONE };
        match type_index.checked_sub(column.begin_index) {
            Some(place @ 0..) if place < column.size => {
                AnyView::from_raw(column.data.add(place as usize).read())
            }
            _ => AnyView::NONE,
        }
    }
}

/// Returns the member counts of a registered type. An unregistered type has no members.
pub fn members(type_index: i32) -> Members {
    type_info(type_index).map_or(Members { fields: 0, methods: 0, total_size: None }, |info| {
        Members {
            fields: info.num_fields as usize,
            methods: info.num_methods as usize,
            // SAFETY: metadata lives as long as the process (ABI).
            total_size: unsafe { info.metadata.as_ref() }.map(|metadata| metadata.total_size),
        }
    })
}

/// Returns the fields of a type, without those of its ancestors. An unregistered type has none.
pub(crate) fn fields(type_index: i32) -> &'static [TVMFFIFieldInfo] {
    // SAFETY: fields live as long as the process (ABI).
    type_info(type_index).map_or(&[], |info| unsafe { array(info.fields, info.num_fields) })
}

/// Returns the metadata of a registered field.
pub(crate) fn metadata_of(field: &TVMFFIFieldInfo) -> &[u8] {
    // SAFETY: the metadata of registered members lives as long as the process (ABI).
    unsafe { field.metadata.as_slice() }
}

/// Returns the number of ancestors of a type, or `None` if it is not registered.
pub fn depth(type_index: i32) -> Option<i32> {
    type_info(type_index).map(|info| info.type_depth)
}

/// Finds a field by name: of the type itself, or of its nearest ancestor that has one.
pub fn find_field(type_index: i32, name: &[u8]) -> Option<&'static TVMFFIFieldInfo> {
    find_member(type_index, |info| {
        // SAFETY: fields live as long as the process (ABI).
        let fields = unsafe { array(info.fields, info.num_fields) };
        fields.iter().find(|field| is_named(&field.name, name))
    })
}

/// Finds a method by name: of the type itself, or of its nearest ancestor that has one.
pub fn find_method(type_index: i32, name: &[u8]) -> Option<&'static TVMFFIMethodInfo> {
    find_member(type_index, |info| {
        // SAFETY: methods live as long as the process (ABI).
        let methods = unsafe { array(info.methods, info.num_methods) };
        methods.iter().find(|method| is_named(&method.name, name))
    })
}

/// Returns `true` if a registered member has this name.
pub(crate) fn is_named(member: &TVMFFIByteArray, name: &[u8]) -> bool {
    // SAFETY: names of registered members live as long as the process (ABI).
    unsafe { member.as_slice() == name }
}

/// Borrows an array of a type's record.
///
/// # Safety
/// `data` must point to that many records that live as long as the process, unless there are none.
unsafe fn array<T>(data: *const T, len: i32) -> &'static [T] {
    // SAFETY: the caller's promise.
    if len <= 0 { &[] } else { unsafe { core::slice::from_raw_parts(data, len as usize) } }
}

/// Searches a type, then its ancestors, from the parent to the root.
fn find_member<R>(
    type_index: i32,
    find: impl Fn(&'static TVMFFITypeInfo) -> Option<R>,
) -> Option<R> {
    let info = type_info(type_index)?;
    // SAFETY: a type of depth n has n ancestors, whose records live as long as the process (ABI).
    let ancestors = unsafe { array(info.type_ancestors, info.type_depth) };
    find(info).or_else(|| {
        // SAFETY: as above.
        ancestors.iter().rev().find_map(|ancestor| find(unsafe { &**ancestor }))
    })
}
