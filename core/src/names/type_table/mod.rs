//! The type table: lookup of types by index and by key, with lock-free readers, records at fixed
//! addresses and serialised registration.
//!
//! Built-in types are static tables. Other types, and all registered members, are in memory that is
//! never freed, since C readers keep pointers to it. A reader concurrent with a registration sees
//! the state either before or after it.

mod arena;
mod attr_column;
mod builtin_keys;
mod builtin_types;
mod columns;
mod entry;
#[cfg(feature = "std")]
mod field_access;
mod field_names;
mod growing_array;
mod key_hash;
mod keys;
mod library_members;
mod members;
mod provided;
mod records;
mod register;
mod shadowed;
mod slots;

use core::cell::Cell;

use crate::abi::{TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo};

use crate::abi::type_index::{
    DYN_OBJECT_BEGIN, OBJECT, STATIC_OBJECT_BEGIN, STATIC_OBJECT_END, VISIT_INTERRUPT,
};
use crate::platform::sync::Lock;

use arena::Arena;

pub use attr_column::{AttrColumn, attr, attr_column};
pub use entry::TypeEntry;
pub use key_hash::type_key_hash;
pub use members::{
    register_attr, register_attr_unchecked, register_field, register_metadata, register_method,
};
#[cfg(feature = "std")]
pub use provided::{TypeProvider, provide};
pub use provided::{ensure_provided, is_provided, lacks_provided};
pub use records::{Members, NewTypeRequest};
pub use register::get_or_alloc_index;
#[cfg(all(feature = "std", feature = "speed"))]
pub(crate) use {columns::OTHERS, keys::INDEX_OF_KEY};

/// Result of a query for an unknown key, in place of an index.
pub const KEY_NOT_FOUND: i32 = -2;

/// State of the type table that registrations change, guarded by a lock.
pub(crate) static REGISTRY: Lock<Registry> =
    Lock::new(Registry { arena: Arena::new(), next_index: Cell::new(DYN_OBJECT_BEGIN) });

pub(crate) struct Registry {
    arena: Arena,
    /// Lowest index that is neither in use nor reserved for children.
    next_index: Cell<i32>,
}

/// Returns the type registered at an index, or `None`. Its record never moves and is never freed.
///
/// # Threads
/// Lock-free, allocates nothing. Bare-metal builds create the record of a built-in type at its
/// first lookup, under a lock, and return `None` when out of memory.
///
/// # Upstream
/// `TVMFFIGetTypeInfo`, which terminates the process for an unknown index.
#[inline]
pub fn type_info(type_index: i32) -> Option<&'static TypeEntry> {
    builtin_types::entry_of_any(type_index)
}

/// Returns the key of a type, or a placeholder for an unregistered type.
pub fn type_key_of(type_index: i32) -> &'static [u8] {
    known_key(type_index).unwrap_or(b"<unregistered type>")
}

/// Returns the member counts of a registered type. An unregistered type has no members.
pub fn members(type_index: i32) -> Members {
    type_info(type_index).map_or(Members { fields: 0, methods: 0, total_size: None }, |entry| {
        Members {
            fields: entry.fields().len(),
            methods: entry.methods().len(),
            total_size: entry.metadata().map(|metadata| metadata.total_size),
        }
    })
}

/// Returns the fields of a type, without those of its ancestors. An unregistered type has none.
pub(crate) fn fields(type_index: i32) -> &'static [TVMFFIFieldInfo] {
    type_info(type_index).map_or(&[], TypeEntry::fields)
}

/// Finds a field by name: of the type itself, or of its nearest ancestor that has one.
pub fn find_field(type_index: i32, name: &[u8]) -> Option<&'static TVMFFIFieldInfo> {
    find_member(type_index, |entry| entry.fields().iter().find(|field| is_named(&field.name, name)))
}

/// Finds a method by name: of the type itself, or of its nearest ancestor that has one.
pub fn find_method(type_index: i32, name: &[u8]) -> Option<&'static TVMFFIMethodInfo> {
    find_member(type_index, |entry| {
        entry.methods().iter().find(|method| is_named(&method.name, name))
    })
}

/// Returns the metadata of a registered field.
#[cfg(any(feature = "std", feature = "client"))]
pub(crate) fn metadata_of(field: &TVMFFIFieldInfo) -> &[u8] {
    // SAFETY: the metadata of registered members lives forever.
    unsafe { field.metadata.as_slice() }
}

/// Returns `true` if a registered member has this name.
pub(crate) fn is_named(member: &TVMFFIByteArray, name: &[u8]) -> bool {
    // SAFETY: names of registered members live forever.
    unsafe { member.as_slice() == name }
}

/// Searches a type, then its ancestors, from the parent to the root.
fn find_member<R>(type_index: i32, find: impl Fn(&'static TypeEntry) -> Option<R>) -> Option<R> {
    let entry = type_info(type_index)?;
    find(entry).or_else(|| {
        // SAFETY: ancestors are registered types, whose records live forever.
        let indices =
            entry.ancestors().iter().rev().map(|ancestor| unsafe { (**ancestor).type_index });
        indices.filter_map(type_info).find_map(find)
    })
}

/// Returns the number of ancestors of a type, or `None` if it is not registered.
pub fn depth(type_index: i32) -> Option<i32> {
    type_info(type_index).map(TypeEntry::type_depth)
}

/// Returns the key of a registered type, or `None` for an unregistered one.
fn known_key(type_index: i32) -> Option<&'static [u8]> {
    builtin_types::key(type_index).or_else(|| slots::entry(type_index).map(TypeEntry::type_key))
}

/// Returns `true` if children of a built-in type may get indices other than those reserved for
/// them.
const fn may_overflow(type_index: i32) -> bool {
    type_index == OBJECT || type_index == VISIT_INTERRUPT
}

/// Finds the index of a type by key. Returns `None` if no type has the key.
///
/// # Threads
/// Lock-free, allocates nothing, except that on hosts the first lookup of a key that is not built
/// in registers the library's own types: it allocates, and concurrent callers wait for it.
pub fn key_to_index(key: &[u8]) -> Option<i32> {
    builtin_types::index_of(key).or_else(|| {
        ensure_provided();
        keys::index_of(key)
    })
}

/// Returns `true` if the type at `type_index` is the one at `target_index` or derived from it.
///
/// # Threads
/// Lock-free, allocates nothing.
///
/// # Upstream
/// `IsObjectInstance` in `cast.h`.
#[inline]
pub fn is_instance(type_index: i32, target_index: i32) -> bool {
    if type_index == target_index {
        return true;
    }
    if type_index < STATIC_OBJECT_BEGIN || target_index < STATIC_OBJECT_BEGIN {
        return false;
    }
    // Built-in object types have no ancestor but the root.
    target_index == OBJECT
        || (type_index >= STATIC_OBJECT_END && slots::descends_from(type_index, target_index))
}

/// Returns `true` if the type at `type_index` is registered and has the one at `target_index` among
/// its ancestors.
fn has_ancestor(type_index: i32, target_index: i32) -> bool {
    let Some(entry) = slots::entry(type_index) else { return false };
    // SAFETY: ancestors are registered types, whose records live forever; an index never changes.
    let indices = entry.ancestors().iter().rev().map(|ancestor| unsafe { (**ancestor).type_index });
    // Indices of children are higher than those of their parents.
    indices.take_while(|index| *index >= target_index).any(|index| index == target_index)
}

/// Calls `visit` with the key of every registered type in index order, until it returns an error.
///
/// Types that other threads register concurrently may or may not be visited.
///
/// # Errors
/// The error of `visit`.
///
/// # Upstream
/// `ffi.GetRegisteredTypeKeys`.
pub fn for_each_key<E>(visit: impl FnMut(&'static [u8]) -> Result<(), E>) -> Result<(), E> {
    ensure_provided();
    let end = REGISTRY.with(|registry| registry.next_index.get());
    (0..end).filter_map(known_key).try_for_each(visit)
}

#[cfg(test)]
mod tests;
