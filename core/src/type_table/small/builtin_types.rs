//! The types that the ABI fixes, on boards: a key in read-only data each, and an entry once somebody asks for it.
//!
//! Tables of all entries would take 3 KB of a board's RAM and flash.

use core::ptr;

use crate::abi::{TVMFFIByteArray, TVMFFIObject, TVMFFITypeMetadata};
use crate::type_index;

use super::arena::NoMemory;
use super::builtin_keys::{self, KEYS};
use super::entry::{NewType, TypeEntry};
use super::{REGISTRY, register, slots};

/// The keys in order.
fn keys() -> impl Iterator<Item = &'static [u8]> {
    KEYS.split(|&byte| byte == 0)
}

/// The key of a built-in type.
pub(super) fn key(type_index: i32) -> Option<&'static [u8]> {
    keys().nth(builtin_keys::position(type_index)?)
}

/// The index of the built-in type with this key.
pub(super) fn index_of(key: &[u8]) -> Option<i32> {
    if key.is_empty() {
        return None;
    }
    keys().position(|known| known == key).map(builtin_keys::index_at)
}

/// The entry of a built-in type; None without memory for it.
pub(super) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    let type_key = key(type_index)?;
    let is_child = type_index > type_index::OBJECT;
    let parent =
        if is_child { Some(entry_of(type_index::OBJECT, key(type_index::OBJECT)?, None)?) } else { None };
    entry_of(type_index, type_key, parent)
}

/// The entry that others may descend from: none as long as nobody asked for it.
pub(super) fn target(type_index: i32) -> Option<&'static TypeEntry> {
    slots::entry(type_index)
}

fn entry_of(
    type_index: i32,
    type_key: &'static [u8],
    parent: Option<&'static TypeEntry>,
) -> Option<&'static TypeEntry> {
    if slots::entry(type_index).is_none() {
        make(type_index, type_key, parent).ok()?;
    }
    slots::entry(type_index)
}

fn make(
    type_index: i32,
    type_key: &'static [u8],
    parent: Option<&'static TypeEntry>,
) -> Result<(), NoMemory> {
    let mut registry = REGISTRY.lock();
    // An interrupt may have been faster.
    if slots::entry(type_index).is_some() {
        return Ok(());
    }
    let new = NewType {
        type_index,
        type_depth: i32::from(parent.is_some()),
        type_key,
        ancestors: ptr::null_mut(),
        num_slots: 1,
        child_slots_can_overflow: super::may_overflow(type_index),
    };
    let entry = register::place(&mut registry.arena, new, parent)?;
    if let Some(total_size) = total_size(type_index) {
        let doc = TVMFFIByteArray { data: ptr::null(), size: 0 };
        let metadata = TVMFFITypeMetadata { doc, creator: None, total_size, structural_eq_hash_kind: 0 };
        entry.set_metadata(&mut registry.arena, metadata);
    }
    Ok(())
}

/// The size in the metadata of the types that have any.
fn total_size(type_index: i32) -> Option<i32> {
    let pointer = size_of::<*const ()>();
    let bytes = match type_index {
        type_index::OBJECT => 0,
        // The pointer to a virtual table before the header, imports, import cache.
        type_index::MODULE => 8 + 2 * pointer,
        type_index::BIG_INT => 8,
        _ => return None,
    };
    Some((size_of::<TVMFFIObject>() + bytes) as i32)
}
