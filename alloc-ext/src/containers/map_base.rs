//! The record that Map and Dict share, and how objects with one are made.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::{self, Apart, ObjectRecord, Space};
use ferrite_core::plain_ensure;

use super::map_dense::{self, Dense};
use super::map_entry::Mark;
use super::map_small::{self, Small};
use super::map_table::Table;

/// What follows the header of a Map or Dict. A table of the small layout ends after `data_deleter`; its entries may
/// start right there.
///
/// ```text
///            64 bit   32 bit
/// data         24       24     entries or blocks
/// size         32       32     entries in use
/// slots        40       40     entries there is room for; the top bit says that the layout is the small one
/// deleter      48       48     releases `data`, null when the entries lie in the object
/// fib_shift    56       52     dense only: a hash times a constant, shifted by this, is a slot number
/// iter_head    64       56     dense only: slot of the first entry in order
/// iter_tail    72       64     dense only: slot of the last entry in order
/// ```
///
/// # Upstream
/// `MapBaseObj`, `SmallMapBaseObj` and `DenseMapBaseObj` in `include/tvm/ffi/container/map_base.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TableFields {
    pub(super) data: *mut c_void,
    pub(super) size: u64,
    pub(super) slots: u64,
    pub(super) data_deleter: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) fib_shift: u32,
    pub(super) iter_head: u64,
    pub(super) iter_tail: u64,
}

/// The object of a table that starts out small; entries follow it.
#[repr(C)]
struct SmallRecord {
    header: TVMFFIObject,
    data: *mut c_void,
    size: u64,
    slots: u64,
    data_deleter: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// The object of a table that is dense from the start.
#[repr(C)]
struct DenseRecord {
    header: TVMFFIObject,
    fields: TableFields,
}

/// The bit of `slots` that marks the small layout.
pub(super) const SMALL_TAG: u64 = 1 << 63;
/// A slot number that means none, in links and as the end of an iteration.
pub(super) const NO_SLOT: usize = usize::MAX;

const FIELDS_OFFSET: usize = offset_of!(DenseRecord, fields);

const _: () = {
    assert!(FIELDS_OFFSET == 24 && offset_of!(SmallRecord, data) == 24);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, size) == 32 && offset_of!(SmallRecord, size) == 32);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, slots) == 40 && offset_of!(SmallRecord, slots) == 40);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, data_deleter) == 48);
    assert!(offset_of!(SmallRecord, data_deleter) == 48 && size_of::<SmallRecord>() == 56);
    // A Dict is switched to the dense layout where it stands, so a small object must have the bytes of a dense one.
    assert!(
        size_of::<SmallRecord>() + map_small::LEAST_CAPACITY * map_small::ENTRY_BYTES
            >= size_of::<DenseRecord>()
    );
};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(FIELDS_OFFSET + offset_of!(TableFields, fib_shift) == 56);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_head) == 64);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_tail) == 72);
    assert!(size_of::<DenseRecord>() == 80);
};

#[cfg(target_pointer_width = "32")]
const _: () = {
    assert!(FIELDS_OFFSET + offset_of!(TableFields, fib_shift) == 52);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_head) == 56);
    assert!(FIELDS_OFFSET + offset_of!(TableFields, iter_tail) == 64);
    assert!(size_of::<DenseRecord>() == 72);
};

// SAFETY: repr(C) with the header first; the top bit of `slots` tells what the record is by now.
unsafe impl ObjectRecord for SmallRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the last strong reference is gone, so nobody else uses the table.
        unsafe { Table::at(this).destroy() }
    }
}

// SAFETY: as for the small record, of which it is an extension.
unsafe impl ObjectRecord for DenseRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the last strong reference is gone, so nobody else uses the table.
        unsafe { Table::at(this).destroy() }
    }
}

/// Creates an empty table of the small layout with its entries in the object.
///
/// # Errors
/// MemoryError when the memory is not there.
pub(super) fn allocate_small(type_index: i32, capacity: usize, space: &mut impl Space) -> Result<ObjectRef> {
    let capacity = capacity.max(map_small::LEAST_CAPACITY);
    let bytes = super::storage::block_bytes(capacity, map_small::ENTRY_BYTES)?;
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

/// Creates an object that takes over a dense table; on failure the table stays the caller's.
///
/// # Errors
/// MemoryError when the memory is not there.
fn allocate_dense(type_index: i32, fields: TableFields) -> Result<ObjectRef> {
    let init = |record: *mut DenseRecord| {
        // SAFETY: `record` is ours to fill.
        unsafe { (&raw mut (*record).fields).write(fields) }
    };
    // SAFETY: `init` writes every field behind the header.
    unsafe { object_alloc::allocate::<DenseRecord>(type_index, 0, init) }
}

/// As [`allocate_dense`], but on failure the storage is released, without entries.
pub(super) fn adopt_dense(type_index: i32, mut fields: TableFields) -> Result<ObjectRef> {
    let object = allocate_dense(type_index, fields);
    if object.is_err() {
        // SAFETY: nobody else knows the storage.
        unsafe { Dense::at(&raw mut fields).forget_entries() }
    }
    object
}

/// Creates an object with storage of `bytes` bytes for a dense table in it, all slots of which are empty, and else these
/// fields. Only a Map may have that: a table that grows in its place gives its storage away.
///
/// # Errors
/// MemoryError when the memory is not there.
///
/// # Safety
/// The caller fills in the entries that the fields speak of before anybody looks.
pub(super) unsafe fn allocate_dense_in_place(
    type_index: i32,
    fields: TableFields,
    bytes: usize,
    space: &mut impl Space,
) -> Result<ObjectRef> {
    let init = |record: *mut DenseRecord| {
        // SAFETY: `record` is ours to fill, and `bytes` bytes follow it.
        unsafe {
            let data = record.add(1).cast();
            map_dense::mark_empty(data, bytes);
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

/// The deleter of storage that goes with its object: C++ code insists on one in dense tables.
unsafe extern "C" fn keep_storage(_: *mut c_void) {}

/// The fields of a Map or Dict object.
///
/// # Safety
/// `object` is the handle of a Map or Dict.
pub(super) unsafe fn fields_of(object: *mut TVMFFIObject) -> *mut TableFields {
    // SAFETY: the fields follow the header.
    unsafe { object.byte_add(FIELDS_OFFSET).cast() }
}

/// Creates an empty table in the layout that upstream picks for `expected` entries.
///
/// # Errors
/// MemoryError when the memory is not there.
pub(super) fn allocate_for(type_index: i32, expected: usize, space: &mut impl Space) -> Result<ObjectRef> {
    if expected < map_small::MOST_CAPACITY {
        return allocate_small(type_index, expected, space);
    }
    let fields = Dense::allocate_for(expected)?;
    adopt_dense(type_index, fields)
}

/// Creates an empty table of the dense layout with as many slots, a power of two.
///
/// # Errors
/// MemoryError when the memory is not there.
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "size counts there"))]
pub(super) fn allocate_dense_of(type_index: i32, slots: usize) -> Result<ObjectRef> {
    adopt_dense(type_index, Dense::allocate(slots)?)
}

/// Creates an object with the same entries in the same places and layout.
///
/// # Errors
/// MemoryError when the memory is not there; RuntimeError when a user's allocator changes the table.
pub(super) fn copy_object(type_index: i32, table: Table<'_>) -> Result<ObjectRef> {
    match table {
        Table::Dense(dense) => copy_dense(type_index, dense),
        Table::Small(small) => copy_small(type_index, small),
    }
}

/// The copy is whole before the memory of the object is asked for, in which a user's allocator may change the table.
fn copy_dense(type_index: i32, source: Dense<'_>) -> Result<ObjectRef> {
    let mut fields = Dense::allocate(source.slots().max(map_dense::LEAST_SLOTS))?;
    // SAFETY: nobody else knows the copy, which has as many slots at least; the references that the copies of the words stand
    // for are counted, and given back where the object fails.
    unsafe {
        let copy = Dense::at(&raw mut fields);
        if source.slots() > 0 {
            copy.take_words_of(source);
        }
        Table::Dense(copy).count_entries();
        allocate_dense(type_index, fields).inspect_err(|_| Table::Dense(copy).destroy())
    }
}

fn copy_small(type_index: i32, source: Small<'_>) -> Result<ObjectRef> {
    // SAFETY: the table is alive.
    let mark = || unsafe { Mark::of(source.fields) };
    let before = mark();
    let object = allocate_small(type_index, source.len(), &mut Apart)?;
    plain_ensure!(mark() == before, RUNTIME_ERROR, "The map was changed while it was copied");
    // SAFETY: the new table is small, has room for as many entries, and is known to nobody else.
    unsafe {
        let target = fields_of(object.as_ptr());
        let cells = 2 * source.len();
        (*target).data.cast::<TVMFFIAny>().copy_from_nonoverlapping((*source.fields).data.cast(), cells);
        (*target).size = (*source.fields).size;
        Table::of(&object).count_entries();
    }
    Ok(object)
}

/// Marks borrowed access to a table's fields.
pub(super) type Borrow<'a> = PhantomData<&'a ObjectRef>;
