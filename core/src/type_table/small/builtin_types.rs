//! The types that the ABI fixes, on boards: a key in read-only data each, and an entry once somebody asks for it.
//!
//! Tables of all entries would take 3 KB of a board's RAM and flash.

use core::ffi::CStr;

use crate::abi::{TVMFFIObject, TVMFFITypeMetadata};
use crate::type_index;

use super::builtin_keys::{self, COUNT, KEYS};
use super::entry::{self, NewType, TypeEntry};
use super::register::place;
use super::{REGISTRY, slots};

/// The keys in order, without end.
fn keys() -> impl Iterator<Item = &'static [u8]> {
    let mut rest = KEYS.as_ptr();
    core::iter::from_fn(move || {
        // SAFETY: each key has a zero behind it; callers stop at the last.
        let key = unsafe { CStr::from_ptr(rest.cast()) };
        rest = rest.wrapping_add(key.count_bytes() + 1);
        Some(key.to_bytes())
    })
}

/// The key of a built-in type.
pub(super) fn key(type_index: i32) -> Option<&'static [u8]> {
    keys().nth(builtin_keys::position(type_index)?)
}

/// The index of the built-in type with this key.
pub(super) fn index_of(key: &[u8]) -> Option<i32> {
    let mut keys = keys();
    (0..COUNT).find(|_| keys.next() == Some(key)).map(builtin_keys::index_at)
}

/// The entry of any type; None without memory for that of a built-in one.
#[inline(never)]
pub(super) fn entry_of_any(type_index: i32) -> Option<&'static TypeEntry> {
    slots::entry(type_index).or_else(|| make(type_index))
}

fn make(type_index: i32) -> Option<&'static TypeEntry> {
    let type_key = key(type_index)?;
    let parent = if type_index > type_index::OBJECT { Some(entry_of_any(type_index::OBJECT)?) } else { None };
    let registry = REGISTRY.lock();
    // An interrupt may have been faster.
    if let Some(entry) = slots::entry(type_index) {
        return Some(entry);
    }
    let child_slots_can_overflow = super::may_overflow(type_index);
    let new = NewType { type_index, type_key, num_slots: 1, child_slots_can_overflow };
    let entry = place(&registry.arena, new, parent).ok()?;
    if let Some(total_size) = total_size(type_index) {
        let array = entry.array(&entry::METADATA);
        let place = array.place(&registry.arena, 0).ok()?.cast::<TVMFFITypeMetadata>();
        // SAFETY: the place holds a record of zeros that nobody reads yet.
        unsafe { (*place.as_ptr()).total_size = total_size };
        array.publish(0);
    }
    Some(entry)
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
