//! Registration of types by key.
//!
//! Steps that may call a custom allocator, raise errors or write to the log run before the
//! registry's lock is taken or after it is released.

use core::cell::Cell;
use core::ptr;
use core::slice;

use crate::abi::TVMFFITypeInfo;
use crate::abi::type_index::DYN_OBJECT_BEGIN;
use crate::error::message::{SHORT, Template};
use crate::error::{Error, Result};
use crate::{__error_site, __template};

use super::arena::{Arena, NoMemory};
use super::entry::{NewType, TypeEntry};
use super::records::NewTypeRequest;
use super::{
    KEY_NOT_FOUND, REGISTRY, Registry, ensure_provided, key_to_index, keys, known_key, slots,
    type_info,
};

/// Parent index of a request that only queries a key.
const QUERY_ONLY: i32 = -2;

/// Returns the index of the type with this key. Registers the type if it is unknown.
///
/// For a known key, the rest of the request is ignored. For an unknown key, a query returns
/// [`KEY_NOT_FOUND`].
///
/// # Errors
/// InternalError if the parent is unknown, cannot have more children, or its depth is not one less
/// than the type's; if the static index is in use or out of range; or if the number of child slots
/// is negative or exceeds the index range. MemoryError. On failure nothing is changed.
///
/// # Upstream
/// `TVMFFITypeGetOrAllocIndex`, `TypeTable::GetOrAllocTypeIndex` in `object.cc`.
pub fn get_or_alloc_index(request: &NewTypeRequest<'_>) -> Result<i32> {
    ensure_provided();
    if let Some(index) = key_to_index(request.type_key) {
        return Ok(index);
    }
    if request.parent_type_index == QUERY_ONLY {
        return Ok(KEY_NOT_FOUND);
    }
    let parent = type_info(request.parent_type_index);
    let key = keys::reserve(request.type_key)?;
    let allocated = REGISTRY.with(|registry| match key.index() {
        // Another thread has registered it meanwhile.
        Some(index) => Ok(index),
        None => allocate_index(registry, request, &key, parent),
    });
    allocated.map_err(|refusal| refusal.into_error(request))
}

/// Reasons why a type was not registered. Converted to an error after the registry's lock is
/// released.
enum RegisterError {
    NoMemory(NoMemory),
    /// An invalid request: the message, with placeholders for the key, or for the key and the
    /// static index.
    Contradiction(Template<2>),
}

impl From<NoMemory> for RegisterError {
    fn from(refused: NoMemory) -> RegisterError {
        RegisterError::NoMemory(refused)
    }
}

impl RegisterError {
    fn into_error(self, request: &NewTypeRequest<'_>) -> Error {
        let template = match self {
            RegisterError::NoMemory(refused) => return refused.into_error(),
            RegisterError::Contradiction(template) => template,
        };
        let args = [request.type_key.into(), request.static_type_index.into()];
        Error::plain(__error_site!(), template, &args)
    }
}

/// Returns a `RegisterError::Contradiction` from the enclosing function unless the condition holds.
/// The message has placeholders for the key, or for the key and the static index.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(RegisterError::Contradiction(__template!(INTERNAL_ERROR, $($text)+)));
        }
    };
}

fn allocate_index(
    registry: &Registry,
    request: &NewTypeRequest<'_>,
    key: &keys::Key<'_>,
    parent: Option<&'static TypeEntry>,
) -> core::result::Result<i32, RegisterError> {
    let Registry { arena, next_index } = registry;
    let (type_index, used) = choose_index(arena, next_index, request, parent)?;
    // Cannot overflow: the number was checked.
    let num_slots = request.num_child_slots + 1;
    let new = NewType {
        type_index,
        type_key: request.type_key,
        num_slots,
        // Overflowing children would be outside the reserved indices of a parent that cannot
        // overflow.
        child_slots_can_overflow: request.child_slots_can_overflow
            && parent.is_none_or(|parent| parent.child_slots_can_overflow),
    };
    insert_entry(arena, new, parent)?;
    // Nothing fails from here on.
    if let Some(used) = used {
        used.set(used.get() + num_slots);
    }
    key.publish(type_index);
    Ok(type_index)
}

/// Chooses the index of a new type without reserving it. Returns the index, and the counter of used
/// indices in its range.
fn choose_index<'a>(
    arena: &Arena,
    next_index: &'a Cell<i32>,
    request: &NewTypeRequest<'_>,
    parent: Option<&'static TypeEntry>,
) -> core::result::Result<(i32, Option<&'a Cell<i32>>), RegisterError> {
    let (num_child_slots, index) = (request.num_child_slots, request.static_type_index);
    if parent.is_none() && (request.parent_type_index >= 0 || index < 0) {
        return Err(no_parent());
    }
    if request.type_depth != parent.map_or(0, |parent| parent.type_depth() + 1) {
        return Err(wrong_depth());
    }
    let has_slots = (0..slots::END_OF_INDICES).contains(&num_child_slots);
    if !has_slots {
        return Err(no_index_left());
    }
    if index >= 0 {
        let is_above = parent.is_none_or(|parent| parent.type_index() < index);
        ensure!(
            is_above && index < DYN_OBJECT_BEGIN && known_key(index).is_none(),
            "Check failed: type `{}` cannot have the index {}: it is taken, too high, or not above its parent's",
            key,
            index;
            "`{}` cannot have index {}",
            key,
            index
        );
        return Ok((index, None));
    }
    // SAFETY: dynamic types without a parent were refused.
    let parent = unsafe { parent.unwrap_unchecked() };
    let used = parent.allocated_slots(arena);
    let index = parent.type_index() + used.get();
    if used.get() + num_child_slots < parent.num_slots {
        let is_in_range =
            parent.type_index() >= DYN_OBJECT_BEGIN || index + num_child_slots < DYN_OBJECT_BEGIN;
        // Other static types may have taken indices that a static type reserved.
        if is_in_range && known_key(index).is_none() {
            return Ok((index, Some(used)));
        }
    }
    if !parent.child_slots_can_overflow {
        return Err(parent_is_full());
    }
    let index = next_index.get();
    let has_indices = num_child_slots < slots::END_OF_INDICES - index;
    if has_indices { Ok((index, Some(next_index))) } else { Err(no_index_left()) }
}

fn no_parent() -> RegisterError {
    if SHORT {
        return wrong_depth();
    }
    RegisterError::Contradiction(__template!(
        INTERNAL_ERROR,
        "Check failed: type `{}` has no registered parent",
        key
    ))
}

fn wrong_depth() -> RegisterError {
    RegisterError::Contradiction(__template!(
        INTERNAL_ERROR, "Check failed: type_depth == parent->type_depth + 1 for type `{}`", key;
        "`{}` does not fit its parent", key
    ))
}

fn parent_is_full() -> RegisterError {
    if SHORT {
        return no_index_left();
    }
    RegisterError::Contradiction(__template!(
        INTERNAL_ERROR,
        "Check failed: Reach maximum number of sub-classes of the parent of `{}`",
        key
    ))
}

fn no_index_left() -> RegisterError {
    RegisterError::Contradiction(__template!(
        INTERNAL_ERROR, "Check failed: cannot reserve the child slots of type `{}`", key;
        "no index is left for `{}`", key
    ))
}

/// Creates and publishes the entry of a type. Its ancestors and key follow it in the same block.
#[inline(never)]
pub(super) fn insert_entry(
    arena: &Arena,
    new: NewType<'_>,
    parent: Option<&'static TypeEntry>,
) -> core::result::Result<&'static TypeEntry, NoMemory> {
    let slot = slots::reserve(new.type_index, arena)?;
    let depth = parent.map_or(0, |parent| parent.type_depth() as usize + 1);
    let key = new.type_key;
    let bytes = size_of::<TypeEntry>() + depth * size_of::<*const TVMFFITypeInfo>() + key.len() + 1;
    let place = arena.carve(bytes, align_of::<TypeEntry>())?.cast::<TypeEntry>();
    // SAFETY: the allocation is new, has space for the entry, its ancestors, its key and a zero,
    // and lives forever.
    let entry = unsafe {
        let ancestors = place.add(1).cast::<*const TVMFFITypeInfo>().as_ptr();
        if let Some(parent) = parent {
            ptr::copy_nonoverlapping(parent.ancestors_ptr(), ancestors, depth - 1);
            ancestors.add(depth - 1).write(parent.as_ptr());
        }
        let kept_key = ancestors.add(depth).cast::<u8>();
        ptr::copy_nonoverlapping(key.as_ptr(), kept_key, key.len());
        kept_key.add(key.len()).write(0);
        let new = NewType { type_key: slice::from_raw_parts(kept_key, key.len()), ..new };
        place.write(TypeEntry::new(new, slice::from_raw_parts(ancestors, depth)));
        place.as_ref()
    };
    slot.publish(entry);
    Ok(entry)
}
