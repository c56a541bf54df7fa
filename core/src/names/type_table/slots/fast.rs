//! Lookup of entries by type index: chunks of atomic pointers, with lock-free readers.

use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use core::ptr;

use super::super::arena::{Arena, NoMemory};
use super::super::entry::TypeEntry;
use crate::abi::type_index::DYN_OBJECT_BEGIN;

/// A slot for one entry; null while no type has its index.
#[repr(transparent)]
pub(in crate::names::type_table) struct EntrySlot(AtomicPtr<TypeEntry>);

impl EntrySlot {
    /// Publishes an entry. The caller holds the registry's lock.
    pub(in crate::names::type_table) fn publish(&self, entry: &'static TypeEntry) {
        self.0.store(ptr::from_ref(entry).cast_mut(), Ordering::Release);
    }
}

/// Lookup state stored in each entry: none.
pub(in crate::names::type_table) struct Link;

impl Link {
    pub(in crate::names::type_table) const fn new() -> Link {
        Link
    }
}

/// Number of slots in the first chunk of dynamic types. Each further chunk is twice as large.
const FIRST_CHUNK_LEN: usize = 16;
/// Number of chunks for dynamic types.
const CHUNK_COUNT: usize = 18;

/// One past the highest type index. Allows four million types, and also bounds the size of
/// attribute columns.
pub(in crate::names::type_table) const END_OF_INDICES: i32 =
    DYN_OBJECT_BEGIN + (FIRST_CHUNK_LEN * ((1 << CHUNK_COUNT) - 1)) as i32;

/// Slots of the statically assigned indices that are not built in; allocated on first use.
static STATIC_CHUNK: AtomicPtr<EntrySlot> = AtomicPtr::new(ptr::null_mut());
static DYNAMIC_CHUNKS: [AtomicPtr<EntrySlot>; CHUNK_COUNT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CHUNK_COUNT];

/// Location of an index: its chunk, the offset in it, and the length of the chunk.
struct SlotLocation {
    chunk: &'static AtomicPtr<EntrySlot>,
    offset: usize,
    len: usize,
}

fn locate(type_index: i32) -> Option<SlotLocation> {
    let index = usize::try_from(type_index).ok()?;
    let first_dynamic = DYN_OBJECT_BEGIN as usize;
    if index < first_dynamic {
        return Some(SlotLocation { chunk: &STATIC_CHUNK, offset: index, len: first_dynamic });
    }
    // Shifted by the length of the first chunk, every chunk begins at a power of two.
    let shifted = index - first_dynamic + FIRST_CHUNK_LEN;
    let len = 1 << shifted.ilog2();
    let chunk = DYNAMIC_CHUNKS.get((len / FIRST_CHUNK_LEN).ilog2() as usize)?;
    Some(SlotLocation { chunk, offset: shifted - len, len })
}

/// Returns the entry of a registered type that is not built in.
#[inline]
pub(in crate::names::type_table) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    let location = locate(type_index)?;
    let chunk = location.chunk.load(Ordering::Acquire);
    if chunk.is_null() {
        return None;
    }
    // SAFETY: a published chunk has `len` slots and lives forever, and `offset` is below `len`.
    let slot = unsafe { &*chunk.add(location.offset) };
    // SAFETY: a published entry lives forever.
    unsafe { slot.0.load(Ordering::Acquire).as_ref() }
}

/// Returns `true` if the first type is registered and derived from the second.
pub(in crate::names::type_table) use super::super::has_ancestor as descends_from;

/// Returns the slot of an index below `END_OF_INDICES`, allocating its chunk if needed.
pub(in crate::names::type_table) fn reserve(
    type_index: i32,
    arena: &Arena,
) -> Result<&'static EntrySlot, NoMemory> {
    // Unreachable: callers check the range and report it themselves.
    let location = locate(type_index).ok_or_else(|| NoMemory::of(usize::MAX))?;
    let mut chunk = location.chunk.load(Ordering::Acquire);
    if chunk.is_null() {
        chunk = arena
            .carve(location.len * size_of::<EntrySlot>(), align_of::<EntrySlot>())?
            .cast()
            .as_ptr();
        // SAFETY: the chunk is new, and empty slots are zero.
        unsafe { chunk.write_bytes(0, location.len) };
        location.chunk.store(chunk, Ordering::Release);
    }
    // SAFETY: as in `entry`.
    Ok(unsafe { &*chunk.add(location.offset) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_one_place() {
        let first = locate(DYN_OBJECT_BEGIN).unwrap();
        assert_eq!((first.offset, first.len), (0, 16));
        let next = locate(DYN_OBJECT_BEGIN + 16).unwrap();
        assert_eq!((next.offset, next.len), (0, 32));
        let last = locate(END_OF_INDICES - 1).unwrap();
        assert_eq!(last.offset, last.len - 1);
    }

    #[test]
    fn absurd_indices_have_no_place() {
        assert!(locate(-1).is_none());
        assert!(locate(i32::MIN).is_none());
        assert!(locate(END_OF_INDICES).is_none());
        assert!(locate(i32::MAX).is_none());
    }
}
