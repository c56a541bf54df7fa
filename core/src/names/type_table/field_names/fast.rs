//! Lookup of a type's fields by name: a hash index with lock-free readers, for types with many
//! fields.

use core::mem::{align_of, size_of};
use core::ptr;
use core::slice;

use crate::abi::{TVMFFIByteArray, TVMFFIFieldInfo, TVMFFITypeInfo};
use crate::platform::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use crate::platform::words::GOLDEN_RATIO;

use super::super::arena::Arena;
use super::super::entry::TypeEntry;
use super::super::key_hash::type_key_hash;
use super::super::type_info;

/// Minimum number of fields of a type with an index. For fewer fields a linear search is as fast.
const MIN_FIELDS: usize = 32;

/// Field index of one type, in the table's arena; null if absent. If a larger index cannot be
/// allocated, the type has none, and its fields are searched linearly.
pub(in crate::names::type_table) struct FieldNames(AtomicPtr<FieldIndex>);

/// An open-addressing hash table. Each slot stores the position of a field plus one, or zero if it
/// is free.
struct FieldIndex {
    slots: &'static [AtomicU32],
}

impl FieldNames {
    pub(in crate::names::type_table) const fn new() -> FieldNames {
        FieldNames(AtomicPtr::new(ptr::null_mut()))
    }

    fn table(&self) -> Option<&FieldIndex> {
        // SAFETY: a published table is complete and lives forever.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }
}

impl FieldIndex {
    /// Creates an index of all fields, at most a quarter full. Returns null when out of memory.
    fn of(arena: &Arena, fields: &[TVMFFIFieldInfo]) -> *mut FieldIndex {
        let slot_count = (4 * fields.len()).next_power_of_two();
        let bytes = size_of::<FieldIndex>() + slot_count * size_of::<AtomicU32>();
        let Ok(piece) = arena.carve_zeroed(bytes, align_of::<FieldIndex>()) else {
            return ptr::null_mut();
        };
        let place: *mut FieldIndex = piece.as_ptr().cast();
        // SAFETY: the piece is new, and has space for the table and its slots, which are zero.
        let slots = unsafe { slice::from_raw_parts(place.add(1).cast(), slot_count) };
        let table = FieldIndex { slots };
        for at in 0..fields.len() {
            table.put(fields, at);
        }
        // SAFETY: as above.
        unsafe { place.write(table) };
        place
    }

    /// Iterates over the slots for a name in probe order.
    fn probe(&self, name: &[u8]) -> impl Iterator<Item = &AtomicU32> {
        let first = (type_key_hash(name).wrapping_mul(GOLDEN_RATIO) >> 32) as usize;
        let slots = self.slots;
        (0..slots.len()).map(move |step| &slots[first.wrapping_add(step) & (slots.len() - 1)])
    }

    /// Inserts the field at position `at`. The index must have a free slot.
    fn put(&self, fields: &[TVMFFIFieldInfo], at: usize) {
        let free = self.probe(name_of(&fields[at])).find(|slot| slot.load(Ordering::Relaxed) == 0);
        if let Some(slot) = free {
            slot.store(at as u32 + 1, Ordering::Release);
        }
    }

    fn has(&self, fields: &[TVMFFIFieldInfo], name: &[u8]) -> bool {
        let mut places = self.probe(name).map(|slot| slot.load(Ordering::Acquire) as usize);
        // A field that was added after the caller read the slice is not in it.
        let found = places.find(|place| {
            *place == 0 || fields.get(place - 1).is_some_and(|field| name_of(field) == name)
        });
        found.is_some_and(|place| place != 0)
    }
}

fn name_of(field: &TVMFFIFieldInfo) -> &[u8] {
    // SAFETY: the names of published fields are valid forever.
    unsafe { field.name.as_slice() }
}

/// Adds the last field of a type, which is already published, to its index; creates the index when
/// the type has enough fields. The caller holds the registry's lock.
pub(in crate::names::type_table) fn add_last(entry: &TypeEntry, arena: &Arena) {
    let (names, fields) = (&entry.field_names, entry.fields());
    if fields.len() < MIN_FIELDS {
        return;
    }
    match names.table() {
        Some(table) if fields.len() <= table.slots.len() / 2 => table.put(fields, fields.len() - 1),
        _ => names.0.store(FieldIndex::of(arena, fields), Ordering::Release),
    }
}

/// Returns `true` if a type, given by its record, has a field of this name. Returns `None` if the
/// type has no index.
///
/// # Safety
/// The record must belong to this table and have these fields, and the name must be valid.
pub(in crate::names::type_table) unsafe fn look_up(
    info: *const TVMFFITypeInfo,
    fields: &[TVMFFIFieldInfo],
    name: &TVMFFIByteArray,
) -> Option<bool> {
    if fields.len() < MIN_FIELDS {
        return None;
    }
    // SAFETY: the caller guarantees record and name; the index of a type never changes.
    let (type_index, name) = unsafe { ((*info).type_index, name.as_slice()) };
    Some(type_info(type_index)?.field_names.table()?.has(fields, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::type_index::OBJECT;
    use crate::names::type_table::tests::{add_field, child_of, field};
    use std::boxed::Box;

    /// Total number of slots probed to find all names.
    fn steps(table: &FieldIndex, fields: &[TVMFFIFieldInfo]) -> usize {
        let steps_of = |at: usize| {
            let is_it = |slot: &AtomicU32| slot.load(Ordering::Relaxed) as usize == at + 1;
            table.probe(name_of(&fields[at])).position(is_it).unwrap() + 1
        };
        (0..fields.len()).map(steps_of).sum()
    }

    #[test]
    fn many_fields_are_found_in_few_steps() {
        let count = if cfg!(feature = "std") && !cfg!(miri) { 5_000 } else { 100 };
        let entry = type_info(child_of(OBJECT, "test.ManyFields").unwrap()).unwrap();
        for number in 0..count {
            let name = Box::into_raw(std::format!("field_{number}").into_boxed_str());
            // SAFETY: the name is valid for the call, and registration copies it.
            unsafe {
                add_field(entry.type_index(), &field(&*name)).unwrap();
                drop(Box::from_raw(name));
            }
            assert_eq!(entry.field_names.table().is_some(), number + 1 >= MIN_FIELDS);
        }
        let fields = entry.fields();
        let table = entry.field_names.table().unwrap();
        assert!(
            steps(table, fields) <= 2 * count,
            "{} steps for {count} names",
            steps(table, fields)
        );
        assert!(fields.iter().all(|field| table.has(fields, name_of(field))));
        assert!(!table.has(fields, b"field_x") && !table.has(&fields[..40], b"field_40"));
        for name in ["field_0", "field_31", "field_32", "field_99"] {
            assert_eq!(
                add_field(entry.type_index(), &field(name)).unwrap_err().kind_bytes(),
                b"InternalError"
            );
        }
        assert_eq!(entry.fields().len(), count);
    }
}
