//! The record that Map and Dict share, and the choice between its two table layouts.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{self, offset_of, size_of};

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::object_alloc::{self, Apart, ObjectRecord, Space};
use ferrite_core::plain_ensure;

use super::cell;
use super::key;
use super::map_ahead::AHEAD;
use super::map_dense::{self, Dense};
use super::map_entry::{Entry, Mark};
use super::map_small::{self, Small};

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
///
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
///
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
///
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
///
/// MemoryError when the memory is not there.
///
/// # Safety
///
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
///
/// `object` is the handle of a Map or Dict.
pub(super) unsafe fn fields_of(object: *mut TVMFFIObject) -> *mut TableFields {
    // SAFETY: the fields follow the header.
    unsafe { object.byte_add(FIELDS_OFFSET).cast() }
}

/// Creates an empty table in the layout that upstream picks for `expected` entries.
///
/// # Errors
///
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
///
/// MemoryError when the memory is not there.
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "size counts there"))]
pub(super) fn allocate_dense_of(type_index: i32, slots: usize) -> Result<ObjectRef> {
    adopt_dense(type_index, Dense::allocate(slots)?)
}

/// Creates an object with the same entries in the same places and layout.
///
/// # Errors
///
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
    // SAFETY: nobody else knows the copy, which has as many slots at least; the references that the copies of the words stand for
    // are counted, and given back where the object fails.
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

/// Where a key goes in a table.
pub(super) enum Room {
    /// Its entry is there.
    Known(Entry),
    /// The cells of a new entry, which are to be filled before anything else happens.
    New(Entry),
}

impl Room {
    /// Puts key and value there; releases what was there.
    ///
    /// # Safety
    ///
    /// The room has just been found, and nobody else uses the table now.
    #[inline]
    pub(super) unsafe fn fill(self, key: Any, value: Any) {
        // SAFETY: the cells of a known entry are initialised, those of a new one may be written. What is released finds the
        // table whole.
        unsafe {
            match self {
                Room::Known(entry) => drop((key, entry.replace_value(value))),
                Room::New(entry) => entry.write(key, value),
            }
        }
    }
}

/// A table while its object is borrowed, in one of the two layouts.
///
/// As for sequences, no Rust reference outlives a call, and one thread at a time may change a table.
/// Key hooks are foreign code that may even change this table: whoever calls one looks at the table anew afterwards.
#[derive(Clone, Copy)]
pub(super) enum Table<'a> {
    Small(Small<'a>),
    Dense(Dense<'a>),
}

impl<'a> Table<'a> {
    /// Looks at `object` as a table, in the layout that it has now.
    ///
    /// # Safety
    ///
    /// `object` is a Map or a Dict.
    #[inline]
    pub(super) unsafe fn of(object: &'a ObjectRef) -> Self {
        // SAFETY: the caller vouches for the class, the borrow for the life.
        unsafe { Self::at(object.as_ptr()) }
    }

    /// # Safety
    ///
    /// `object` is a Map or a Dict that lives for `'a`.
    #[inline]
    unsafe fn at(object: *mut TVMFFIObject) -> Self {
        // SAFETY: the caller vouches for the object.
        unsafe {
            let fields = fields_of(object);
            if (*fields).slots & SMALL_TAG != 0 {
                Self::Small(Small::at(fields))
            } else {
                Self::Dense(Dense::at(fields))
            }
        }
    }

    /// Number of entries.
    #[inline]
    pub(super) fn len(self) -> usize {
        match self {
            Self::Small(table) => table.len(),
            Self::Dense(table) => table.len(),
        }
    }

    /// Place of the entry of `key`; [`NO_SLOT`], where no entry is, when there is none: the result then travels in registers.
    ///
    /// # Errors
    ///
    /// What key hooks raise; RuntimeError when one changed the table.
    pub(super) fn find(self, key: &AnyView<'_>) -> Result<usize> {
        match self {
            Self::Small(table) => table.find(key),
            Self::Dense(table) if table.len() == 0 => Ok(NO_SLOT),
            Self::Dense(table) => table.find(key, key::hash(key)?),
        }
    }

    /// Cells of the entry of `key`, which is in a form that owned values have.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    #[inline]
    pub(super) fn find_entry(self, key: &AnyView<'_>) -> Result<Option<Entry>> {
        let place = self.find(key)?;
        if place == NO_SLOT {
            return Ok(None);
        }
        // SAFETY: that is the place of an entry.
        Ok(Some(unsafe {
            match self {
                Self::Small(table) => table.cells_at(place),
                Self::Dense(table) => table.cells(place),
            }
        }))
    }

    /// As [`find_entry`](Self::find_entry), of a key in any form: raw strings and the like are never stored.
    ///
    /// # Errors
    ///
    /// As there; those of [`AnyView::to_owned`].
    #[inline]
    pub(super) fn find_entry_of_any(self, key: &AnyView<'_>) -> Result<Option<Entry>> {
        if cell::is_borrowed_form(key) {
            return self.find_entry(&key.to_owned()?.view());
        }
        self.find_entry(key)
    }

    /// Cells of the entry at a place, or None when there is no entry any more.
    #[inline]
    pub(super) fn entry(self, place: usize) -> Option<Entry> {
        match self {
            Self::Small(table) => table.entry(place),
            Self::Dense(table) => table.entry(place),
        }
    }

    /// Place of the first entry in order.
    pub(super) fn first(self) -> Option<usize> {
        match self {
            Self::Small(table) => (table.len() > 0).then_some(0),
            Self::Dense(table) => table.first(),
        }
    }

    /// Place of the entry after the one at `place` in order.
    #[inline]
    pub(super) fn next(self, place: usize) -> Option<usize> {
        match self {
            Self::Small(table) => place.checked_add(1).filter(|next| table.entry(*next).is_some()),
            Self::Dense(table) => table.next(place),
        }
    }

    /// The entries in order; those that come or go meanwhile may or may not be seen.
    pub(super) fn entries(self) -> impl Iterator<Item = Entry> {
        let mut next = self.first();
        core::iter::from_fn(move || {
            let place = next?;
            let entry = self.entry(place)?;
            next = self.next(place);
            Some(entry)
        })
    }

    /// Where a key goes, a new one at the end; None when the table must grow first.
    ///
    /// # Errors
    ///
    /// What key hooks raise. The table is unchanged then.
    ///
    /// # Safety
    ///
    /// Nobody else uses the table now; key hooks may.
    pub(super) unsafe fn room(self, key: &AnyView<'_>) -> Result<Option<Room>> {
        // SAFETY: the caller excludes other users.
        unsafe {
            match self {
                Self::Small(table) => table.room(key),
                Self::Dense(table) => {
                    let hash = key::hash(key)?;
                    if !key::is_its_words(key) {
                        table.prefetch_home(hash);
                    }
                    table.room(key, hash)
                }
            }
        }
    }

    /// Takes the entry at `place` out, if one is there, and answers its value.
    ///
    /// # Safety
    ///
    /// Nobody else uses the table now.
    pub(super) unsafe fn remove(self, place: usize) -> Option<Any> {
        // SAFETY: the caller excludes other users; the cells are given up. The release of the key finds the table whole.
        unsafe {
            let (key, value) = self.entry(place)?.take();
            match self {
                Self::Small(table) => table.close_gap(place),
                Self::Dense(table) => table.vacate(place),
            }
            drop(key);
            Some(value)
        }
    }

    /// Number of places where entries may be: those of the dense layout need not be linked, while C++ code clears it.
    fn places(self) -> usize {
        match self {
            Self::Small(table) => table.len(),
            Self::Dense(table) => table.slots(),
        }
    }

    /// Counts the references of all entries, which are copies of the words of others.
    ///
    /// # Safety
    ///
    /// The others are alive.
    unsafe fn count_entries(self) {
        for entry in (0..self.places()).filter_map(|place| self.entry(place)) {
            // SAFETY: the caller vouches for the values; the references are the table's.
            mem::forget(unsafe { entry.copy() });
        }
    }

    /// Releases the storage without its entries, which have moved elsewhere; the table is empty without room.
    ///
    /// # Safety
    ///
    /// Nobody else uses the table now.
    pub(super) unsafe fn forget_entries(self) {
        // SAFETY: the caller excludes other users.
        unsafe {
            match self {
                Self::Small(table) => table.forget_entries(),
                Self::Dense(table) => table.forget_entries(),
            }
        }
    }

    /// Releases entries and storage.
    ///
    /// # Safety
    ///
    /// Nobody uses the table any more.
    unsafe fn destroy(self) {
        if let Self::Dense(table) = self {
            table.prefetch();
        }
        for place in 0..self.places() {
            if let Self::Dense(table) = self {
                table.prefetch_objects(place + AHEAD);
            }
            if let Some(entry) = self.entry(place) {
                // SAFETY: each entry is taken once, as the table ends.
                drop(unsafe { entry.take() });
            }
        }
        // SAFETY: the entries are gone; the caller excludes other users.
        unsafe { self.forget_entries() }
    }
}

/// Marks borrowed access to a table's fields.
pub(super) type Borrow<'a> = PhantomData<&'a ObjectRef>;
