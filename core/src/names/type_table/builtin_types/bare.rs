//! The built-in types on bare metal: keys in read-only data, and entries that are created at the
//! first lookup.
//!
//! Static tables of all entries would take 3 KB of RAM and flash.

use core::ffi::CStr;

use crate::abi::{TVMFFIObject, TVMFFITypeMetadata, type_index};

use super::super::builtin_keys::{self, COUNT, KEYS};
use super::super::entry::{self, NewType, TypeEntry};
use super::super::register::insert_entry;
use super::super::{REGISTRY, Registry, slots};

/// Borrows the key that begins at `start`.
fn key_at(start: *const u8) -> &'static [u8] {
    // SAFETY: callers pass pointers to the start of a key in `KEYS`, which ends with a zero.
    unsafe { CStr::from_ptr(start.cast()) }.to_bytes()
}

/// Returns the start of the next key. The pointer is derived from `KEYS`, since a pointer to one
/// key must not access another.
fn behind(key: &'static [u8]) -> *const u8 {
    KEYS.as_ptr().with_addr(key.as_ptr().addr() + key.len() + 1)
}

/// Returns the key of a built-in type, or `None` for other types.
pub(in crate::names::type_table) fn key(type_index: i32) -> Option<&'static [u8]> {
    let mut key = key_at(KEYS.as_ptr());
    for _ in 0..builtin_keys::position(type_index)? {
        key = key_at(behind(key));
    }
    Some(key)
}

/// Finds the index of a built-in type by key.
pub(in crate::names::type_table) fn index_of(key: &[u8]) -> Option<i32> {
    let mut start = KEYS.as_ptr();
    for position in 0..COUNT {
        let known = key_at(start);
        if known == key {
            return Some(builtin_keys::index_at(position));
        }
        start = behind(known);
    }
    None
}

/// Returns the entry of any type. Returns `None` for an unknown type, or when out of memory for the
/// entry of a built-in type.
#[inline(never)]
pub(in crate::names::type_table) fn entry_of_any(type_index: i32) -> Option<&'static TypeEntry> {
    slots::entry(type_index).or_else(|| make(type_index))
}

fn make(type_index: i32) -> Option<&'static TypeEntry> {
    let type_key = key(type_index)?;
    let parent = if type_index > type_index::OBJECT {
        Some(entry_of_any(type_index::OBJECT)?)
    } else {
        None
    };
    REGISTRY.with(|registry| {
        // An interrupt handler may have made it meanwhile.
        slots::entry(type_index).or_else(|| insert(registry, type_index, type_key, parent))
    })
}

fn insert(
    registry: &Registry,
    type_index: i32,
    type_key: &'static [u8],
    parent: Option<&'static TypeEntry>,
) -> Option<&'static TypeEntry> {
    let child_slots_can_overflow = super::super::may_overflow(type_index);
    let new = NewType { type_index, type_key, num_slots: 1, child_slots_can_overflow };
    let entry = insert_entry(&registry.arena, new, parent).ok()?;
    if let Some(total_size) = total_size(type_index) {
        let array = entry.array(&entry::METADATA);
        let place = array.place(&registry.arena, 0).ok()?.cast::<TVMFFITypeMetadata>();
        // SAFETY: the record is zero-initialised and not published yet.
        unsafe { (*place.as_ptr()).total_size = total_size };
        array.publish(0);
    }
    Some(entry)
}

/// Returns the object size of a type with metadata, in bytes; `None` for other types.
fn total_size(type_index: i32) -> Option<i32> {
    let pointer = size_of::<*const ()>();
    let bytes = match type_index {
        type_index::OBJECT => 0,
        // The vtable pointer before the header, imports, import cache.
        type_index::MODULE => 8 + 2 * pointer,
        type_index::BIG_INT => 8,
        _ => return None,
    };
    Some((size_of::<TVMFFIObject>() + bytes) as i32)
}
