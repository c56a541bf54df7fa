//! Table objects: allocation and release.

use core::ffi::c_void;
use core::mem::{offset_of, size_of};

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::{self, ObjectRecord, Space};

use super::dense::{self, Dense};
use super::layout::{SMALL_TAG, TableFields};
use super::small;
use super::view::Table;
use crate::containers::storage;

/// Object of a table that is created in the small layout. The entries follow the record.
#[repr(C)]
struct SmallRecord {
    header: TVMFFIObject,
    data: *mut c_void,
    size: u64,
    slots: u64,
    data_deleter: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// Object of a table that is created in the dense layout.
#[repr(C)]
struct DenseRecord {
    header: TVMFFIObject,
    fields: TableFields,
}

const _: () = {
    assert!(offset_of!(SmallRecord, data) == 24 && offset_of!(SmallRecord, size) == 32);
    assert!(offset_of!(SmallRecord, slots) == 40 && offset_of!(SmallRecord, data_deleter) == 48);
    assert!(size_of::<SmallRecord>() == 56 && offset_of!(DenseRecord, fields) == 24);
    // A table becomes dense in the same object, so a small object must be as large as a dense one.
    assert!(
        size_of::<SmallRecord>() + small::LEAST_CAPACITY * small::ENTRY_BYTES
            >= size_of::<DenseRecord>()
    );
};

// SAFETY: repr(C) with the header first; the top bit of `slots` tells the layout that the table has
// by now.
unsafe impl ObjectRecord for SmallRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the last strong reference is gone, so the table has no other user.
        unsafe { Table::at(this).destroy() }
    }
}

// SAFETY: as for the small record, of which it is an extension.
unsafe impl ObjectRecord for DenseRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the last strong reference is gone, so the table has no other user.
        unsafe { Table::at(this).destroy() }
    }
}

/// Creates an empty table, in the layout that upstream chooses for `expected` entries.
///
/// # Errors
/// MemoryError.
pub(crate) fn allocate_for(
    type_index: i32,
    expected: usize,
    space: &mut impl Space,
) -> Result<ObjectRef> {
    if expected < small::MOST_CAPACITY {
        return allocate_small(type_index, expected, space);
    }
    adopt_dense(type_index, Dense::allocate_for(expected)?)
}

/// Creates an empty table in the small layout, with its entries stored in the object.
///
/// # Errors
/// MemoryError.
pub(crate) fn allocate_small(
    type_index: i32,
    capacity: usize,
    space: &mut impl Space,
) -> Result<ObjectRef> {
    let capacity = capacity.max(small::LEAST_CAPACITY);
    let bytes = storage::block_bytes(capacity, small::ENTRY_BYTES)?;
    let init = |record: *mut SmallRecord| {
        // SAFETY: `record` is ours to fill, and `bytes` bytes follow it.
        unsafe {
            (&raw mut (*record).data).write(record.add(1).cast());
            (&raw mut (*record).size).write(0);
            (&raw mut (*record).slots).write(capacity as u64 | SMALL_TAG);
            (&raw mut (*record).data_deleter).write(None);
        }
    };
    // SAFETY: `init` writes every field behind the header.
    unsafe { object_alloc::allocate_in::<SmallRecord>(space, type_index, bytes, init) }
}

/// Creates an object that takes ownership of a dense table. On failure the caller still owns it.
///
/// # Errors
/// MemoryError.
pub(crate) fn allocate_dense(type_index: i32, fields: TableFields) -> Result<ObjectRef> {
    let init = |record: *mut DenseRecord| {
        // SAFETY: `record` is ours to fill.
        unsafe { (&raw mut (*record).fields).write(fields) }
    };
    // SAFETY: `init` writes every field behind the header.
    unsafe { object_alloc::allocate::<DenseRecord>(type_index, 0, init) }
}

/// Creates an object that takes ownership of an empty dense table. On failure the storage is
/// released.
///
/// # Errors
/// MemoryError.
pub(crate) fn adopt_dense(type_index: i32, mut fields: TableFields) -> Result<ObjectRef> {
    let object = allocate_dense(type_index, fields);
    if object.is_err() {
        // SAFETY: the storage has no other reference.
        unsafe { Dense::at(&raw mut fields).forget_entries() }
    }
    object
}

/// Creates a Map whose dense storage is in the object itself. All slots are empty; the other fields
/// are taken from `fields`. A Dict must not have such storage, since C++ code moves the storage of
/// a Dict to other objects.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// `bytes` must be the size of the storage for the number of slots in `fields`. The caller must add
/// the entries counted in `fields` before the table is read.
pub(crate) unsafe fn allocate_dense_inline(
    type_index: i32,
    fields: TableFields,
    bytes: usize,
    space: &mut impl Space,
) -> Result<ObjectRef> {
    let init = |record: *mut DenseRecord| {
        // SAFETY: `record` is ours to fill, and `bytes` bytes follow it.
        unsafe {
            let data = record.add(1).cast();
            dense::mark_empty(data, bytes);
            (&raw mut (*record).fields).write(TableFields {
                data,
                data_deleter: Some(keep_storage),
                ..fields
            });
        }
    };
    // SAFETY: `init` writes every field behind the header.
    unsafe { object_alloc::allocate_in::<DenseRecord>(space, type_index, bytes, init) }
}

/// Deleter that does nothing, for storage that is released with its object. C++ code requires a
/// deleter in dense tables.
unsafe extern "C" fn keep_storage(_: *mut c_void) {}
