//! Registration of members of types: fields, methods, metadata and attributes, which share one
//! implementation.
//!
//! Steps that may call a custom allocator, raise errors or write to the log run before the
//! registry's lock is taken or after it is released.

use crate::platform::sync::atomic::{AtomicI32, Ordering};
use core::ffi::c_void;
use core::mem::{MaybeUninit, offset_of};
use core::ptr;

use crate::abi::type_index::{FUNCTION, NONE, OPAQUE_PTR};
use crate::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFIObject, TVMFFITypeInfo,
    TVMFFITypeMetadata, kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitSetterIsFunctionObj,
};
use crate::error::{Error, Result};
use crate::object::refcount;
use crate::platform::upstream_release;
use crate::value::any::{Any, AnyView};
use crate::{__error_site, __template, plain_bail, plain_ensure};

use super::arena::{Arena, NoMemory};
use super::attr_column::{self, AttrColumn};
use super::columns;
use super::entry::{self, TypeEntry};
use super::growing_array::ArrayLayout;
use super::{REGISTRY, ensure_provided, field_names, library_members, shadowed, type_info};

/// Kinds of members of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberKind {
    Field,
    Method,
    Metadata,
    Attr,
}

/// Memory layout of the records of one kind of member.
struct MemberLayout {
    /// Layout of the array of records, in the type's entry or the attribute's column.
    array: ArrayLayout,
    kind: MemberKind,
    /// Number of strings at the start of the C record.
    text_count: u8,
    /// Offset in the record of the value that it owns.
    value: u8,
}

static FIELDS: MemberLayout = MemberLayout {
    array: entry::FIELDS,
    kind: MemberKind::Field,
    text_count: 3,
    value: offset_of!(TVMFFIFieldInfo, default_value_or_factory) as u8,
};

static METHODS: MemberLayout = MemberLayout {
    array: entry::METHODS,
    kind: MemberKind::Method,
    text_count: 3,
    value: offset_of!(TVMFFIMethodInfo, method) as u8,
};

static METADATA: MemberLayout =
    MemberLayout { array: entry::METADATA, kind: MemberKind::Metadata, text_count: 1, value: 0 };

static ATTRS: MemberLayout =
    MemberLayout { array: attr_column::VALUES, kind: MemberKind::Attr, text_count: 1, value: 0 };

// MemberLayout begin with their strings.
const _: () = {
    assert!(offset_of!(TVMFFIFieldInfo, metadata) == 2 * size_of::<TVMFFIByteArray>());
    assert!(offset_of!(TVMFFIMethodInfo, metadata) == 2 * size_of::<TVMFFIByteArray>());
    assert!(offset_of!(TVMFFITypeMetadata, doc) == 0);
};

/// An attribute to register: its name and its column.
#[repr(C)]
struct NewAttr {
    name: TVMFFIByteArray,
    column: *const AttrColumn,
}

/// Adds a field to a type.
///
/// Strings are copied; the default value, and a setter that is a function, are retained forever. A
/// field that shadows an ancestor's field is added with a warning. If the library itself added the
/// field to the type, `info` is ignored.
///
/// # Errors
/// InternalError for an unknown type or a name that the type already has; ValueError for an empty
/// name or a string with null data and a non-zero size; TypeError for a setter that should be a
/// function but is not; MemoryError. On failure nothing is changed.
///
/// # Safety
/// The pointers in the record must be valid for the call, and its flags must describe setter and
/// default correctly.
///
/// # Upstream
/// `TVMFFITypeRegisterField`.
pub unsafe fn register_field(type_index: i32, info: &TVMFFIFieldInfo) -> Result<()> {
    ensure_provided();
    // SAFETY: the caller guarantees the record.
    if unsafe { library_members::has_field(type_index, &info.name) } {
        return Ok(());
    }
    let has = |flag: i32| info.flags & i64::from(flag) != 0;
    let setter: *mut TVMFFIObject = if has(kTVMFFIFieldFlagBitSetterIsFunctionObj) {
        info.setter.cast()
    } else {
        ptr::null_mut()
    };
    // SAFETY: the caller guarantees a live object or null.
    let is_function = setter.is_null() || unsafe { (*setter).type_index == FUNCTION };
    plain_ensure!(
        is_function, TYPE_ERROR, "The setter of a field must be an `ffi.Function`";
        "no function"
    );
    let default = if has(kTVMFFIFieldFlagBitMaskHasDefault) {
        &info.default_value_or_factory
    } else {
        &TVMFFIAny::NONE
    };
    // SAFETY: the caller guarantees the record.
    unsafe { add::<FIELD_COPY>(type_index, &FIELDS, ptr::from_ref(info).cast(), default)? };
    if !setter.is_null() {
        // SAFETY: the caller guarantees a live object; the published record owns this reference
        // forever.
        unsafe { refcount::retain(setter) };
    }
    if !upstream_release::fields_may_repeat() {
        // SAFETY: the name was checked.
        unsafe { shadowed::warn(type_index, &info.name) };
    }
    Ok(())
}

/// Adds a method to a type. Several methods may have the same name, like overloads.
///
/// Strings are copied; the function is retained forever. If the library itself added a method of
/// this name to the type, `info` is ignored.
///
/// # Errors
/// InternalError for an unknown type; ValueError as for fields; MemoryError. On failure nothing is
/// changed.
///
/// # Safety
/// The pointers in the record must be valid for the call.
///
/// # Upstream
/// `TVMFFITypeRegisterMethod`.
pub unsafe fn register_method(type_index: i32, info: &TVMFFIMethodInfo) -> Result<()> {
    ensure_provided();
    // SAFETY: the caller guarantees the record.
    if unsafe { library_members::has_method(type_index, &info.name) } {
        return Ok(());
    }
    // SAFETY: the caller guarantees the record.
    unsafe { add::<METHOD_COPY>(type_index, &METHODS, ptr::from_ref(info).cast(), &info.method) }
}

/// Sets the metadata of a type. Setting the same metadata again has no effect.
///
/// # Errors
/// InternalError for an unknown type; RuntimeError if the type has different metadata; ValueError
/// for a doc with null data and a non-zero size; MemoryError. On failure nothing is changed.
///
/// # Safety
/// The doc must be valid for the call.
///
/// # Upstream
/// `TVMFFITypeRegisterMetadata`, which refuses equal metadata too.
pub unsafe fn register_metadata(type_index: i32, metadata: &TVMFFITypeMetadata) -> Result<()> {
    ensure_provided();
    // SAFETY: the caller guarantees the record.
    unsafe {
        add::<METADATA_COPY>(
            type_index,
            &METADATA,
            ptr::from_ref(metadata).cast(),
            &TVMFFIAny::NONE,
        )
    }
}

/// Sets an attribute of a type. The value is retained forever. Type index None only creates the
/// column. If the library itself registered the attribute for the type, `value` is ignored.
///
/// # Errors
/// TypeError for an address, since the library calls it if the attribute is a hook (see
/// [`register_attr_unchecked`]); InternalError for an unknown type; RuntimeError if the type
/// already has the attribute; ValueError for a null raw string; MemoryError. On failure no value is
/// changed.
///
/// # Upstream
/// `TVMFFITypeRegisterAttr`, which does not check whether the type is known.
pub fn register_attr(type_index: i32, name: &[u8], value: AnyView<'_>) -> Result<()> {
    plain_ensure!(
        value.type_index() != OPAQUE_PTR,
        TYPE_ERROR,
        "The attribute `{}` is an address, which only unsafe code registers",
        name;
        "unsafe `{}`",
        name
    );
    // SAFETY: the value is not an address.
    unsafe { register_attr_unchecked(type_index, name, value) }
}

/// Sets an attribute of a type as [`register_attr`] does. The value may be an address.
///
/// # Errors
/// The errors of [`register_attr`], except TypeError.
///
/// # Safety
/// An address must be that of a function with the signature of the attribute, such as
/// `__any_hash__` or `__s_visit__`, and stay valid until the process ends.
pub unsafe fn register_attr_unchecked(
    type_index: i32,
    name: &[u8],
    value: AnyView<'_>,
) -> Result<()> {
    ensure_provided();
    let column = columns::get_or_make(name)?;
    if type_index == NONE || library_members::has_attr(type_index, column) {
        return Ok(());
    }
    let name = TVMFFIByteArray { data: name.as_ptr().cast(), size: name.len() };
    let attr = NewAttr { name, column };
    // SAFETY: the name is borrowed.
    unsafe { add::<ATTR_COPY>(type_index, &ATTRS, ptr::from_ref(&attr).cast(), value.as_raw()) }
}

/// Reasons why a member was not added. Converted to an error after the registry's lock is released.
enum MemberError {
    /// The type already has a member with this name.
    Taken,
    NoMemory(NoMemory),
}

impl From<NoMemory> for MemberError {
    fn from(refused: NoMemory) -> MemberError {
        MemberError::NoMemory(refused)
    }
}

/// Returns the number of the copy of [`add`] for a kind of member. Builds for speed have a copy for
/// each kind, so that the compiler folds the constants of its layout, in the closure, too.
const fn copy_for(kind: MemberKind) -> usize {
    if cfg!(feature = "speed") { kind as usize } else { 0 }
}

const FIELD_COPY: usize = copy_for(MemberKind::Field);
const METHOD_COPY: usize = copy_for(MemberKind::Method);
const METADATA_COPY: usize = copy_for(MemberKind::Metadata);
const ATTR_COPY: usize = copy_for(MemberKind::Attr);

/// Adds a member to a type. The published record owns a copy of `value`.
///
/// # Safety
/// `record` must be a record of the given kind. Each of its strings must be valid for the call or
/// have null data, and `value` must be valid.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn add<const COPY: usize>(
    type_index: i32,
    records: &'static MemberLayout,
    record: *const TVMFFIByteArray,
    value: &TVMFFIAny,
) -> Result<()> {
    let Some(entry) = type_info(type_index) else {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: Cannot find type info for type_index={}",
            type_index;
            "no type {}",
            type_index
        );
    };
    // SAFETY: the caller guarantees the record.
    unsafe { check_texts(records, record)? };
    // SAFETY: the caller guarantees the value.
    let view = unsafe { AnyView::in_place(value) };
    let mut owned = MaybeUninit::uninit();
    view.write_owned(&mut owned)?;
    // SAFETY: after success it is an owned value.
    let value = unsafe { Any::from_raw(owned.assume_init()) };
    let added = REGISTRY.with(|registry| {
        // SAFETY: the strings were checked, and the caller guarantees them.
        unsafe { publish(&registry.arena, entry, records, record, value.as_raw()) }
    });
    match added {
        Ok(()) => {
            // The published record owns the value forever.
            core::mem::forget(value);
            Ok(())
        }
        // A client registered it first, after the provider had run out of memory.
        Err(MemberError::Taken) if library_members::is_providing() => Ok(()),
        // SAFETY: as above.
        Err(MemberError::Taken) => Err(unsafe { is_there_already(records, record, entry) }),
        Err(MemberError::NoMemory(refused)) => Err(refused.into_error()),
    }
}

/// Returns an error if a string of the record is unreadable or its name is empty.
///
/// # Safety
/// `record` must be a record of the given kind.
unsafe fn check_texts(records: &MemberLayout, record: *const TVMFFIByteArray) -> Result<()> {
    let count = records.text_count.into();
    // SAFETY: the record begins with that many strings.
    let texts = unsafe { core::slice::from_raw_parts(record, count) };
    for text in texts {
        plain_ensure!(
            text.size.cast_signed() >= 0 && (!text.data.is_null() || text.size == 0),
            VALUE_ERROR,
            "A name, doc or metadata has no data, but {} bytes",
            text.size;
            "bad size"
        );
    }
    plain_ensure!(count < 3 || texts[0].size != 0, VALUE_ERROR, "A field or method needs a name"; "no name");
    Ok(())
}

/// Whether strings equal to those of the previous member are shared. Size-optimised builds copy
/// each one instead, which takes more memory but less code.
const SHARES_TEXTS: bool = cfg!(feature = "speed");

/// Writes a member to the type's array and publishes it. The caller holds the registry's lock.
///
/// # Safety
/// `record` must be a record of the given kind, and its strings valid.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn publish(
    arena: &Arena,
    entry: &TypeEntry,
    records: &'static MemberLayout,
    record: *const TVMFFIByteArray,
    value: &TVMFFIAny,
) -> core::result::Result<(), MemberError> {
    let kind = records.kind;
    let array = match kind {
        // SAFETY: an attribute comes with its column, which lives forever.
        MemberKind::Attr => unsafe { &*(*record.cast::<NewAttr>()).column }.array(&records.array),
        _ => entry.array(&records.array),
    };
    let index = match kind {
        MemberKind::Field if !upstream_release::fields_may_repeat() => {
            // SAFETY: the caller guarantees the name.
            if unsafe { has_field(entry.as_ptr(), &*record) } {
                return Err(MemberError::Taken);
            }
            array.len()
        }
        MemberKind::Metadata => 0,
        MemberKind::Attr => entry.type_index() as usize,
        _ => array.len(),
    };
    let place = array.place(arena, index)?.as_ptr();
    // SAFETY: the array has space for the record, which is not read before it is published; the
    // value of an attribute is only read once its type index is set.
    unsafe {
        if kind == MemberKind::Metadata && array.len() != 0 {
            let is_same = is_same_metadata(&*place.cast(), &*record.cast());
            return if is_same { Ok(()) } else { Err(MemberError::Taken) };
        }
        if kind != MemberKind::Attr {
            let bytes = records.array.record_bytes.into();
            place.copy_from_nonoverlapping(record.cast(), bytes);
            let has_one_before = SHARES_TEXTS && index != 0;
            let before = has_one_before.then(|| place.cast_const().sub(bytes).cast());
            keep_texts(arena, place.cast(), records.text_count, before)?;
        }
        if kind != MemberKind::Metadata {
            let to = place.add(records.value.into()).cast::<TVMFFIAny>();
            if kind == MemberKind::Attr && (*to).type_index != NONE {
                return Err(MemberError::Taken);
            }
            (&raw mut (*to).small_str_len).write(value.small_str_len);
            (&raw mut (*to).payload).write(value.payload);
            AtomicI32::from_ptr(&raw mut (*to).type_index)
                .store(value.type_index, Ordering::Release);
        }
    }
    array.publish(index);
    match kind {
        MemberKind::Field => {
            entry.own_fields.add(index);
            field_names::add_last(entry, arena);
        }
        MemberKind::Method => entry.own_methods.add(index),
        MemberKind::Attr => {
            // SAFETY: as above.
            unsafe { &*(*record.cast::<NewAttr>()).column }.own.add(entry.type_index())
        }
        MemberKind::Metadata => {}
    }
    Ok(())
}

/// Creates the error for a duplicate member.
///
/// # Safety
/// The strings of the record must be valid.
#[cold]
unsafe fn is_there_already(
    records: &MemberLayout,
    record: *const TVMFFIByteArray,
    entry: &TypeEntry,
) -> Error {
    let template = match records.kind {
        MemberKind::Field | MemberKind::Method => {
            __template!(
                INTERNAL_ERROR, "Type `{}`: Duplicate field name `{}`", key, name;
                "`{}` has `{}` already", key, name
            )
        }
        MemberKind::Metadata => __template!(
            RUNTIME_ERROR,
            "Overriding {}: it has other metadata already",
            key;
            "`{}` has metadata already",
            key
        ),
        MemberKind::Attr => {
            __template!(
                RUNTIME_ERROR, "Type `{}`: TypeAttr `{}` is already registered", key, name;
                "`{}` has `{}` already", key, name
            )
        }
    };
    // SAFETY: the caller guarantees the strings.
    let name = unsafe { (*record).as_slice() };
    Error::plain(__error_site!(), template, &[entry.type_key().into(), name.into()])
}

/// Replaces the strings of a record by copies that live forever. An empty string becomes null data,
/// as in upstream.
///
/// In speed builds, strings after the name are shared with `before`, the strings of the previous
/// member, if they are equal: fields of one type often have the same doc and metadata.
///
/// # Safety
/// `texts` and `before` must point to `count` valid strings each. This function must have copied
/// those of `before`.
unsafe fn keep_texts(
    arena: &Arena,
    texts: *mut TVMFFIByteArray,
    count: u8,
    before: Option<*const TVMFFIByteArray>,
) -> core::result::Result<(), NoMemory> {
    for at in 0..count.into() {
        // SAFETY: the caller guarantees the strings.
        let text = unsafe { &mut *texts.add(at) };
        let from = core::mem::replace(&mut text.data, ptr::null());
        if text.size != 0 {
            if at != 0
                && let Some(before) = before
                // SAFETY: the caller guarantees `before`, too.
                && let known = unsafe { &*before.add(at) }
                // SAFETY: as above; `from` and `text.size` are the caller's text.
                && unsafe { is_same_text(known, &TVMFFIByteArray { data: from, size: text.size }) }
            {
                text.data = known.data;
                continue;
            }
            let copy = arena.carve(text.size + 1, 1)?;
            // SAFETY: the copy is new, and has space for the text and a zero.
            unsafe {
                from.copy_to_nonoverlapping(copy.as_ptr().cast(), text.size);
                copy.add(text.size).write(0);
            }
            text.data = copy.as_ptr().cast();
        }
    }
    Ok(())
}

/// Returns `true` if a type, given by its record, has a field of this name.
///
/// # Safety
/// The record must belong to this table, and the name must be valid.
pub(super) unsafe fn has_field(info: *const TVMFFITypeInfo, name: &TVMFFIByteArray) -> bool {
    // SAFETY: the names of published fields live forever, and the caller guarantees the rest.
    unsafe {
        let fields = entry::fields_of(info);
        match field_names::look_up(info, fields, name) {
            Some(known) => known,
            None => fields.iter().any(|field| is_same_text(&field.name, name)),
        }
    }
}

/// Returns `true` if two metadata records are equal.
///
/// # Safety
/// Both docs must be valid.
unsafe fn is_same_metadata(one: &TVMFFITypeMetadata, other: &TVMFFITypeMetadata) -> bool {
    const DOC_BYTES: usize = size_of::<TVMFFIByteArray>();
    const REST_BYTES: usize = size_of::<TVMFFITypeMetadata>() - DOC_BYTES;
    const _: () =
        assert!(REST_BYTES == size_of::<*const c_void>() + 2 * size_of::<i32>(), "no padding");
    // SAFETY: the doc is followed by a pointer and two numbers, all initialised, without padding.
    let rest = |metadata: &TVMFFITypeMetadata| unsafe {
        ptr::from_ref(metadata).byte_add(DOC_BYTES).cast::<[u8; REST_BYTES]>().read()
    };
    // SAFETY: the caller guarantees the docs.
    rest(one) == rest(other) && unsafe { is_same_text(&one.doc, &other.doc) }
}

/// Returns `true` if two strings are equal.
///
/// # Safety
/// Both strings must be valid.
pub(super) unsafe fn is_same_text(one: &TVMFFIByteArray, other: &TVMFFIByteArray) -> bool {
    // SAFETY: the caller guarantees both.
    unsafe { one.as_slice() == other.as_slice() }
}
