//! Registration of types, fields, methods and metadata.
//!
//! Everything that may allocate through a user's allocator, fail in a user's words or log happens before the
//! registry's lock is taken or after it is let go.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use crate::abi::{
    TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFIObject, TVMFFITypeInfo, TVMFFITypeMetadata,
    kTVMFFIFieldFlagBitMaskHasDefault, kTVMFFIFieldFlagBitSetterIsFunctionObj,
};
use crate::any::{Any, AnyView};
use crate::error::{Error, Result, out_of_memory};
use crate::object::ObjectRef;
use crate::type_index::{DYN_OBJECT_BEGIN, FUNCTION};
use crate::{plain_bail, plain_ensure, plain_error, plain_warn};

use super::arena::{Arena, NoMemory};
use super::entry::{NewType, TypeEntry};
use super::keys::{self, Key};
use super::{KEY_NOT_FOUND, REGISTRY, Registry, key_to_index, known_key, slots, type_info, type_key_of};

/// The parent index that asks for a known key only.
const QUERY_ONLY: i32 = -2;

/// A type to register.
#[derive(Clone, Copy, Debug)]
pub struct NewTypeRequest<'a> {
    /// The name of the type.
    pub type_key: &'a [u8],
    /// The index that the type must have, or negative for the next free one.
    pub static_type_index: i32,
    /// The number of ancestors.
    pub type_depth: i32,
    /// How many indices to reserve for children.
    pub num_child_slots: i32,
    /// Whether children may take other indices when these are used up.
    pub child_slots_can_overflow: bool,
    /// The parent; -1 for a root type, -2 to ask for a known type only.
    pub parent_type_index: i32,
}

/// The index of the type with this key, registering the type when it is not there.
///
/// A known key gives its index whatever the rest of the request says. An unknown key gives [`KEY_NOT_FOUND`]
/// when the request only asks.
///
/// # Errors
/// InternalError, with nothing changed: the parent is unknown, cannot have more children or has another depth
/// than one less; the static index is taken or out of range; the number of child slots is negative or beyond
/// what indices can number. MemoryError.
///
/// # Upstream
/// `TVMFFITypeGetOrAllocIndex`, `TypeTable::GetOrAllocTypeIndex` in `object.cc`.
pub fn get_or_alloc_index(request: &NewTypeRequest<'_>) -> Result<i32> {
    if let Some(index) = key_to_index(request.type_key) {
        return Ok(index);
    }
    if request.parent_type_index == QUERY_ONLY {
        return Ok(KEY_NOT_FOUND);
    }
    let parent = check_request(request)?;
    let key = keys::reserve(request.type_key)?;
    let allocated = {
        let mut registry = REGISTRY.lock();
        match key.index() {
            // Another thread was faster.
            Some(index) => Ok(index),
            None => allocate_index(&mut registry, request, &key, parent),
        }
    };
    allocated.map_err(|refusal| refusal.into_error(request, parent))
}

/// Checks what needs no lock, and finds the parent.
fn check_request(request: &NewTypeRequest<'_>) -> Result<Option<&'static TypeEntry>> {
    let key = request.type_key;
    let depth = request.type_depth;
    plain_ensure!(
        (0..slots::END_OF_INDICES).contains(&request.num_child_slots),
        INTERNAL_ERROR,
        "Check failed: cannot reserve {} child slots for type `{}`",
        request.num_child_slots,
        key
    );
    plain_ensure!(
        request.static_type_index < DYN_OBJECT_BEGIN,
        INTERNAL_ERROR,
        "Check failed: static index {} of type `{}` is not below {}",
        request.static_type_index,
        key,
        DYN_OBJECT_BEGIN
    );
    if request.parent_type_index < 0 {
        plain_ensure!(
            depth == 0,
            INTERNAL_ERROR,
            "Check failed: type `{}` of depth {} has no parent",
            key,
            depth
        );
        plain_ensure!(
            request.static_type_index >= 0,
            INTERNAL_ERROR,
            "Check failed: dynamic type `{}` has no parent",
            key
        );
        return Ok(None);
    }
    let Some(parent) = type_info(request.parent_type_index) else {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: parent type index {} is not registered: type_key={}, static_index={}",
            request.parent_type_index,
            key,
            request.static_type_index
        );
    };
    plain_ensure!(
        depth == parent.type_depth() + 1,
        INTERNAL_ERROR,
        "Check failed: type_depth == parent->type_depth + 1 ({} vs. {}) : type_key={}",
        depth,
        parent.type_depth() + 1,
        key
    );
    Ok(Some(parent))
}

/// Why a type did not get an index; made into an error after the lock is let go.
enum Refusal {
    NoMemory(NoMemory),
    StaticIndexTaken,
    BelowParent,
    ParentIsFull,
    IndicesUsedUp,
}

impl From<NoMemory> for Refusal {
    fn from(refused: NoMemory) -> Refusal {
        Refusal::NoMemory(refused)
    }
}

impl Refusal {
    fn into_error(self, request: &NewTypeRequest<'_>, parent: Option<&TypeEntry>) -> Error {
        let key = request.type_key;
        let parent_key = parent.map_or(&b""[..], |parent| parent.type_key());
        let index = request.static_type_index;
        match self {
            Refusal::NoMemory(NoMemory(bytes)) => out_of_memory(bytes),
            Refusal::StaticIndexTaken => {
                let owner = type_key_of(index);
                plain_error!(
                    INTERNAL_ERROR,
                    "Check failed: Conflicting static index {} between {} and {}",
                    index,
                    owner,
                    key
                )
            }
            Refusal::BelowParent => {
                plain_error!(
                    INTERNAL_ERROR,
                    "Check failed: index {} of type `{}` is not above that of `{}`",
                    index,
                    key,
                    parent_key
                )
            }
            Refusal::ParentIsFull => {
                plain_error!(
                    INTERNAL_ERROR,
                    "Check failed: Reach maximum number of sub-classes for {}",
                    parent_key
                )
            }
            Refusal::IndicesUsedUp => {
                plain_error!(INTERNAL_ERROR, "Check failed: no type index is left for type `{}`", key)
            }
        }
    }
}

/// Where a new type goes, and what taking that place uses up.
#[derive(Clone, Copy)]
enum Allotment {
    Static(i32),
    /// A place among those reserved for children of the parent.
    Reserved(i32),
    Next(i32),
}

fn allocate_index(
    registry: &mut Registry,
    request: &NewTypeRequest<'_>,
    key: &Key<'_>,
    parent: Option<&'static TypeEntry>,
) -> core::result::Result<i32, Refusal> {
    // The number was checked to be far from overflow.
    let num_slots = request.num_child_slots + 1;
    let allotment = allot(registry, request.static_type_index, num_slots, parent)?;
    let (Allotment::Static(type_index) | Allotment::Reserved(type_index) | Allotment::Next(type_index)) =
        allotment;
    let new = NewType {
        type_index,
        type_depth: request.type_depth,
        type_key: key.keep(&mut registry.arena)?,
        ancestors: ptr::null_mut(),
        num_slots,
        // Children of a type that cannot overflow would be outside its places.
        child_slots_can_overflow: request.child_slots_can_overflow
            && parent.is_none_or(|parent| parent.child_slots_can_overflow),
    };
    place(&mut registry.arena, new, parent)?;
    // Nothing fails from here on.
    match (allotment, parent) {
        (Allotment::Reserved(_), Some(parent)) => parent.take_slots(&mut registry.arena, num_slots),
        (Allotment::Next(_), _) => registry.next_index += num_slots,
        _ => {}
    }
    key.publish(type_index);
    Ok(type_index)
}

/// Makes the entry of a type, with its ancestors, and shows it to everybody.
pub(super) fn place(
    arena: &mut Arena,
    mut new: NewType,
    parent: Option<&'static TypeEntry>,
) -> core::result::Result<&'static TypeEntry, NoMemory> {
    let slot = slots::reserve(new.type_index, arena)?;
    if let Some(parent) = parent {
        new.ancestors = copy_ancestors(arena, parent)?;
    }
    let entry = arena.array::<TypeEntry>(1)?;
    // SAFETY: the place is fresh, has room for an entry and lives for ever.
    let entry = unsafe {
        entry.write(TypeEntry::new(new));
        entry.as_ref()
    };
    slot.publish(NonNull::from(entry));
    Ok(entry)
}

/// Chooses the index of a new type without taking it.
fn allot(
    registry: &mut Registry,
    static_type_index: i32,
    num_slots: i32,
    parent: Option<&'static TypeEntry>,
) -> core::result::Result<Allotment, Refusal> {
    if static_type_index >= 0 {
        return match parent {
            _ if known_key(static_type_index).is_some() => Err(Refusal::StaticIndexTaken),
            Some(parent) if static_type_index <= parent.type_index() => Err(Refusal::BelowParent),
            _ => Ok(Allotment::Static(static_type_index)),
        };
    }
    // Dynamic types have a parent: `check_request`.
    let Some(parent) = parent else { return Err(Refusal::BelowParent) };
    let used = parent.allocated_slots(&mut registry.arena);
    if used + num_slots <= parent.num_slots {
        let type_index = parent.type_index() + used;
        let is_in_range =
            parent.type_index() >= DYN_OBJECT_BEGIN || type_index + num_slots <= DYN_OBJECT_BEGIN;
        // A static type may reserve places that other static types have taken since.
        if is_in_range && known_key(type_index).is_none() {
            return Ok(Allotment::Reserved(type_index));
        }
    }
    if !parent.child_slots_can_overflow {
        return Err(Refusal::ParentIsFull);
    }
    if num_slots > slots::END_OF_INDICES - registry.next_index {
        return Err(Refusal::IndicesUsedUp);
    }
    Ok(Allotment::Next(registry.next_index))
}

/// The ancestors of a child of `parent`: those of the parent, then the parent.
fn copy_ancestors(
    arena: &mut Arena,
    parent: &'static TypeEntry,
) -> core::result::Result<*mut *const TVMFFITypeInfo, NoMemory> {
    let inherited = parent.ancestors();
    let copy = arena.array::<*const TVMFFITypeInfo>(inherited.len() + 1)?;
    // SAFETY: the copy is fresh and has room for one more than `inherited`.
    unsafe {
        ptr::copy_nonoverlapping(inherited.as_ptr(), copy.as_ptr(), inherited.len());
        copy.add(inherited.len()).write(parent.as_ptr());
    }
    Ok(copy.as_ptr())
}

/// The type that something is to be added to.
pub(super) fn registered(type_index: i32) -> Result<&'static TypeEntry> {
    match type_info(type_index) {
        Some(entry) => Ok(entry),
        None => plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (entry != nullptr) is false: Cannot find type info for type_index={}",
            type_index
        ),
    }
}

/// The bytes of a text from C.
///
/// # Safety
/// Unless its data is null, the text must be valid for `'a`.
unsafe fn checked_text<'a>(text: TVMFFIByteArray, what: &str) -> Result<&'a [u8]> {
    plain_ensure!(!text.data.is_null() || text.size == 0, VALUE_ERROR, "The {} is null but has a size", what);
    plain_ensure!(
        isize::try_from(text.size).is_ok(),
        VALUE_ERROR,
        "The size of the {} is {}",
        what,
        text.size
    );
    // SAFETY: the caller vouches for the text; null and absurd sizes were refused.
    Ok(if text.size == 0 { b"" } else { unsafe { core::slice::from_raw_parts(text.data.cast(), text.size) } })
}

/// Copies a text for ever; empty text has null data, as upstream's copies have.
fn keep_text(arena: &mut Arena, text: &[u8]) -> core::result::Result<TVMFFIByteArray, NoMemory> {
    if text.is_empty() {
        return Ok(TVMFFIByteArray { data: ptr::null(), size: 0 });
    }
    Ok(TVMFFIByteArray { data: arena.text(text)?.as_ptr().cast(), size: text.len() })
}

/// Looks at the name, the doc and the metadata of a field or method.
///
/// # Safety
/// Each text must be valid unless its data is null.
unsafe fn check_texts(texts: [TVMFFIByteArray; 3]) -> Result<()> {
    let [name, doc, metadata] = texts;
    plain_ensure!(name.size != 0, VALUE_ERROR, "A field or method needs a name");
    for (text, what) in [(name, "name"), (doc, "doc"), (metadata, "metadata")] {
        // SAFETY: as the caller vouches.
        unsafe { checked_text(text, what)? };
    }
    Ok(())
}

/// Puts copies for ever in the place of texts that were checked.
fn keep_texts(arena: &mut Arena, texts: [&mut TVMFFIByteArray; 3]) -> core::result::Result<(), NoMemory> {
    for text in texts {
        // SAFETY: the text was checked, and its owner's until now.
        *text = keep_text(arena, unsafe { text.as_slice() })?;
    }
    Ok(())
}

/// Adds a field to a type.
///
/// Texts are copied; the default value and a setter that is a function are retained for ever. A field with
/// the name of an ancestor's field is added with a warning.
///
/// # Errors
/// InternalError for an unknown type or a name that the type already has; ValueError for a name that is
/// missing or for text that is null with a size; TypeError for a setter that should be a function and is not;
/// MemoryError. Nothing is changed then.
///
/// # Safety
/// What the record points to must be valid for the call, and what its flags say about setter and default must
/// hold.
///
/// # Upstream
/// `TVMFFITypeRegisterField`.
pub unsafe fn register_field(type_index: i32, info: &TVMFFIFieldInfo) -> Result<()> {
    let entry = registered(type_index)?;
    // SAFETY: the caller vouches for the record.
    unsafe { check_texts([info.name, info.doc, info.metadata])? };
    // SAFETY: as above.
    let setter = unsafe { retained_setter(info)? };
    // SAFETY: as above.
    let default = unsafe { retained_default(info)? };
    let mut record = *info;
    record.default_value_or_factory = *default.as_raw();
    let added = {
        let mut registry = REGISTRY.lock();
        add_field(&mut registry.arena, entry, &mut record)
    };
    // SAFETY: the name is the caller's, or the copy that lives for ever.
    let name = unsafe { record.name.as_slice() };
    match added {
        Ok(true) => {}
        Ok(false) => plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (std::string_view(existing.name.data, existing.name.size) != new_name) is false: \
             Duplicate field name \"{}\" in type \"{}\"",
            name,
            entry.type_key()
        ),
        Err(NoMemory(bytes)) => return Err(out_of_memory(bytes)),
    }
    // The published record owns both references now, for ever.
    core::mem::forget((setter, default));
    warn_of_shadowed_fields(entry, name);
    Ok(())
}

/// # Safety
/// A setter that the flags call a function object must be null or a live object.
unsafe fn retained_setter(info: &TVMFFIFieldInfo) -> Result<Option<ObjectRef>> {
    if info.flags & i64::from(kTVMFFIFieldFlagBitSetterIsFunctionObj) == 0 {
        return Ok(None);
    }
    let Some(object) = NonNull::new(info.setter.cast::<TVMFFIObject>()) else { return Ok(None) };
    // SAFETY: the caller vouches for a live object.
    let setter = unsafe { ObjectRef::borrow_raw(object) };
    plain_ensure!(
        setter.type_index() == FUNCTION,
        TYPE_ERROR,
        "The setter of a field must be an `ffi.Function`"
    );
    Ok(Some(setter))
}

/// # Safety
/// A default that the flags announce must be a valid value.
unsafe fn retained_default(info: &TVMFFIFieldInfo) -> Result<Any> {
    if info.flags & i64::from(kTVMFFIFieldFlagBitMaskHasDefault) == 0 {
        return Ok(Any::NONE);
    }
    // SAFETY: the caller vouches for the value.
    unsafe { AnyView::from_raw(info.default_value_or_factory) }.to_owned()
}

/// Publishes a field, or answers false when the type has one of that name.
fn add_field(
    arena: &mut Arena,
    entry: &TypeEntry,
    record: &mut TVMFFIFieldInfo,
) -> core::result::Result<bool, NoMemory> {
    // SAFETY: the name was checked.
    if has_field(entry, unsafe { record.name.as_slice() }) {
        return Ok(false);
    }
    keep_texts(arena, [&mut record.name, &mut record.doc, &mut record.metadata])?;
    entry.append_field(arena, record)?;
    Ok(true)
}

fn has_field(entry: &TypeEntry, name: &[u8]) -> bool {
    // SAFETY: names of published fields live for ever.
    entry.fields().iter().any(|field| unsafe { field.name.as_slice() } == name)
}

fn warn_of_shadowed_fields(entry: &TypeEntry, name: &[u8]) {
    for ancestor in entry.ancestors() {
        // SAFETY: ancestors are registered types, whose records are never freed.
        let ancestor = unsafe { (**ancestor).type_index };
        if let Some(ancestor) = type_info(ancestor).filter(|ancestor| has_field(ancestor, name)) {
            plain_warn!(
                "Field \"{}\" in type \"{}\" duplicates an ancestor field in \"{}\". \
                 Child types should not re-register inherited fields.",
                name,
                entry.type_key(),
                ancestor.type_key()
            );
        }
    }
}

/// Adds a method to a type. Names may repeat, as overloads do.
///
/// Texts are copied; the function is retained for ever.
///
/// # Errors
/// InternalError for an unknown type; ValueError as for fields; MemoryError. Nothing is changed then.
///
/// # Safety
/// What the record points to must be valid for the call.
///
/// # Upstream
/// `TVMFFITypeRegisterMethod`.
pub unsafe fn register_method(type_index: i32, info: &TVMFFIMethodInfo) -> Result<()> {
    let entry = registered(type_index)?;
    // SAFETY: the caller vouches for the record.
    unsafe { check_texts([info.name, info.doc, info.metadata])? };
    // SAFETY: as above.
    let method = unsafe { AnyView::from_raw(info.method) }.to_owned()?;
    let mut record = *info;
    record.method = *method.as_raw();
    let added = {
        let mut registry = REGISTRY.lock();
        add_method(&mut registry.arena, entry, &mut record)
    };
    added.map_err(|NoMemory(bytes)| out_of_memory(bytes))?;
    // The published record owns the function now, for ever.
    core::mem::forget(method);
    Ok(())
}

fn add_method(
    arena: &mut Arena,
    entry: &TypeEntry,
    record: &mut TVMFFIMethodInfo,
) -> core::result::Result<(), NoMemory> {
    keep_texts(arena, [&mut record.name, &mut record.doc, &mut record.metadata])?;
    entry.append_method(arena, record)
}

/// Gives a type its metadata. The same metadata again is accepted and changes nothing.
///
/// # Errors
/// InternalError for an unknown type; RuntimeError when the type has other metadata; ValueError for a doc
/// that is null with a size; MemoryError. Nothing is changed then.
///
/// # Safety
/// The doc must be valid for the call.
///
/// # Upstream
/// `TVMFFITypeRegisterMetadata`, which refuses equal metadata too.
pub unsafe fn register_metadata(type_index: i32, metadata: &TVMFFITypeMetadata) -> Result<()> {
    let entry = registered(type_index)?;
    // SAFETY: the caller vouches for the record.
    let doc = unsafe { checked_text(metadata.doc, "doc")? };
    let added = {
        let mut registry = REGISTRY.lock();
        add_metadata(&mut registry.arena, entry, metadata, doc)
    };
    match added {
        Ok(true) => Ok(()),
        Ok(false) => plain_bail!(
            RUNTIME_ERROR,
            "Overriding {}, possible causes:\n\
             - two ObjectDef<T>() calls for the same T \n\
             - when we forget to assign _type_key to ObjectRef<Y> that inherits from T\n\
             - another type with the same key is already registered\n\
             Cross check the reflection registration.",
            entry.type_key()
        ),
        Err(NoMemory(bytes)) => Err(out_of_memory(bytes)),
    }
}

/// Publishes metadata, or answers whether the type has the same already.
fn add_metadata(
    arena: &mut Arena,
    entry: &TypeEntry,
    metadata: &TVMFFITypeMetadata,
    doc: &[u8],
) -> core::result::Result<bool, NoMemory> {
    if let Some(existing) = entry.metadata() {
        return Ok(is_same_metadata(existing, metadata, doc));
    }
    let doc = keep_text(arena, doc)?;
    entry.set_metadata(arena, TVMFFITypeMetadata { doc, ..*metadata });
    Ok(true)
}

fn is_same_metadata(existing: &TVMFFITypeMetadata, new: &TVMFFITypeMetadata, new_doc: &[u8]) -> bool {
    let address = |metadata: &TVMFFITypeMetadata| metadata.creator.map(|creator| creator as *const c_void);
    existing.total_size == new.total_size
        && existing.structural_eq_hash_kind == new.structural_eq_hash_kind
        && address(existing) == address(new)
        // SAFETY: the doc of published metadata lives for ever.
        && unsafe { existing.doc.as_slice() } == new_doc
}
